"""Runs on a Ray cluster. Needs the extra ``ray`` of this package.

Examples:
    >>> import clariq.ray
    >>> requests, run = "s3://bucket/requests.jsonl", "s3://bucket/bm25.run"
    >>> clariq.ray.run("bm25", requests, run)  # doctest: +SKIP
    250000

Without a cluster, Ray is started on this machine and stopped afterwards.
"""

from __future__ import annotations

import ctypes
import gzip
import hashlib
import json
import os
import posixpath
import re
import shutil
import signal
import sys
import tempfile
import uuid
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from ._command import ClariqError, ProcessDied, run_process
from ._extras import extra

with extra("ray"):
    import fsspec
    import ray
    import ray.exceptions
    from fsspec.implementations.local import LocalFileSystem

__all__ = ["run"]

# The table `models` of a system's file in any of TOML's spellings: models behind servers.
_MODELS = re.compile(r"""(?m)^\s*\[?\s*["']?models["']?\s*[.\]]""")


def run(
    system: "os.PathLike[str] | str",
    requests: "os.PathLike[str] | str",
    out: "os.PathLike[str] | str",
    *,
    block: int = 1000,
    cpus: float = 1,
    gpus: float = 0,
    retries: int = 3,
    data: "os.PathLike[str] | str | None" = None,
    arguments: Sequence[str] = (),
    storage: Optional[Mapping[str, Any]] = None,
) -> int:
    """Ranks a file of requests on a Ray cluster and writes the run and its record.

    The file is cut into blocks. A Ray task runs ``clariq run SYSTEM --requests`` over each of them,
    and the runs are joined in the order of the blocks. The result has the bytes of ``clariq run``
    over the whole file on one machine. Ray repeats a task whose worker or node died.

    Args:
        system: The name of a built-in system, or a TOML file on this machine. Paths in the file
            must be absolute and exist on every node. A system with a model behind a server is
            refused: the order of its recorded answers is that of one machine.
        requests: The path or URL of requests as JSON lines, as for ``clariq rank``; plain or gzip.
        out: The path or URL of the run. Its record is ``<out>.json``.
        block: Lines per task. A task opens the index and the models of the system, so that a block
            should take a minute or more.
        cpus: Processor cores per task; the command uses as many threads.
        gpus: GPUs per task; with any, learned models run on one.
        retries: How often a task is repeated if its worker or node dies.
        data: The folder of the collection, on every node. The default is ``data/clariq`` in the
            current folder if it exists, and otherwise the built-in sample.
        arguments: Further arguments of the command, for example ``["--set", "bm25.k1=1.2"]``.
        storage: Options of fsspec's file system for ``requests`` and ``out``.

    Returns:
        The number of requests.

    Raises:
        ClariqError: If a request, the system or the data is refused. The message names the lines.
        OSError: If a file cannot be read or written.
    """
    target = os.fspath(out)
    if not posixpath.basename(target) or target.endswith(".gz"):
        expected = "the path or URL of a file that is not packed"
        raise ClariqError(2, f"bad `out`\n  expected: {expected}\n     found: `{target}`")
    if any(word.split("=")[0] == "--rewrites" for word in arguments):
        raise ClariqError(2, "--rewrites: put the rewritten texts into the file of requests")
    if block < 1:
        raise ValueError(f"block must be at least 1, not {block}")
    name, config = os.fspath(system), None
    if name.endswith(".toml"):
        name, config = os.path.basename(name), Path(name).read_text(encoding="utf-8")
    if _MODELS.search(config or run_process(["systems", "show", name]).stdout):
        raise _behind_server(name, "a table `models`")
    if data is None and Path("data/clariq").is_dir():
        data = "data/clariq"
    words = [name, "--threads", str(max(1, int(cpus))), *arguments]
    if data is not None:
        words += ["--data", os.path.abspath(data)]
    if gpus > 0:
        words += ["--device", "cuda:0"]  # Ray shows a task its own GPUs alone.
    task = ray.remote(
        num_cpus=cpus, num_gpus=gpus, max_retries=retries, retry_exceptions=[ProcessDied]
    )(_rank)
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder, _connected():
        source = _fetch(requests, Path(folder), storage or {})
        record = _Record(name, posixpath.basename(os.fspath(requests)), _sha256(source))
        joined = Path(folder) / "joined"
        with open(joined, "wb") as file:
            for done in _in_order(lambda one: task.remote(words, config, one), source, block, cpus):
                file.write(done.run)
                record.add(done)
        text = record.text(posixpath.basename(target), _sha256(joined))
        _put(joined, target, storage or {})
        joined.write_bytes(text)
        _put(joined, f"{target}.json", storage or {})
    return record.requests


def _behind_server(system: str, found: str) -> ClariqError:
    expected = "a system without a model behind a server"
    hint = "`clariq run --requests` keeps the answers of servers in order, on one machine"
    message = f"{system}\n  expected: {expected}\n     found: {found}\n      hint: {hint}"
    return ClariqError(2, message)


@dataclass(frozen=True)
class _Block:
    first: int
    last: int
    lines: bytes

    def name(self) -> str:
        return f"lines {self.first} to {self.last} of the requests"


@dataclass(frozen=True)
class _BlockResult:
    run: bytes
    record: Dict[str, Any]
    warnings: List[str]


def _rank(words: Sequence[str], config: Optional[str], block: _Block) -> _BlockResult:
    """The task: runs the command over a block."""
    with tempfile.TemporaryDirectory(prefix="clariq-") as name:
        folder = Path(name)
        if config is not None:
            (folder / words[0]).write_text(config, encoding="utf-8")
        (folder / "block.jsonl").write_bytes(block.lines)
        command = ["run", *words, "--no-progress", "--requests", "block.jsonl", "-o", "block.run"]
        try:
            done = run_process(command, folder=folder, before=_end_with_worker)
        except ClariqError as error:
            raise type(error)(error.status, f"{block.name()}: {error.message}") from None
        warnings = [line for line in done.stderr.splitlines() if line.startswith("warning:")]
        record = json.loads((folder / "block.run.json").read_bytes())
        return _BlockResult((folder / "block.run").read_bytes(), record, warnings)


def _end_with_worker() -> None:
    """Lets the kernel end the command when its worker is killed, for example for its memory."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _in_order(submit: Any, source: Path, size: int, cpus: float) -> Iterator[_BlockResult]:
    """Submits a task per block, and yields their results in the order of the blocks.

    At most three tasks wait for each that the cluster can run at a time, so that neither the
    requests nor the run have to fit into memory.
    """
    waiting: "deque[Any]" = deque()
    try:
        for block in _blocks(source, size):
            at_a_time = ray.cluster_resources().get("CPU", 1) / cpus
            while len(waiting) >= max(4, 3 * at_a_time):
                yield _result(*waiting.popleft())
            waiting.append((block, submit(block)))
        while waiting:
            yield _result(*waiting.popleft())
    finally:
        for _, reference in waiting:
            ray.cancel(reference, force=True)


def _result(block: _Block, reference: Any) -> _BlockResult:
    try:
        done: _BlockResult = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ClariqError):
            raise error.cause from None
        raise
    for warning in done.warnings:
        print(f"{block.name()}: {warning}", file=sys.stderr)
    return done


def _blocks(source: Path, size: int) -> Iterator[_Block]:
    """Cuts the file. An id that occurs twice is refused here: a task sees its own block only."""
    with open(source, "rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    seen: Dict[str, int] = {}
    first = 1
    with gzip.open(source) if is_packed else open(source, "rb") as lines:
        while block := list(islice(lines, size)):
            for number, line in enumerate(block, first):
                try:
                    name = str(json.loads(line)["id"])
                except (ValueError, KeyError, TypeError):
                    continue  # blank, or refused by the command
                if seen.setdefault(name, number) != number:
                    found = f"`{name}`, as in line {seen[name]}"
                    expected = "a request with an id of its own"
                    message = f"line {number}\n  expected: {expected}\n     found: {found}"
                    raise ClariqError(2, f"{source}: {message}")
            # The command refuses a file without a request.
            if any(line.strip() for line in block):
                yield _Block(first, first + len(block) - 1, b"".join(block))
            first += len(block)


class _Record:
    """The record of the whole run, made of those of the blocks."""

    def __init__(self, system: str, requests: str, sha256: str) -> None:
        self.requests = 0
        self._system = system
        self._bad_lines = 0
        self._file = {"file": requests, "sha256": sha256}
        self._made_by: Dict[str, Any] = {}

    def add(self, done: _BlockResult) -> None:
        """Counts the requests of a block, and checks that it was made as the others were."""
        if endpoints := done.record.get("endpoints"):
            raise _behind_server(self._system, f"the models {', '.join(sorted(endpoints))}")
        self.requests += done.record["requests"]["count"]
        self._bad_lines += done.record["requests"]["bad_lines"]
        made_by = {**done.record, "requests": {}, "outputs": {}}
        if made_by != (self._made_by or made_by):
            keys = [key for key in made_by if made_by[key] != self._made_by.get(key)]
            found = {key: [self._made_by.get(key), made_by[key]] for key in keys}
            expected = "expected: the same program, data, models and kind of processor on all nodes"
            raise ClariqError(2, f"nodes differ\n  {expected}\n     found: {found}")
        self._made_by = made_by

    def text(self, run: str, sha256: str) -> bytes:
        """The record in the form that the command gives it."""
        if not self._made_by:
            raise ClariqError(2, f"{self._file['file']}: expected requests, found none")
        counts = {"count": self.requests, "bad_lines": self._bad_lines}
        outputs = {"run": {"file": run, "sha256": sha256}}
        record = {**self._made_by, "requests": {**self._file, **counts}, "outputs": outputs}
        return f"{json.dumps(record, indent=2, ensure_ascii=False)}\n".encode()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


@contextmanager
def _connected() -> Iterator[None]:
    """Uses the cluster that the driver is connected to, that ``$RAY_ADDRESS`` names, or that runs
    on this machine. If there is none, Ray runs on this machine until the end."""
    if ray.is_initialized():
        yield
        return
    ray.init(log_to_driver=False)
    try:
        yield
    finally:
        ray.shutdown()


def _fetch(url: "os.PathLike[str] | str", folder: Path, storage: Mapping[str, Any]) -> Path:
    """A file on this machine; one that is elsewhere is copied into ``folder``."""
    files, path = fsspec.url_to_fs(os.fspath(url), **storage)
    if isinstance(files, LocalFileSystem):
        return Path(path)
    files.get_file(path, str(folder / "requests"))
    return folder / "requests"


def _put(source: Path, url: str, storage: Mapping[str, Any]) -> None:
    """Writes a file; it has its name when it is complete."""
    files, path = fsspec.url_to_fs(url, **storage)
    if not isinstance(files, LocalFileSystem):
        files.put_file(str(source), path)  # object stores show complete objects only
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    unfinished = os.path.join(os.path.dirname(path), f".{uuid.uuid4().hex}.tmp")
    try:
        shutil.copyfile(source, unfinished)
        os.replace(unfinished, path)
    finally:
        Path(unfinished).unlink(missing_ok=True)
