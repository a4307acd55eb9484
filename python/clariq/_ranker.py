"""Ranking: of a list of requests, or by a process that keeps its models loaded."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import weakref
from types import TracebackType
from typing import IO, Iterable, List, Optional, Sequence, Type

from ._answer import Answer, Answers, Request, as_lines
from ._command import (
    ClariqError,
    ProcessDied,
    data_arguments,
    failure,
    find_command,
    run_command,
)
from ._documents import Document, remove, written


def rank(
    requests: Iterable[Request],
    system: str = "bm25",
    depth: Optional[int] = None,
    *,
    data: "os.PathLike[str] | str | None" = None,
    documents: Optional[Iterable[Document]] = None,
    batch: bool = False,
    arguments: Sequence[str] = (),
) -> Answers:
    """Ranks documents for every request.

    Examples:
        >>> documents = ["the cat sat", "a dog barked", "cats and dogs"]
        >>> answers = rank(["dogs"], "bm25-english", 2, documents=documents)
        >>> [hit.text for hit in answers[0].ranking]
        ['cats and dogs', 'a dog barked']

    Args:
        requests: Texts, mappings or a frame, see ``clariq.Request``.
        system: The name of a built-in system, or a TOML file.
        depth: The maximum number of documents in a ranking, at least 1. The default is 30, or all
            documents if ``arguments`` set the depth of a stage. A system that cannot rank so many
            is refused.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        documents: The documents to rank, in place of a folder: texts, mappings or a frame, see
            ``clariq.Document``. They are read once and need not fit into memory.
        batch: Whether the requests are one batch. Systems with ``uses = ["batch"]`` need it.
        arguments: Further arguments of the command, for example ``["--set", "bm25.k1=1.2"]``.

    Returns:
        One answer per request, in their order; ``to_frame()`` makes a table of pandas.

    Raises:
        ClariqError: If the command refuses a request, the system or the data.
        ProcessDied: If the command was killed.
        FileNotFoundError: If there is no command.
        TypeError: If a request or a document is neither a text nor a mapping, or if one is given
            in place of several.
        ValueError: If there are both ``data`` and ``documents``, if two keys mean the same, or if a
            document has other keys but no id.
    """
    lines = as_lines(requests)
    if not lines:
        return Answers()
    further = [*arguments, "--batch"] if batch else arguments
    folder = None if documents is None else written(documents, data)
    try:
        words = _words(system, depth, folder or data, further)
        output = run_command(words, stdin="\n".join(lines) + "\n")
    finally:
        if folder is not None:
            remove(folder)
    # Texts may have other characters that `splitlines` takes for the end of a line.
    return _read_answers(output.split("\n")[:-1], len(lines))


def _words(
    system: str,
    depth: Optional[int],
    data: "os.PathLike[str] | str | None",
    arguments: Sequence[str],
) -> List[str]:
    # With --skip-bad, an error takes the place of an answer, so that the exception can name the
    # request instead of a line of standard input.
    words = ["--quiet", "rank", "--requests=-", "--format=jsonl", "--skip-bad"]
    words += [] if depth is None else [f"--depth={depth}"]
    return [*words, *data_arguments(data), *arguments, "--", system]


def _read_answers(lines: Sequence[str], expected: int) -> Answers:
    """Reads an answer for each request, and raises the first that is an error."""
    answers = Answers()
    for position, line in enumerate(lines, start=1):
        fields = json.loads(line)
        if "error" in fields:
            error = fields["error"]
            found = f"  expected: {error['expected']}\n     found: {error['found']}"
            raise ClariqError(2, f"request {position}: bad argument\n{found}")
        answers.append(Answer.of(fields))
    if len(answers) != expected:
        raise ClariqError(1, f"{len(answers)} answers to {expected} requests")
    return answers


class Ranker:
    """A process that ranks requests, keeps its models loaded, and answers each request at once.

    Examples:
        >>> with Ranker("bm25", depth=3) as ranker:
        ...     answer = ranker.rank("How do I pitch a tent?")

    Threads take turns. If the process was killed, one call raises ``ProcessDied``; an
    interrupted call ends the process. In both cases the next call starts another one, and so does
    the first call in a child after ``os.fork``, because the process belongs to the parent.

    Args:
        system: The name of a built-in system, or a TOML file.
        depth: The maximum number of documents in a ranking, at least 1. The default is 30, or all
            documents if ``arguments`` set the depth of a stage. A system that cannot rank so many
            is refused.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        documents: The documents to rank, in place of a folder: texts, mappings or a frame, see
            ``clariq.Document``. They are read once and need not fit into memory.
        arguments: Further arguments of the command, for example ``["--set", "bm25.k1=1.2"]``.

    Raises:
        FileNotFoundError: If there is no command.
        TypeError: If a document is neither a text nor a mapping.
        ValueError: If there are both ``data`` and ``documents``, if two keys mean the same, or if a
            document has other keys but no id.
    """

    def __init__(
        self,
        system: str = "bm25",
        depth: Optional[int] = None,
        *,
        data: "os.PathLike[str] | str | None" = None,
        documents: Optional[Iterable[Document]] = None,
        arguments: Sequence[str] = (),
    ) -> None:
        command = find_command()
        self._owner = os.getpid()
        if documents is not None:
            data = written(documents, data)
            # The files are needed as long as another process may have to be started.
            weakref.finalize(self, remove, data, self._owner)
        self._words = [command, *_words(system, depth, data, arguments)]
        self._lock = threading.Lock()
        self._process: Optional["subprocess.Popen[str]"] = None
        self._errors: Optional[IO[str]] = None
        self._finalizer: "Optional[weakref.finalize[..., Ranker]]" = None

    def rank(self, request: Request) -> Answer:
        """Answers one request.

        Raises:
            ClariqError: If the command refuses the request, the system or the data.
            ProcessDied: If the process was killed.
            FileNotFoundError: If there is no command.
        """
        return self.rank_many([request])[0]

    def rank_many(self, requests: Iterable[Request]) -> Answers:
        """Answers requests in their order; see ``rank``. If one is rejected, all are."""
        lines = as_lines(requests)
        self._leave_to_parent()
        with self._lock:
            try:
                found = self._exchange(lines)
            except BaseException:
                # Unread answers would be taken for those of the next call.
                self._kill()
                raise
        return _read_answers(found, len(lines))

    def _leave_to_parent(self) -> None:
        """After a fork, drops the process and the lock of the parent, which may hold it."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._lock = threading.Lock()
            self._process = self._errors = self._finalizer = None

    def _exchange(self, lines: List[str]) -> List[str]:
        """Writes requests, and reads a line for each."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        # A pipe has a bounded buffer: writing everything before reading could block forever.
        writer = threading.Thread(target=_write_lines, args=(process.stdin, lines), daemon=True)
        writer.start()
        found = []
        for _ in lines:
            line = process.stdout.readline()
            # A process that is killed while it writes leaves a part of a line.
            if not line.endswith("\n"):
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
            # A ranker that is not closed ends its process when it is collected, or at exit.
            self._finalizer = weakref.finalize(self, _end, self._process, self._owner)
        return self._process

    def _ended(self) -> ClariqError:
        """Cleans up after a process that ended. Returns the error that explains it."""
        assert self._process is not None and self._errors is not None
        status = self._process.wait()
        self._errors.seek(0)
        message = self._errors.read().strip()
        self._forget()
        if status == 0:
            return ProcessDied(status, "the process ended before it answered")
        return failure(status, message)

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()

    def _forget(self) -> None:
        process, errors = self._process, self._errors
        self._process = self._errors = None
        if self._finalizer is not None:
            self._finalizer.detach()
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    _close_quietly(pipe)
        if errors is not None:
            errors.close()

    def close(self) -> None:
        """Ends the process. A later call starts another one."""
        self._leave_to_parent()
        with self._lock:
            process = self._process
            if process is None:
                return
            _end(process, self._owner)
            self._forget()

    def __enter__(self) -> "Ranker":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


def _end(process: "subprocess.Popen[str]", owner: int) -> None:
    """Ends a process that has nothing left to write, unless another process started it. Closing its
    input is not enough: a forked child may hold that open, too."""
    if owner != os.getpid():
        return
    if process.stdin is not None:
        _close_quietly(process.stdin)
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
