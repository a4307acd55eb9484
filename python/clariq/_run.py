"""Writing runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Optional, Sequence

from ._command import data_arguments, run_process
from ._evaluate import warn


def run(
    system: "os.PathLike[str] | str",
    *,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    output: "os.PathLike[str] | str | None" = None,
    arguments: Sequence[str] = (),
) -> Path:
    """Runs a system on a split of a collection, and writes a run in TREC format with its record.

    Args:
        system: The name of a built-in system, or a TOML file.
        split: The split; the default is ``dev``, or the only one.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        output: The file to write; by default, one in the folder ``runs``.
        arguments: Further arguments of the command, for example ``["--set", "bm25.k1=1.2"]``.

    Returns:
        The file of the run.

    Raises:
        ClariqError: If the system or the data are refused.
        FileNotFoundError: If there is no command.
    """
    words = ["--quiet", "run", "--format=json", *data_arguments(data)]
    words += [] if split is None else [f"--split={split}"]
    words += [] if output is None else [f"--output={os.fspath(output)}"]
    done = run_process([*words, *arguments, "--", os.fspath(system)])
    warn(done.stderr)
    return Path(json.loads(done.stdout)[0]["run file"])
