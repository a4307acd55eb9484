"""Ranking: all at once, or by a process that keeps its models loaded."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from types import TracebackType
from typing import IO, Any, Iterable, List, Mapping, Optional, Type

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
    # Texts may have other characters that `splitlines` takes for the end of a line.
    return [Answer.of(json.loads(line)) for line in output.rstrip("\n").split("\n")]


def _arguments(system: str, depth: int, data: "os.PathLike[str] | str | None") -> List[str]:
    words = ["--quiet", "rank", system, "--requests", "-", "--depth", str(depth)]
    return [*words, "--format", "jsonl", *data_arguments(data)]


class Session:
    """A warm process that ranks: models are loaded once, and each request is answered at once.

    >>> with Session("bm25", depth=3) as session:
    ...     answer = session.rank("tell me about jaguars")

    Threads take turns. A process that was killed raises :class:`ProcessDied` once, and an
    interrupted call ends it; the next call starts another one.
    """

    def __init__(
        self,
        system: str = "bm25",
        depth: int = 30,
        *,
        data: "os.PathLike[str] | str | None" = None,
    ) -> None:
        self._words = [find_command(), *_arguments(system, depth, data), "--skip-bad"]
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[str]"] = None
        self._errors: Optional[IO[str]] = None

    def rank(self, request: Request) -> Answer:
        """Answers one request.

        Raises:
            ClariqError: If the command refuses the request, the system or the data.
            ProcessDied: If the process ended on its own.
        """
        return self.rank_many([request])[0]

    def rank_many(self, requests: Iterable[Request]) -> List[Answer]:
        """Answers requests in their order; see :meth:`rank`. One that is refused refuses all."""
        lines = as_lines(requests)
        with self._lock:
            try:
                found = self._exchange(lines)
            except BaseException:
                # Answers that nobody has read would be taken for those of the next call.
                self._kill()
                raise
        answers = []
        for position, line in enumerate(found, start=1):
            fields = json.loads(line)
            if "error" in fields:
                raise _refusal(position, fields["error"])
            answers.append(Answer.of(fields))
        return answers

    def _exchange(self, lines: List[str]) -> List[str]:
        """Writes requests, and reads a line for each."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        # Both ends of a pipe are bounded: whoever writes everything first could wait forever.
        writer = threading.Thread(target=_write_lines, args=(process.stdin, lines), daemon=True)
        writer.start()
        found = []
        for _ in lines:
            line = process.stdout.readline()
            if not line:
                raise self._ended()
            found.append(line)
        writer.join()
        return found

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

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()

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
                self._kill()
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


def _refusal(position: int, error: Mapping[str, Any]) -> ClariqError:
    found = f"  expected: {error['expected']}\n     found: {error['found']}"
    return ClariqError(2, f"request {position}: bad argument\n{found}")


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
