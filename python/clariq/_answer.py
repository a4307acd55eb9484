"""Requests and answers of the command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ._extras import as_html, frame
from ._records import as_line, records

Request = Union[str, Mapping[str, Any]]
"""A text, or ``{"id": …, "text": …}``, or a conversation:
``{"id": …, "said": [{"user": …}, {"system": …}, …]}``.

In both, ``"candidates": [id, …]`` restricts the ranking to these documents. For systems that rank
statements of users about themselves, ``"statements": [text, …]`` contains them.

The keys may be those of PyTerrier (``qid``, ``query``), ir_datasets (``query_id``) and BEIR
(``_id``). In place of a list, functions take a frame of pandas or polars, or a table of pyarrow, with
such columns.
"""

_KEYS = {"_id": "id", "qid": "id", "query_id": "id", "query": "text"}


@dataclass(frozen=True)
class Hit:
    """A document of a ranking.

    Attributes:
        id: The document's id, for example ``Q00697``.
        text: Its text.
        score: Its score; within a ranking, scores strictly decrease.
    """

    id: str
    text: str
    score: float


@dataclass(frozen=True)
class Response:
    """An answer in words.

    Attributes:
        text: The text.
        statements: The ids of the statements that it is based on.
        passages: The ids of the passages that it is based on; none of a clarifying question.
        asks: Why it is a clarifying question, if it is one.
        others: Further responses, of a system that gives several.
    """

    text: str
    statements: List[str]
    passages: List[str]
    asks: Optional[str] = None
    others: List["Response"] = field(default_factory=list)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Response":
        """A response from its JSON object."""
        others = [cls.of(other) for other in fields.get("others", [])]
        return cls(**{**fields, "others": others})


@dataclass(frozen=True)
class Answer:
    """The answer of a system to one request.

    Attributes:
        id: The id of the request.
        need: How much clarification the request needs, from 1 to 4; ``None`` where the system
            has no need model.
        ranking: The documents, best first; of a system with several tasks, the ranking of the
            last one, for example the passages.
        rankings: The rankings by task, ``statements`` and ``passages`` for example; empty for a
            system with one task.
        response: The answer in words; ``None`` for a system that only ranks.
    """

    id: str
    need: Optional[int]
    ranking: List[Hit]
    rankings: Dict[str, List[Hit]] = field(default_factory=dict)
    response: Optional[Response] = None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Answer":
        """An answer from the fields of a line that ``clariq rank --format jsonl`` writes."""
        if "ranking" in fields:
            return cls(str(fields["id"]), fields["need"], _hits(fields["ranking"]))
        # Every other field is the ranking of a task, in the order of the tasks.
        tasks = [key for key in fields if key not in ("id", "response")]
        rankings = {task: _hits(fields[task]) for task in tasks}
        response = Response.of(fields["response"]) if "response" in fields else None
        return cls(str(fields["id"]), None, rankings[tasks[-1]], rankings, response)


class Answers(List[Answer]):
    """The answers to several requests, in their order."""

    def to_frame(self) -> Any:
        """A frame of pandas with a row per hit: ``qid, docno, text, score, rank``, as in PyTerrier.
        Of a system with several tasks, it has the last one's rankings.

        Raises:
            ImportError: If pandas is not installed.
        """
        return frame(self._rows(), ["qid", "docno", "text", "score", "rank"])

    def _rows(self) -> List[Tuple[str, str, str, float, int]]:
        return [
            (answer.id, hit.id, hit.text, hit.score, rank)
            for answer in self
            for rank, hit in enumerate(answer.ranking)
        ]

    def _repr_html_(self) -> str:
        return as_html(self._rows(), ["qid", "docno", "text", "score", "rank"])


def _hits(rows: Iterable[Mapping[str, Any]]) -> List[Hit]:
    return [Hit(row["id"], row["text"], float(row["score"])) for row in rows]


def as_lines(requests: Iterable[Request]) -> List[str]:
    """Requests as JSON lines. A request without an id gets its position, from 1.

    Raises:
        TypeError: If a request is neither a text nor a mapping, or if one request is given in
            place of several.
        ValueError: If two keys of a request mean the same.
    """
    rows = records(requests, "requests", _KEYS)
    return [as_line({"id": str(position), **row}) for position, row in enumerate(rows, start=1)]
