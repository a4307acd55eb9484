"""Documents that are given to a function, as the files that the command reads."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from typing import Any, Iterable, Mapping, Optional, Union

Document = Union[str, Mapping[str, Any]]
"""A text, whose id is its position from 1; or ``{"id": …, "text": …}``, optionally ``"title"``."""


def written(documents: Iterable[Document], data: object) -> str:
    """A new folder with these documents.

    Raises:
        TypeError: If a document is neither a text nor a mapping, or if one is given in place of
            several.
        ValueError: If there is `data`, too.
    """
    if data is not None:
        raise ValueError("`documents` beside `data`: they are the collection")
    if isinstance(documents, (str, Mapping)):
        found = type(documents).__name__
        raise TypeError(f"documents are a list of texts or mappings, not one {found}")
    folder = tempfile.mkdtemp(prefix="clariq-")
    try:
        with open(os.path.join(folder, "documents.jsonl"), "w", encoding="utf-8") as file:
            for position, document in enumerate(documents, start=1):
                if isinstance(document, str):
                    document = {"text": document}
                elif not isinstance(document, Mapping):
                    found = type(document).__name__
                    raise TypeError(f"a document is a text or a mapping, not {found}")
                file.write(json.dumps({"id": str(position), **document}) + "\n")
    except BaseException:
        remove(folder)
        raise
    return folder


def remove(folder: str, owner: Optional[int] = None) -> None:
    """Removes such a folder, unless another process made it."""
    if owner in (None, os.getpid()):
        shutil.rmtree(folder, ignore_errors=True)
