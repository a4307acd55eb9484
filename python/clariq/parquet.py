"""Collections as Parquet files, which `datasets` loads. Needs ``pip install clariq[parquet]``.

``python -m clariq.parquet FOLDER [--data DIR]`` writes them from a terminal.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._command import ClariqError
from ._export import export
from ._extras import extra

with extra("parquet"):
    import pyarrow as pa
    import pyarrow.parquet as pq

_DOCUMENTS = pa.schema([("id", pa.string()), ("text", pa.string())])
_REQUESTS = pa.schema(
    [
        ("id", pa.string()),
        ("utterance", pa.string()),
        ("history", pa.list_(pa.struct([("speaker", pa.string()), ("text", pa.string())]))),
        ("resolved", pa.string()),
        ("statements", pa.list_(pa.string())),
        ("need", pa.int32()),
        ("facets", pa.list_(pa.struct([("id", pa.string()), ("text", pa.string())]))),
    ]
)
_QRELS = pa.schema(
    [("request_id", pa.string()), ("document_id", pa.string()), ("grade", pa.int32())]
)


def export_parquet(
    folder: "os.PathLike[str] | str", data: "Optional[os.PathLike[str] | str]" = None
) -> List[Path]:
    """Writes a collection as a dataset of `datasets`: ``documents``, ``requests`` and ``qrels``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = export_parquet(folder)
    ...     [file.relative_to(folder).as_posix() for file in files][:2]
    ['documents/train.parquet', 'requests/train.parquet']

    ``datasets.load_dataset(folder, "requests", split="dev")`` reads the result; its ``README.md``
    lists the files. All documents are in the split ``train``, the name that `datasets` gives an
    only split. Names of splits must not contain ``-`` there: ``2023-test`` becomes ``2023_test``.
    A file gets its name when it is complete.

    Args:
        folder: The output folder; it is created if it does not exist.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.

    Returns:
        The Parquet files. Documents have the columns ``id, text`` (strings), and qrels
        ``request_id, document_id`` (strings), ``grade`` (32-bit integer). Requests have ``id``,
        ``utterance`` (what was said last), ``history`` (what was said before: ``speaker, text``),
        and what is known of them beyond what systems see: ``resolved`` (the utterance as people
        wrote it so that it can be understood alone), ``statements`` (what the user says about
        themselves), ``need`` (1 to 4) and ``facets`` (``id, text``).

    Raises:
        clariq.ClariqError: If the data folder is refused.
        FileNotFoundError: If there is no command.
    """
    exported = export(data)
    root = Path(folder)
    tables: Dict[str, Tuple[Sequence[Tuple[Any, ...]], Any]] = {}
    tables["documents/train"] = (exported.documents, _DOCUMENTS)
    for split, requests in exported.requests.items():
        tables[f"requests/{split.replace('-', '_')}"] = (requests, _REQUESTS)
    for split, judgements in exported.qrels.items():
        tables[f"qrels/{split.replace('-', '_')}"] = (judgements, _QRELS)
    written = []
    for name, (rows, schema) in tables.items():
        path = root / f"{name}.parquet"
        columns = list(zip(*map(_plain, rows))) or [()] * len(schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema)]
        _write(path, pa.table(arrays, schema=schema))
        written.append(path)
    card = root / "README.md"
    temporary = card.with_name(".README.md.tmp")
    temporary.write_text(_card(list(tables)), encoding="utf-8")
    temporary.replace(card)
    return written


def _plain(row: Tuple[Any, ...]) -> List[Any]:
    """A row whose named tuples are mappings, which Arrow takes for structs."""

    def plain(value: Any) -> Any:
        if isinstance(value, tuple):
            return [one._asdict() if hasattr(one, "_asdict") else one for one in value]
        return value

    return [plain(value) for value in row]


def _write(path: Path, table: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        pq.write_table(table, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _card(names: List[str]) -> str:
    """The header by which `datasets` finds the files of each part."""
    parts: Dict[str, List[str]] = {}
    for name in names:
        part, split = name.split("/")
        parts.setdefault(part, []).append(split)
    lines = ["---", "configs:"]
    for part, splits in parts.items():
        lines += [f"- config_name: {part}", "  data_files:"]
        for split in splits:
            # Without quotes, YAML takes the split `2024` for a number.
            lines += [f'  - split: "{split}"', f"    path: {part}/{split}.parquet"]
    return "\n".join([*lines, "---", "", "Written by `clariq.parquet.export_parquet`.", ""])


def main() -> int:
    """Writes the files that the words of the command line ask for."""
    parser = argparse.ArgumentParser(
        prog="python -m clariq.parquet", description="Write a collection as Parquet files."
    )
    parser.add_argument("folder", metavar="FOLDER", help="folder for the files")
    parser.add_argument("--data", metavar="DIR", help="folder with the files of a collection")
    given = parser.parse_args()
    try:
        for path in export_parquet(given.folder, given.data):
            print(path)
    except ClariqError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
