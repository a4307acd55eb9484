"""Searching for parameters, checking runs, and explaining scores."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from ._command import by_argument, data_arguments, run_process
from ._documents import Document, remove, written
from ._evaluate import Scored, run_path, warn
from ._extras import as_html, frame


class Tuned(List[Dict[str, Any]]):
    """The points of a grid, best first, and the mean of the folds that did not choose, ``held out``."""

    def to_frame(self) -> Any:
        """A frame of pandas with a row per point.

        Raises:
            ImportError: If pandas is not installed.
        """
        return frame([tuple(row.values()) for row in self], list(self[0]))

    def _repr_html_(self) -> str:
        return as_html([tuple(row.values()) for row in self], list(self[0]))


def tune(
    system: "os.PathLike[str] | str",
    grid: Mapping[str, Iterable[object]],
    *,
    measure: Optional[object] = None,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    arguments: Sequence[str] = (),
) -> Tuned:
    """Searches for the best parameters of a system, with cross-validation.

    Examples:
        >>> points = tune("bm25", {"bm25.k1": [0.9, 1.2]}, split="train")
        >>> [point["parameters"] for point in points if point["parameters"].startswith("bm25.k1")]
        ['bm25.k1=0.9', 'bm25.k1=1.2']

    Args:
        system: The name of a built-in system, or a TOML file.
        grid: The values of each parameter, as ``{"bm25.k1": [0.9, 1.2]}``.
        measure: The measure to maximise; the default is that of the command.
        split: The labelled split to tune on.
        data: The folder of the collection, as in ``clariq.run``.
        arguments: Further arguments of the command.

    Raises:
        ClariqError: If the system, a parameter or the data are refused.
        FileNotFoundError: If there is no command.
    """
    words = ["--quiet", "tune", "--format=json", *data_arguments(data)]
    words += [f"--grid={name}={','.join(map(str, values))}" for name, values in grid.items()]
    words += [] if measure is None else [f"--measure={measure}"]
    words += [] if split is None else [f"--split={split}"]
    done = run_process([*words, *arguments, "--", os.fspath(system)])
    warn(done.stderr)
    return Tuned(json.loads(done.stdout))


def validate(
    *files: Scored,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    arguments: Sequence[str] = (),
) -> List[Dict[str, Any]]:
    """Checks runs, or submissions, as ``clariq validate`` does.

    Args:
        files: The files; or runs, as ``clariq.evaluate`` takes them.
        split: Their split.
        data: The folder of the collection, as in ``clariq.run``.
        arguments: Further arguments of the command.

    Returns:
        A row per file: its verdict, and the numbers of errors and warnings. Warnings are issued as
        Python warnings.

    Raises:
        ClariqError: If a file is refused: the message has what is wrong.
        FileNotFoundError: If there is no command.
    """
    words = ["validate", "--format=json", *data_arguments(data)]
    words += [] if split is None else [f"--split={split}"]
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        names = [run_path(file, f"{folder}/run{at}", None) for at, file in enumerate(files, start=1)]
        done = run_process([*words, *arguments, "--", *names])
    warn(done.stderr)
    rows: List[Dict[str, Any]] = json.loads(done.stdout)
    return [{**row, "run": by_argument(row["run"])} for row in rows]


def explain(
    request: str,
    document: str,
    system: "os.PathLike[str] | str" = "bm25",
    *,
    data: "os.PathLike[str] | str | None" = None,
    documents: Optional[Iterable[Document]] = None,
    arguments: Sequence[str] = (),
) -> str:
    """Explains how the score of a document was computed, as text.

    Args:
        request: The text of a request.
        document: The id of the document.
        system: The name of a built-in system, or a TOML file.
        data: The folder of the collection, as in ``clariq.run``.
        documents: The documents in place of a folder, as in ``clariq.rank``.
        arguments: Further arguments of the command.

    Raises:
        ClariqError: If the system, the request or the document are refused.
        FileNotFoundError: If there is no command.
    """
    folder = None if documents is None else written(documents, data)
    try:
        words = ["--quiet", "explain", f"--system={os.fspath(system)}", *data_arguments(folder or data)]
        return run_process([*words, *arguments, "--", request, document]).stdout
    finally:
        if folder is not None:
            remove(folder)
