"""Requests and documents in the forms that other libraries have, as lines of JSON."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator, Mapping


def records(given: Any, argument: str, names: Mapping[str, str]) -> Iterator[Dict[str, Any]]:
    """Mappings for texts, mappings, named tuples as those of ir_datasets, or the rows of a frame.

    Args:
        given: Several of them, or a frame of pandas or polars, or a table of pyarrow. Ids may be the
            index of a frame of pandas, if it has the name of one.
        argument: What they are: ``requests`` or ``documents``.
        names: The keys that other libraries use, with those of the command.

    Raises:
        TypeError: If one is of another type, or if one is given in place of several.
        ValueError: If two keys of one mean the same, or if the ids of a frame are not a column.
    """
    if isinstance(given, (str, Mapping)):
        raise TypeError(f"{argument}: a list of texts or mappings, not one {type(given).__name__}")
    for position, one in enumerate(_rows(given, argument, names), start=1):
        at = f"{argument}, row {position}"
        if isinstance(one, str):
            yield {"text": one}
        elif isinstance(one, Mapping):
            yield _renamed(one, at, names)
        elif hasattr(one, "_asdict"):
            yield _renamed(one._asdict(), at, names)
        else:
            raise TypeError(f"{at}: a text or a mapping, not {type(one).__name__}")


def _rows(given: Any, argument: str, names: Mapping[str, str]) -> Iterable[Any]:
    if hasattr(given, "to_pylist"):  # a table of pyarrow
        return given.to_pylist()  # type: ignore[no-any-return]
    if hasattr(given, "collect_schema") and hasattr(given, "collect"):  # a lazy frame of polars
        given = given.collect()
    # The index of a series of pandas may be its ids.
    if hasattr(given, "index") and hasattr(given, "to_frame"):
        given = given.to_frame("text")
    # Iterating over a frame gives the names of its columns.
    if not hasattr(given, "columns"):
        return given  # type: ignore[no-any-return]
    if hasattr(given, "iter_rows"):
        return given.iter_rows(named=True)  # type: ignore[no-any-return]
    if hasattr(given, "to_dict"):
        return _with_ids(given, argument, names).to_dict("records")  # type: ignore[no-any-return]
    found = f"{type(given).__module__}.{type(given).__name__}"
    raise TypeError(f"{argument}: a list, or a frame of pandas or polars, not {found}")


def _with_ids(frame: Any, argument: str, names: Mapping[str, str]) -> Any:
    """A frame of pandas whose ids are a column: they may be its index, which has no other row."""
    if frame.columns.nlevels > 1 or not frame.columns.is_unique:
        raise ValueError(f"{argument}: a frame whose columns have one name each")
    if any(names.get(name, name) == "id" for name in frame.columns):
        return frame
    if any(names.get(name, name) == "id" for name in frame.index.names):
        return frame.reset_index()
    if any(isinstance(label, (str, tuple)) for label in frame.index):
        raise ValueError(f"{argument}: a frame with a column of ids, as frame.reset_index(names='id') has")
    return frame


def _renamed(record: Mapping[str, Any], at: str, names: Mapping[str, str]) -> Dict[str, Any]:
    renamed: Dict[str, Any] = {}
    for name, value in record.items():
        key = names.get(name, name)
        if key in renamed:
            raise ValueError(f"{at}: one key for `{key}`, not {listed(record)}")
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


def listed(names: Iterable[Any]) -> str:
    """Names of columns, which may be numbers, separated by commas."""
    return ", ".join(map(str, names))


def _plain(value: Any) -> Any:
    """The Python values of numpy, and times as text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"a value of JSON, not {type(value).__name__}: {value!r}")
