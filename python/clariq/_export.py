"""Reads a collection from the files that ``clariq data export`` writes."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._command import data_arguments, run_command

_USUAL_SPLITS = ["train", "dev", "test"]


class Utterance(NamedTuple):
    """An utterance of a conversation; ``speaker`` is ``user`` or ``system``."""

    speaker: str
    text: str


class Facet(NamedTuple):
    """An information need that a request can stand for."""

    id: str
    text: str


class ExportedRequest(NamedTuple):
    """A request with its annotations.

    Attributes:
        id: Its id.
        utterance: The last utterance of the user; the request, if there is a single turn.
        history: The earlier utterances, oldest first.
        resolved: The utterance as people wrote it so that it can be understood alone. Systems that
            use it are manual ones.
        statements: The statements of the user about themselves.
        need: The label: how much clarification it needs, 1 to 4.
        facets: The labels: the information needs that it can stand for.
    """

    id: str
    utterance: str
    history: Tuple[Utterance, ...]
    resolved: Optional[str]
    statements: Tuple[str, ...]
    need: Optional[int]
    facets: Tuple[Facet, ...]


class Exported(NamedTuple):
    """A collection as rows.

    Attributes:
        documents: Ids and texts.
        requests: By split.
        qrels: By split with labels, ids of requests and documents, and grades.
    """

    documents: List[Tuple[str, str]]
    requests: Dict[str, List[ExportedRequest]]
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
            [(str(row["id"]), row["text"]) for row in _rows(root / "documents.jsonl")],
            {split: _requests(root, split, path) for split, path in requests.items()},
            {split: list(_judgements(path)) for split, path in qrels.items()},
        )


def _by_split(root: Path, before: str, after: str) -> Dict[str, Path]:
    """The files of all splits: train, dev and test first, then by name."""
    paths = {path.name[len(before) : -len(after)]: path for path in root.glob(f"{before}*{after}")}
    known = [split for split in _USUAL_SPLITS if split in paths]
    return {split: paths[split] for split in [*known, *sorted(paths.keys() - known)]}


def _rows(path: Path) -> Iterator[Dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def _requests(root: Path, split: str, path: Path) -> List[ExportedRequest]:
    file = root / f"annotations.{split}.jsonl"
    annotations = {row["id"]: row for row in _rows(file)} if file.exists() else {}
    requests = []
    for row in _rows(path):
        said = row.get("said", [{"user": row.get("text")}])
        turns = [Utterance(speaker, text) for turn in said for speaker, text in turn.items()]
        about = annotations.get(str(row["id"]), {})
        facets = tuple(Facet(facet["id"], facet["text"]) for facet in about.get("facets", []))
        requests.append(
            ExportedRequest(
                str(row["id"]),
                turns[-1].text,
                tuple(turns[:-1]),
                about.get("resolved"),
                tuple(about.get("statements", [])),
                about.get("need"),
                facets,
            )
        )
    return requests


def _judgements(path: Path) -> Iterator[Tuple[str, str, int]]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            request, _, document, grade = line.split()
            yield request, document, int(grade)
