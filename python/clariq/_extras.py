"""Imports of libraries that only an extra of this package installs."""

from __future__ import annotations

from contextlib import contextmanager
from html import escape
from typing import Any, Iterator, List, Sequence, Tuple


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Names the extra to install if an import in its block fails.

    Raises:
        ImportError: If a library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"{error}: the extra `{name}` of this package brings it") from error


def frame(rows: Sequence[Tuple[Any, ...]], columns: List[str]) -> Any:
    """A frame of pandas.

    Raises:
        ImportError: If pandas is not installed.
    """
    with extra("pandas"):
        import pandas
    return pandas.DataFrame.from_records(rows, columns=columns)


MOST_ROWS = 20
"""The rows of a table that a notebook shows; a frame has all."""

MOST_CHARACTERS = 80
"""The characters of a cell that a notebook shows."""


def as_html(rows: Sequence[Tuple[Any, ...]], columns: Sequence[str]) -> str:
    """A table for a notebook: its first rows, and texts cut to a line."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
