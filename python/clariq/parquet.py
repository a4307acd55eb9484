"""Collections as Parquet files, which `datasets` loads. Needs ``pip install clariq[parquet]``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import pyarrow as pa
import pyarrow.parquet as pq

from ._export import export

_TEXTS = pa.schema([("id", pa.string()), ("text", pa.string())])
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
    ['documents/all.parquet', 'requests/train.parquet']

    ``datasets.load_dataset(folder, "requests", split="dev")`` reads what is written: its
    ``README.md`` names the files. A file takes its name when it is complete.

    Args:
        folder: Where the files go; it is created where it does not exist.
        data: The folder of the collection; the built-in sample by default.

    Returns:
        The Parquet files: columns ``id, text`` (strings) of documents and requests, and
        ``request_id, document_id`` (strings), ``grade`` (32-bit integer) of qrels.

    Raises:
        clariq.ClariqError: If the data folder is refused.
    """
    exported = export(data)
    root = Path(folder)
    tables: Dict[str, Tuple[Sequence[Tuple[Any, ...]], Any]] = {}
    tables["documents/all"] = (exported.documents, _TEXTS)
    for split, requests in exported.requests.items():
        tables[f"requests/{split}"] = (requests, _TEXTS)
    for split, judgements in exported.qrels.items():
        tables[f"qrels/{split}"] = (judgements, _QRELS)
    written = []
    for name, (rows, schema) in tables.items():
        path = root / f"{name}.parquet"
        columns = list(zip(*rows)) or [()] * len(schema)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema)]
        _write(path, pa.table(arrays, schema=schema))
        written.append(path)
    card = root / "README.md"
    temporary = card.with_name(".README.md.tmp")
    temporary.write_text(_card(list(tables)), encoding="utf-8")
    temporary.replace(card)
    return written


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
            lines += [f"  - split: {split}", f"    path: {part}/{split}.parquet"]
    return "\n".join([*lines, "---", "", "Written by `clariq.parquet.export_parquet`.", ""])
