"""The command that this package runs: how it is found, and its errors as exceptions."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Callable, List, Optional, Sequence, Tuple, Type


def by_argument(message: str) -> str:
    """A message of the command with arguments and their rows in place of files that nobody else knows: what a
    function writes is named after its argument, and has a line for each row."""
    folder = re.escape(os.path.join(tempfile.gettempdir(), "clariq-"))
    written = re.compile(folder + r"\w+/(.+?)(?:\.run|\.jsonl)?(?::(\d+))?(?=[`:\s]|$)")
    return written.sub(lambda at: at[1] + (f", row {at[2]}" if at[2] else ""), message)


class ClariqError(RuntimeError):
    """The command rejected its input.

    Attributes:
        status: Its exit status: 1 if a check failed, 2 for bad input or usage; negative if a signal
            ended it.
        message: Its error message: location, what was expected, what was found, and a hint.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message or f"clariq ended with exit status {status}")
        self.status = status
        self.message = message

    def __reduce__(self) -> "Tuple[Type[ClariqError], Tuple[int, str]]":
        # Exceptions are rebuilt from `args`, which is the message alone.
        return type(self), (self.status, self.message)


class ProcessDied(ClariqError):
    """The command was killed, or ended while a ranker was waiting for an answer."""


def failure(status: int, message: str) -> ClariqError:
    """The error for a command that ended with this status, other than 0."""
    message = by_argument(message)
    if status > 0:
        return ClariqError(status, message)
    try:
        name = signal.Signals(-status).name
    except ValueError:  # a real-time signal
        name = f"signal {-status}"
    return ProcessDied(status, f"the command was ended by {name}\n{message}".strip())


def find_command() -> str:
    """The path of the command.

    This is ``$CLARIQ`` if it is set, else the command installed with this package, else the first
    one on the PATH.

    Raises:
        FileNotFoundError: If there is none.
    """
    named = os.environ.get("CLARIQ")
    if named:
        return named
    name = "clariq"
    for folder in (sysconfig.get_path("scripts"), str(Path(sys.executable).parent)):
        if (Path(folder) / name).is_file():
            return str(Path(folder) / name)
    path = shutil.which(name)
    if path:
        return path
    raise FileNotFoundError(
        "no command `clariq`: `scripts/install` in a clone of its repository installs it, and $CLARIQ may "
        "name it; the page Install of the documentation has all ways"
    )


def run_command(arguments: Sequence[str], *, stdin: str = "") -> str:
    """Runs the command and waits for it.

    Args:
        arguments: The arguments, as at a terminal.
        stdin: The text for its standard input.

    Returns:
        Its standard output.

    Raises:
        ClariqError: If its exit status is not 0; a ``ProcessDied`` if it was killed.
        FileNotFoundError: If there is no command.
    """
    return run_process(arguments, stdin=stdin).stdout


def run_process(
    arguments: Sequence[str],
    *,
    stdin: str = "",
    folder: "os.PathLike[str] | str | None" = None,
    before: Optional[Callable[[], None]] = None,
    admitted: Sequence[int] = (0,),
) -> "subprocess.CompletedProcess[str]":
    """Runs the command in a folder; `before` is called by its process before it starts.

    Raises:
        ClariqError: If its exit status is not admitted; a ``ProcessDied`` if it was killed.
        FileNotFoundError: If there is no command.
    """
    words: List[str] = [find_command(), *arguments]
    done = subprocess.run(
        words,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        cwd=folder,
        preexec_fn=before,
    )
    if done.returncode not in admitted:
        raise failure(done.returncode, done.stderr.strip())
    return done


def data_arguments(data: "os.PathLike[str] | str | None") -> List[str]:
    """``--data=DATA``, or nothing if the command should choose."""
    return [] if data is None else [f"--data={os.fspath(data)}"]
