"""Ranking: all at once, or by a process that keeps its models loaded."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from types import TracebackType
from typing import IO, Iterable, List, Optional, Type

from ._answer import Answer, Request, as_lines
from ._command import ClariqError, ProcessDied, data_arguments, find_command, run_command


def rank(
    requests: Iterable[Request],
    system: str = "bm25",
    depth: int = 30,
    *,
    data: "os.PathLike[str] | str | None" = None,
    batch: bool = False,
) -> List[Answer]:
    """Ranks the documents of a collection for every request.

    Args:
        requests: Texts or mappings, see :data:`clariq._answer.Request`.
        system: The name of a built-in system, or a TOML file.
        depth: How many documents a ranking has at most, at least 1.
        data: The folder of the collection; by default ``data/clariq``, if it exists, or the
            built-in sample.
        batch: Whether the requests are one batch. Systems with ``uses = ["batch"]`` need it.

    Returns:
        One answer per request, in their order.

    Raises:
        ClariqError: If the command refuses a request, the system or the data.
        TypeError: If a request is neither a text nor a mapping.
    """
    lines = as_lines(requests)
    if not lines:
        return []
    arguments = _arguments(system, depth, data) + (["--batch"] if batch else [])
    output = run_command(arguments, stdin="\n".join(lines) + "\n")
    return [Answer.parse(line) for line in output.splitlines()]


def _arguments(system: str, depth: int, data: "os.PathLike[str] | str | None") -> List[str]:
    words = ["--quiet", "rank", system, "--requests", "-", "--depth", str(depth)]
    return [*words, "--format", "jsonl", *data_arguments(data)]


class Session:
    """A warm process that ranks: models are loaded once, and each request is answered at once.

    >>> with Session("bm25", depth=3) as session:
    ...     answer = session.rank("tell me about jaguars")

    Threads take turns. A process that was killed raises :class:`ProcessDied` once; the next call
    starts another one.
    """

    def __init__(
        self,
        system: str = "bm25",
        depth: int = 30,
        *,
        data: "os.PathLike[str] | str | None" = None,
    ) -> None:
        self._words = [find_command(), *_arguments(system, depth, data)]
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[str]"] = None
        self._errors: Optional[IO[str]] = None

    def rank(self, request: Request) -> Answer:
        """Answers one request.

        Raises:
            ClariqError: If the command refuses it.
            ProcessDied: If the process ended on its own.
        """
        return self.rank_many([request])[0]

    def rank_many(self, requests: Iterable[Request]) -> List[Answer]:
        """Answers requests in their order; see :meth:`rank`."""
        lines = as_lines(requests)
        with self._lock:
            process = self._running()
            assert process.stdin is not None and process.stdout is not None
            # Both ends of a pipe are bounded: whoever writes everything first could wait forever.
            writer = threading.Thread(target=_write_lines, args=(process.stdin, lines), daemon=True)
            writer.start()
            answers = []
            for _ in lines:
                line = process.stdout.readline()
                if not line:
                    raise self._ended()
                answers.append(Answer.parse(line))
            writer.join()
            return answers

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is not None and self._process.poll() is not None:
            raise self._ended()
        if self._process is None:
            self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
                encoding="utf-8",
            )
        return self._process

    def _ended(self) -> ClariqError:
        """Clears up after a process that ended; the error that says why."""
        assert self._process is not None and self._errors is not None
        status = self._process.wait()
        self._errors.seek(0)
        message = self._errors.read().strip()
        self._forget()
        if status in (1, 2):
            return ClariqError(status, message)
        return ProcessDied(status, message or f"the process ended with status {status}")

    def _forget(self) -> None:
        process, errors = self._process, self._errors
        self._process = self._errors = None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    _close_quietly(pipe)
        if errors is not None:
            errors.close()

    def close(self) -> None:
        """Ends the process. A later call would start another one."""
        with self._lock:
            process = self._process
            if process is None:
                return
            if process.stdin is not None:
                _close_quietly(process.stdin)
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._forget()

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


def _write_lines(pipe: IO[str], lines: List[str]) -> None:
    try:
        for line in lines:
            pipe.write(line + "\n")
        pipe.flush()
    except (BrokenPipeError, ValueError):
        # The process is gone, which the reading side reports.
        pass


def _close_quietly(pipe: IO[str]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        pass
