"""Scoring runs by named measures."""

from __future__ import annotations

import json
import os
import warnings
from typing import Dict, Iterable, Optional, Union

from ._command import data_arguments, run_process


def evaluate(
    run: "os.PathLike[str] | str",
    measures: Union[str, Iterable[object]] = ("R@5", "R@10", "R@20", "R@30"),
    *,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    qrels: "os.PathLike[str] | str | None" = None,
) -> Dict[str, float]:
    """Scores a run file.

    Warnings of the command, for example about requests that the run does not answer, are issued as
    Python warnings.

    Args:
        run: The run, in TREC format.
        measures: Names such as ``R@30``, ``nDCG@3``, ``AP``, ``RR``, or measures of ir_measures;
            or a single name.
        split: The split whose labels are used; the default is ``dev``.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        qrels: TREC qrels to use instead of the labels of a split.

    Returns:
        The mean of each measure over all labelled requests, by its name as given.

    Raises:
        ClariqError: If the run, a measure or the labels are refused.
        FileNotFoundError: If there is no command.
        ValueError: If two names mean the same measure, or one means several.
    """
    given = [measures] if isinstance(measures, str) else measures
    names = list(dict.fromkeys(str(measure) for measure in given))
    if not names:
        return {}
    words = ["eval", "--format=json", *data_arguments(data)]
    words += [f"--measure={name}" for name in names]
    if split is not None:
        words.append(f"--split={split}")
    if qrels is not None:
        words.append(f"--qrels={os.fspath(qrels)}")
    done = run_process([*words, "--", os.fspath(run)])
    for line in done.stderr.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line[len("warning: ") :], stacklevel=2)
    # The rows are in the order of the names, but show the canonical name of each measure.
    values = [float(row["value"]) for row in json.loads(done.stdout)]
    if len(values) != len(names):
        raise ValueError(f"{len(names)} names of {len(values)} measures: {', '.join(names)}")
    return dict(zip(names, values))
