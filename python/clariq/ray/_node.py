"""What a task does on its node: scratch folders, a warm-up, and the command as a child."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Callable, Iterator, Optional, Sequence

from .._command import ClariqError, run_process

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def call(
    arguments: Sequence[str], folder: Path, *, stdin: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Runs the command in a folder; it ends when this process ends, in whatever way.

    Raises:
        ProcessDied: If it was killed; another try may succeed.
        ClariqError: If it ended with another status than 0.
    """
    return run_process(arguments, stdin=stdin, folder=folder, before=_die_with(os.getpid()))


def _die_with(parent: int) -> Optional[Callable[[], None]]:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)

    def ask_kernel() -> None:
        libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return ask_kernel


def _root() -> Path:
    root = Path(tempfile.gettempdir()) / f"clariq-ray-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    if root.stat().st_uid != os.getuid():
        raise ClariqError(2, f"{root} is another user's\nhint: set TMPDIR to a folder of yours")
    return root


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder of its own for a task. One whose task was killed is removed by the next."""
    sweep()
    lock, file = _locked(f"{uuid.uuid4().hex}.lock")
    folder = lock.with_suffix("")
    try:
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)
        file.close()
        _remove_root()


def _locked(name: str) -> "tuple[Path, IO[bytes]]":
    """A file below the root, locked; another process may hold the lock for a while."""
    while True:
        try:
            path = _root() / name
            file = open(path, "ab")
        except FileNotFoundError:
            continue  # another process has just removed the empty root
        fcntl.flock(file, fcntl.LOCK_EX)
        # Between the two lines above, another process may have taken it for an abandoned one.
        try:
            if os.path.samestat(os.stat(path), os.fstat(file.fileno())):
                return path, file
        except FileNotFoundError:
            pass
        file.close()


def _remove_root() -> None:
    try:
        _root().rmdir()
    except OSError:
        pass  # others are at work


def _files(ending: str) -> "list[Path]":
    """The files below the root with that ending."""
    try:
        return list(_root().glob(f"*{ending}"))
    except FileNotFoundError:
        return []  # another process has just removed the empty root


def sweep() -> None:
    """Removes the scratch folders that no living process holds."""
    for lock in _files(".lock"):
        with _held(lock) as held:
            if held:
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink(missing_ok=True)


def clear() -> None:
    """Removes what tasks left on this node, the marks of warm-ups included."""
    sweep()
    for mark in _files(".warm"):
        with _held(mark) as held:
            if held:
                mark.unlink(missing_ok=True)
    _remove_root()


@contextmanager
def _held(path: Path) -> Iterator[bool]:
    try:
        file = open(path, "rb")
    except FileNotFoundError:
        yield False
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def warm_up(run: str, node: str, arguments: Sequence[str]) -> bool:
    """Ranks a request, once for a run and node: this trains models and fills the node's cache.

    Tasks that come meanwhile wait. Whether this one did it is the answer.
    """
    _, mark = _locked(f"{run}-{node}.warm")
    with mark:
        if os.fstat(mark.fileno()).st_size > 0:
            return False
        with scratch() as folder:
            call(arguments, folder, stdin='{"id": "1", "text": "warm up"}\n')
        mark.write(b"done\n")
        return True
