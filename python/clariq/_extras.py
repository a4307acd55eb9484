"""Imports of libraries that only an extra of this package installs."""

from __future__ import annotations

from contextlib import contextmanager
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
        raise ImportError(f"{error}: `pip install clariq[{name}]` installs it") from error


def frame(rows: Sequence[Tuple[Any, ...]], columns: List[str]) -> Any:
    """A frame of pandas.

    Raises:
        ImportError: If pandas is not installed.
    """
    with extra("pandas"):
        import pandas
    return pandas.DataFrame.from_records(rows, columns=columns)
