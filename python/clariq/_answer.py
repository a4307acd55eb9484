"""Requests as the command reads them, and what it answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterable, List, Mapping, Optional, Union

Request = Union[str, Mapping[str, Any]]
"""A text, or ``{"id": …, "text": …}``, or ``{"id": …, "said": [{"user": …}, {"system": …}, …]}``.

``"candidates": [id, …]`` beside either restricts what is ranked to these documents.
"""


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
class Answer:
    """What a system answers to one request.

    Attributes:
        id: The id of the request.
        need: How much clarification the request needs, from 1 to 4; ``None`` where the system
            has no model of it.
        ranking: The documents, best first.
    """

    id: str
    need: Optional[int]
    ranking: List[Hit]

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Answer":
        """An answer from the fields of a line that ``clariq rank --format jsonl`` writes."""
        ranking = [Hit(hit["id"], hit["text"], float(hit["score"])) for hit in fields["ranking"]]
        return cls(str(fields["id"]), fields.get("need"), ranking)


def as_lines(requests: Iterable[Request]) -> List[str]:
    """Requests as JSON lines. A request without an id gets its position, from 1.

    Raises:
        TypeError: If a request is neither a text nor a mapping.
    """
    lines = []
    for position, request in enumerate(requests, start=1):
        if isinstance(request, str):
            request = {"text": request}
        elif not isinstance(request, Mapping):
            raise TypeError(f"a request is a text or a mapping, not {type(request).__name__}")
        lines.append(json.dumps({"id": str(position), **request}))
    return lines
