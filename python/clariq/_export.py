"""A collection read from what ``clariq data export`` writes."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple

from ._command import data_arguments, run_command

SPLITS = ("train", "dev", "test")


class Exported(NamedTuple):
    """A collection in plain rows.

    Attributes:
        documents: Ids and texts.
        requests: By split, ids and texts.
        qrels: By split with labels, ids of requests and documents, and grades.
    """

    documents: List[Tuple[str, str]]
    requests: Dict[str, List[Tuple[str, str]]]
    qrels: Dict[str, List[Tuple[str, str, int]]]


def export(data: "os.PathLike[str] | str | None") -> Exported:
    """Reads a collection; the built-in sample by default.

    Raises:
        ClariqError: If the folder is refused.
    """
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        run_command(["--quiet", "data", "export", "-o", folder, *data_arguments(data)])
        root = Path(folder)
        exported = Exported(list(_texts(root / "documents.jsonl")), {}, {})
        for split in SPLITS:
            requests, qrels = root / f"requests.{split}.jsonl", root / f"qrels.{split}.txt"
            if requests.is_file():
                exported.requests[split] = list(_texts(requests))
            if qrels.is_file():
                exported.qrels[split] = list(_judgements(qrels))
    return exported


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
