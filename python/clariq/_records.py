"""Requests and documents in the forms that other libraries have, as lines of JSON."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator, Mapping


def records(given: Any, kind: str, names: Mapping[str, str]) -> Iterator[Dict[str, Any]]:
    """Mappings for texts, mappings, named tuples as those of ir_datasets, or the rows of a frame.

    Args:
        given: Several of them, or a frame of pandas or polars.
        kind: What one of them is: ``request`` or ``document``.
        names: The keys that other libraries use, with those of the command.

    Raises:
        TypeError: If one is of another type, or if one is given in place of several.
        ValueError: If two keys of one mean the same.
    """
    if isinstance(given, (str, Mapping)):
        raise TypeError(f"{kind}s are a list of texts or mappings, not one {type(given).__name__}")
    for one in _rows(given):
        if isinstance(one, str):
            yield {"text": one}
        elif isinstance(one, Mapping):
            yield _renamed(one, kind, names)
        elif hasattr(one, "_asdict"):
            yield _renamed(one._asdict(), kind, names)
        else:
            raise TypeError(f"a {kind} is a text or a mapping, not {type(one).__name__}")


def _rows(given: Any) -> Iterable[Any]:
    # Iterating over a frame gives the names of its columns.
    if not hasattr(given, "columns"):
        return given  # type: ignore[no-any-return]
    if hasattr(given, "iter_rows"):
        return given.iter_rows(named=True)  # type: ignore[no-any-return]
    return given.to_dict("records")  # type: ignore[no-any-return]


def _renamed(record: Mapping[str, Any], kind: str, names: Mapping[str, str]) -> Dict[str, Any]:
    renamed: Dict[str, Any] = {}
    for name, value in record.items():
        key = names.get(name, name)
        if key in renamed:
            raise ValueError(f"a {kind} with one key for `{key}`, not with {', '.join(record)}")
        renamed[key] = value
    return renamed


def as_line(record: Mapping[str, Any]) -> str:
    """A line of JSON in UTF-8: escapes would count towards the length of a line."""
    line = json.dumps(record, ensure_ascii=False, default=_plain)
    try:
        line.encode()
    except UnicodeEncodeError:  # a lone surrogate, which the command refuses
        return json.dumps(record, default=_plain)
    return line


def _plain(value: Any) -> Any:
    """The Python number of a number of numpy."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a value of JSON, not {type(value).__name__}: {value!r}")
