"""Comparing runs: with significance tests, and as a page."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ._command import data_arguments, run_process
from ._evaluate import Scored, judged_requests, qrels_path, run_path, warn
from ._extras import as_html, frame

Runs = Union[Iterable["os.PathLike[str] | str"], Mapping[str, Scored]]
"""The files of runs; or runs by name, each as ``clariq.evaluate`` takes it."""


@dataclass(frozen=True)
class Compared:
    """A run by one measure, beside the baseline.

    Attributes:
        measure: The measure.
        run: The run: its name, or its file as given.
        baseline: The run that it is compared with.
        topics: The number of topics.
        mean: The mean of the measure.
        difference: The mean minus that of the baseline; like all that follow, ``None`` for the
            baseline itself.
        wins: The number of topics on which the run is better.
        ties: On which both are equal.
        losses: On which the baseline is better.
        t: The statistic of the paired t-test.
        p_t: Its two-sided p-value.
        p_randomisation: That of the paired randomisation test.
        p_holm: That of the randomisation test, corrected for the number of comparisons.
        effect_size: Cohen's d: the mean of the differences, divided by their standard deviation.
        significant: Whether ``p_holm`` is at most ``alpha``.
    """

    measure: str
    run: str
    baseline: str
    topics: int
    mean: float
    difference: Optional[float]
    wins: Optional[int]
    ties: Optional[int]
    losses: Optional[int]
    t: Optional[float]
    p_t: Optional[float]
    p_randomisation: Optional[float]
    p_holm: Optional[float]
    effect_size: Optional[float]
    significant: Optional[bool]


class Comparison(List[Compared]):
    """Runs by measures: for each measure the baseline, then the other runs."""

    _words: Tuple[List[str], List[str]]
    _folder: "tempfile.TemporaryDirectory[str]"

    def to_frame(self) -> Any:
        """A frame of pandas with a row per run and measure.

        Raises:
            ImportError: If pandas is not installed.
        """
        return frame([astuple(row) for row in self], [field.name for field in fields(Compared)])

    def to_latex(self, arguments: Sequence[str] = ()) -> str:
        """The table that ``clariq compare --format latex`` prints of the same runs.

        Args:
            arguments: Further arguments of the command.

        Raises:
            ClariqError: If the runs are no longer there, or an argument is refused.
        """
        before, runs = self._words
        return run_process([*before, "--format=latex", *arguments, "--", *runs]).stdout

    def _repr_html_(self) -> str:
        columns = ["measure", "run", "mean", "difference", "wins", "ties", "losses", "p_holm"]
        return as_html([tuple(getattr(row, name) for name in columns) for row in self], columns)


def compare(
    runs: Runs,
    measures: Union[str, Iterable[object]] = (),
    *,
    baseline: Optional[str] = None,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    qrels: Optional[Scored] = None,
    alpha: float = 0.05,
    fail_if_worse: Optional[float] = None,
    arguments: Sequence[str] = (),
) -> Comparison:
    """Compares runs with a baseline by paired significance tests.

    Examples:
        >>> runs = {"one": {"1": {"a": 2.0, "b": 1.0}}, "two": {"1": {"a": 1.0, "b": 2.0}}}
        >>> row = compare(runs, "RR", qrels={"1": {"b": 1}})[1]
        >>> row.run, row.mean, row.difference
        ('two', 1.0, 0.5)

    Args:
        runs: Two runs or more.
        measures: Names such as ``nDCG@10``, or measures of ir_measures; or a single name. The
            default is recall at 5, 10, 20 and 30, and for iKAT that of the task.
        baseline: The run that the others are compared with; the first by default.
        split: The split whose labels are used; the default is that of the record of the first run,
            or ``dev``.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        qrels: Judgements to use instead of the labels of a split.
        alpha: The level of significance.
        fail_if_worse: If given, the fall of a mean that is still admitted: a run with a larger one
            that is significant raises.
        arguments: Further arguments of the command, for example ``["--task", "passages"]``.

    Returns:
        A row per measure and run; ``to_frame()`` makes a table of pandas.

    Raises:
        AssertionError: If a run is worse, with the verdict.
        ClariqError: If the runs, a measure or the labels are refused.
        FileNotFoundError: If there is no command.
        KeyError: If a frame has none of the columns.
        ValueError: If a name cannot be that of a file, or as ``clariq.evaluate``.
    """
    given = [measures] if isinstance(measures, str) else measures
    options = ["--topics=0", f"--alpha={alpha!r}"]
    options += [f"--measure={name}" for name in dict.fromkeys(map(str, given))]
    # The files of runs that are none are kept as long as the comparison, for `to_latex`.
    folder = tempfile.TemporaryDirectory(prefix="clariq-")
    names, judged = _files(runs, folder.name, qrels, split, data)
    options += [*_words(names, judged, baseline, split, data), *arguments]
    if fail_if_worse is not None:
        _require_held([*options, f"--fail-if-worse={fail_if_worse!r}", "--", *names])
    words = ["--quiet", "compare", *options]
    done = run_process([*words, "--format=json", "--", *names])
    warn(done.stderr)
    rows = json.loads(done.stdout)
    rows = rows["comparisons"] if isinstance(rows, dict) else rows
    wanted = [field.name for field in fields(Compared)]
    comparison = Comparison()
    comparison._words, comparison._folder = (words, list(names)), folder
    for row in rows:
        row["run"], row["baseline"] = names[row["run"]], names[row["baseline"]]
        comparison.append(Compared(**{name: row[name] for name in wanted}))
    return comparison


def assert_not_worse(
    run: Scored,
    baseline: Scored,
    measures: Union[str, Iterable[object]] = (),
    *,
    by: float = 0.0,
    below: Optional[Mapping[str, float]] = None,
    groups: "os.PathLike[str] | str | None" = None,
    any_group: bool = False,
    strict: bool = False,
    alpha: float = 0.05,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    qrels: Optional[Scored] = None,
    arguments: Sequence[str] = (),
) -> None:
    """Asserts, in a test, that a run holds the level of a baseline, and prints the verdict.

    Examples:
        >>> baseline, run = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"a": 1.0, "b": 2.0}}
        >>> assert_not_worse(run, baseline, "RR", qrels={"1": {"b": 1}})  # doctest: +ELLIPSIS
        held: no measure fell with p Holm <= 0.05 over 1 topic
        ...

    Args:
        run: The run, as ``clariq.evaluate`` takes it.
        baseline: The run that it is compared with, likewise.
        measures: Names such as ``nDCG@10``; as of ``clariq.compare``.
        by: The fall of a mean that is still admitted.
        below: Measures with their lowest admitted means.
        groups: A file of topics and their groups, ``topic group`` on a line.
        any_group: Whether a fall in a group counts.
        strict: Whether topics that a run lacks are an error.
        alpha: The level of significance.
        split: The split whose labels are used, as of ``clariq.compare``.
        data: The folder of the collection, likewise.
        qrels: Judgements to use instead of the labels of a split.
        arguments: Further arguments of the command.

    Raises:
        AssertionError: If a measure fell by more than ``by`` and significantly, or a mean is below
            its bound; the message is the verdict.
        ClariqError: If the runs, a measure, the groups or the labels are refused.
        FileNotFoundError: If there is no command.
    """
    given = [measures] if isinstance(measures, str) else measures
    options = ["--topics=0", f"--alpha={alpha!r}", f"--fail-if-worse={by!r}"]
    options += [f"--measure={name}" for name in dict.fromkeys(map(str, given))]
    options += [f"--fail-below={name}={bound!r}" for name, bound in (below or {}).items()]
    options += [] if groups is None else [f"--groups={os.fspath(groups)}"]
    options += [f"--{flag}" for flag, on in (("any-group", any_group), ("strict", strict)) if on]
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        names, judged = _files({"baseline": baseline, "run": run}, folder, qrels, split, data)
        options += [*_words(names, judged, None, split, data), *arguments]
        print(_require_held([*options, "--", *names]))


def _require_held(words: Sequence[str]) -> str:
    """The verdict of the command, unless it is `worse`.

    Raises:
        AssertionError: If it is.
    """
    done = run_process(["--quiet", "compare", *words], admitted=(0, 1))
    warn(done.stderr)
    verdict = done.stdout.strip()
    if done.returncode:
        raise AssertionError(verdict)
    return verdict


def report(
    runs: Runs,
    output: "os.PathLike[str] | str" = "report.html",
    *,
    baseline: Optional[str] = None,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    qrels: Optional[Scored] = None,
    title: Optional[str] = None,
    arguments: Sequence[str] = (),
) -> Path:
    """Writes a page that compares runs: scores, tests, and the topics on which they differ.

    Args:
        runs: One run or more.
        output: The HTML file to write.
        baseline: The run that the others are compared with; the first by default.
        split: The split whose labels are used; the default is that of the record of the first run,
            or ``dev``.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        qrels: Judgements to use instead of the labels of a split.
        title: The title of the page.
        arguments: Further arguments of the command.

    Returns:
        The file, which loads nothing and can be sent or kept as it is.

    Raises:
        ClariqError: If the runs or the labels are refused.
        FileNotFoundError: If there is no command.
        KeyError: If a frame has none of the columns.
        ValueError: If a name cannot be that of a file, or as ``clariq.evaluate``.
    """
    words = ["--quiet", "report", f"--output={os.fspath(output)}"]
    words += [] if title is None else [f"--title={title}"]
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        names, judged = _files(runs, folder, qrels, split, data)
        words += _words(names, judged, baseline, split, data)
        done = run_process([*words, *arguments, "--", *names])
    warn(done.stderr)
    return Path(output)


def _files(
    runs: Runs,
    folder: str,
    qrels: Optional[Scored],
    split: Optional[str],
    data: "os.PathLike[str] | str | None",
) -> Tuple[Dict[str, str], Optional[str]]:
    """The names of runs by their files, and the file of judgements. Those that are no files are written to
    `folder`."""
    judged = None if qrels is None else qrels_path(qrels, folder)
    if not isinstance(runs, Mapping):
        if not all(isinstance(run, (str, os.PathLike)) for run in runs):
            raise TypeError("runs: a list of files, or a mapping of names to runs that are no files")
        return {os.fspath(run): os.fspath(run) for run in runs}, judged
    files = {}
    for name, run in runs.items():
        if "/" in name or name.startswith("."):
            raise ValueError(f"a name of a run becomes that of a file: {name!r}")
        path = f"{folder}/{name}.run"
        files[run_path(run, path, lambda: judged_requests(judged, split, data))] = name
    if len(files) != len(runs):
        raise ValueError("two names have the same run")
    return files, judged


def _words(
    names: Mapping[str, str],
    judged: Optional[str],
    baseline: Optional[str],
    split: Optional[str],
    data: "os.PathLike[str] | str | None",
) -> List[str]:
    words = data_arguments(data)
    words += [] if split is None else [f"--split={split}"]
    words += [] if judged is None else [f"--qrels={judged}"]
    if baseline is not None:
        # A name, or a file beside the runs.
        file = next((file for file, name in names.items() if name == baseline), baseline)
        words.append(f"--baseline={file}")
    return words
