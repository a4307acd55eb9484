"""Documents that are given to a function, as the files that the command reads."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Dict, Iterable, Mapping, Optional, Union

from ._records import as_line, listed, records

Document = Union[str, Mapping[str, Any]]
"""A text, whose id is its position from 1; or ``{"id": …, "text": …}``, optionally ``"title"``.

The keys may be those of PyTerrier (``docno``), ir_datasets (``doc_id``), Pyserini (``docid``,
``contents``) and BEIR (``_id``). In place of a list, functions take a frame of pandas or polars, or a
table of pyarrow, with such columns.
"""

_KEYS = {"_id": "id", "docno": "id", "doc_id": "id", "docid": "id", "contents": "text"}


def written(documents: Iterable[Document], data: object) -> str:
    """A new folder with these documents.

    Raises:
        TypeError: If a document is neither a text nor a mapping, or if one is given in place of
            several.
        ValueError: If there is `data`, too, or no document, if two keys of one mean the same, or if there
            is an id by none of the known keys.
    """
    if data is not None:
        raise ValueError("`documents` beside `data`: they are the collection")
    folder = tempfile.mkdtemp(prefix="clariq-")
    try:
        with open(os.path.join(folder, "documents.jsonl"), "w", encoding="utf-8") as file:
            position = 0
            for position, row in enumerate(records(documents, "documents", _KEYS), start=1):
                file.write(as_line(_with_id(row, position)) + "\n")
        if position == 0:
            raise ValueError("documents: none")
    except BaseException:
        remove(folder)
        raise
    return folder


def _with_id(row: Dict[str, Any], position: int) -> Dict[str, Any]:
    if "id" in row:
        return row
    # Another key may be an id that would be lost.
    if not row.keys() <= {"title", "text"}:
        found = f"not {listed(row)} alone: rename those of the id and of the text"
        raise ValueError(f"documents, row {position}: a key `id`, {found}")
    return {"id": str(position), **row}


def remove(folder: str, owner: Optional[int] = None) -> None:
    """Removes such a folder, unless another process made it."""
    if owner in (None, os.getpid()):
        shutil.rmtree(folder, ignore_errors=True)
