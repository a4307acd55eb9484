"""Scoring runs by named measures."""

from __future__ import annotations

import json
import os
from typing import Dict, Sequence

from ._command import data_arguments, run_command


def evaluate(
    run: "os.PathLike[str] | str",
    measures: Sequence[str] = ("R@5", "R@10", "R@20", "R@30"),
    *,
    split: str = "dev",
    data: "os.PathLike[str] | str | None" = None,
    qrels: "os.PathLike[str] | str | None" = None,
) -> Dict[str, float]:
    """Scores a run file.

    Args:
        run: The run, in TREC's format.
        measures: Names as ir_measures writes them: ``R@30``, ``nDCG@3``, ``AP``, ``RR``.
        split: The split whose labels count.
        data: The folder of the collection; the built-in sample by default.
        qrels: TREC qrels in place of the split's labels.

    Returns:
        The mean of each measure over all labelled requests.

    Raises:
        ClariqError: If the run, a measure or the labels are refused.
    """
    words = ["--quiet", "eval", os.fspath(run), "--split", split, *data_arguments(data)]
    for measure in measures:
        words += ["-m", measure]
    if qrels is not None:
        words += ["--qrels", os.fspath(qrels)]
    rows = json.loads(run_command([*words, "--format", "json"]))
    return {row["measure"]: float(row["value"]) for row in rows if row["topic"] == "all"}
