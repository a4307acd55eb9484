"""A collection read from what ``clariq data export`` writes."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple

from ._command import data_arguments, run_command

_FIRST = ["train", "dev", "test"]


class Exported(NamedTuple):
    """A collection as rows.

    Attributes:
        documents: Ids and texts.
        requests: By split, ids and texts.
        qrels: By split with labels, ids of requests and documents, and grades.
    """

    documents: List[Tuple[str, str]]
    requests: Dict[str, List[Tuple[str, str]]]
    qrels: Dict[str, List[Tuple[str, str, int]]]


def export(data: "os.PathLike[str] | str | None") -> Exported:
    """Reads a collection. The default is ``data/clariq`` if it exists, else the built-in sample.

    Raises:
        ClariqError: If the folder is refused.
        FileNotFoundError: If there is no command.
    """
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        run_command(["--quiet", "data", "export", "-o", folder, *data_arguments(data)])
        root = Path(folder)
        requests = _by_split(root, "requests.", ".jsonl")
        qrels = _by_split(root, "qrels.", ".txt")
        return Exported(
            list(_texts(root / "documents.jsonl")),
            {split: list(_texts(path)) for split, path in requests.items()},
            {split: list(_judgements(path)) for split, path in qrels.items()},
        )


def _by_split(root: Path, before: str, after: str) -> Dict[str, Path]:
    """The files of all splits: train, dev and test first, then by name."""
    paths = {path.name[len(before) : -len(after)]: path for path in root.glob(f"{before}*{after}")}
    known = [split for split in _FIRST if split in paths]
    return {split: paths[split] for split in [*known, *sorted(paths.keys() - known)]}


def _texts(path: Path) -> Iterator[Tuple[str, str]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield str(row["id"]), row["text"]


def _judgements(path: Path) -> Iterator[Tuple[str, str, int]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            request, _, document, grade = line.split()
            yield request, document, int(grade)
