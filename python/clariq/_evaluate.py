"""Scoring runs by named measures."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

from ._answer import Answer
from ._command import by_argument, data_arguments, run_process
from ._export import export
from ._extras import as_html, frame
from ._records import listed, records

Scored = Union["os.PathLike[str]", str, Mapping[Any, Mapping[Any, float]], Any]
"""A file in TREC format; or the answers of ``clariq.rank``; or ``{request: {document: value}}``, as
pytrec_eval takes; or a frame, as PyTerrier (``qid, docno``) and ir_measures (``query_id, doc_id``) have:
scores are in the column ``score``, grades in ``label`` or ``relevance``. Named tuples with these names are
rows of it. A request that a system answered with nothing is scored as one without relevant documents.
"""

# A line of a run for a request that was answered with nothing: no judgement has this document.
_NOTHING = "(nothing)"


class Scores(Dict[str, Any]):
    """Values by the name of the measure."""

    def to_frame(self) -> Any:
        """A frame of pandas: ``measure, value``; or, with the values of each request, ``qid`` and a
        column per measure.

        Raises:
            ImportError: If pandas is not installed.
        """
        rows, columns = self._table()
        return frame(rows, columns)

    def _table(self) -> Tuple[List[Tuple[Any, ...]], List[str]]:
        values = list(self.values())
        if not any(isinstance(value, dict) for value in values):
            return list(self.items()), ["measure", "value"]
        return [(qid, *(value.get(qid) for value in values)) for qid in values[0]], ["qid", *self]

    def _repr_html_(self) -> str:
        return as_html(*self._table())


def evaluate(
    run: Scored,
    measures: Union[str, Iterable[object], None] = None,
    *,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    qrels: Optional[Scored] = None,
    ties: Optional[str] = None,
    per_topic: bool = False,
    keep: "os.PathLike[str] | str | None" = None,
) -> Scores:
    """Scores a run.

    Warnings of the command, for example about requests that the run does not answer, are issued as
    Python warnings.

    Examples:
        >>> run, qrels = {"1": {"a": 2.0, "b": 1.0}}, {"1": {"b": 1}}
        >>> evaluate(run, ["RR"], qrels=qrels)
        {'RR': 0.5}

    Args:
        run: The run.
        measures: Names such as ``R@30``, ``nDCG@3``, ``AP``, ``RR``, or measures of ir_measures;
            or a single name. The default is that of the command for the collection, by the names
            that it prints.
        split: The split whose labels are used; the default is ``dev``.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        qrels: Judgements to use instead of the labels of a split.
        ties: How equal scores are ordered: ``id`` (the default) or ``official``, as the command
            explains; or ``interval`` for the lowest and the highest mean of any order.
        per_topic: Whether to return the values of each request as well.
        keep: A file for the values of each request, which ``clariq.compare`` and
            ``clariq.assert_not_worse`` take in place of the run, with the same judgements.

    Returns:
        The mean of each measure over all labelled requests, by its name as given. With
        ``per_topic``, the values of each measure by request, and its mean as that of ``all``. With
        ``ties="interval"``, a value is a tuple of the lowest and the highest. ``to_frame()`` makes
        a table of pandas.

    Raises:
        ClariqError: If the run, a measure or the labels are refused.
        FileNotFoundError: If there is no command.
        KeyError: If a frame has none of the columns.
        ValueError: If two names mean the same measure, or one means several, or if an id has
            white space, or a grade is no whole number.
    """
    given = [measures] if isinstance(measures, str) else measures
    names = list(dict.fromkeys(str(measure) for measure in given or ()))
    if measures is not None and not names:
        return Scores()
    words = ["eval", "--format=json", *data_arguments(data)]
    words += [f"--measure={name}" for name in names]
    words += [] if split is None else [f"--split={split}"]
    words += [] if ties is None else [f"--ties={ties}"]
    words += ["--per-topic"] if per_topic else []
    words += [] if keep is None else [f"--output={os.fspath(keep)}"]
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        judged = None if qrels is None else qrels_path(qrels, folder)
        words += [] if judged is None else [f"--qrels={judged}"]
        path = run_path(run, f"{folder}/run", lambda: judged_requests(judged, split, data))
        done = run_process([*words, "--", path])
    rows = json.loads(done.stdout)
    if isinstance(rows, dict):
        # The table of the organisers of MTRAG, with a row per domain: its measures over all of them.
        measures = [name for name in rows["domains"][-1] if "@" in name]
        return evaluate(
            run, measures, split=split, data=data, qrels=qrels, ties=ties, per_topic=per_topic, keep=keep
        )
    warn(done.stderr)
    # The rows have the canonical name of each measure, in the order of the names; with the values
    # of topics, measures take turns.
    canonical = list(dict.fromkeys(row["measure"] for row in rows))
    names = names or canonical
    if len(canonical) != len(names) or (not per_topic and len(rows) != len(names)):
        raise ValueError(f"{len(names)} names of {len(canonical)} measures: {', '.join(names)}")
    if not per_topic:
        return Scores((name, _value(row)) for name, row in zip(names, rows))
    values = Scores((name, {}) for name in names)
    name_of = dict(zip(canonical, names))
    for row in rows:
        values[name_of[row["measure"]]][row["topic"]] = _value(row)
    return values


def warn(messages: str) -> None:
    """Issues the warnings of the command as warnings at the caller's caller."""
    for line in by_argument(messages).splitlines():
        if line.startswith("warning: "):
            warnings.warn(line[len("warning: ") :], stacklevel=3)


def run_path(run: Scored, path: str, judged: Optional[Callable[[], List[str]]]) -> str:
    """The path of a run; a mapping, answers or a frame are written to `path`. One without requests answers
    those that `judged` finds with nothing."""
    return _path(run, path, ["score"], _hit, "run", judged)


def judged_requests(
    judged: Optional[str], split: Optional[str], data: "os.PathLike[str] | str | None"
) -> List[str]:
    """A request with judgements: in the file of these, or in each split that may be meant.

    Raises:
        ValueError: If there is none.
    """
    if judged is None:
        by_split = export(data).qrels
        rows = by_split.values() if split is None else [by_split.get(split, [])]
        requests = [request for of_split in rows for request, _, _ in of_split[:1]]
    else:
        with open(judged, encoding="utf-8") as file:
            requests = [line.split()[0] for line in file if line.strip()][:1]
    if not requests:
        raise ValueError("run: no request, and no judgements that name one")
    return requests


def qrels_path(qrels: Scored, folder: str) -> str:
    """The path of judgements; a mapping or a frame is written to a file in `folder`."""
    return _path(qrels, f"{folder}/qrels", ["label", "relevance"], _judgement, "qrels")


def _value(row: Mapping[str, Any]) -> "float | Tuple[float, float]":
    if "value" in row:
        return float(row["value"])
    return float(row["lowest"]), float(row["highest"])


def _hit(topic: str, document: str, score: Any) -> str:
    return f"{topic} Q0 {document} 0 {float(score)!r} run"


def _judgement(topic: str, document: str, grade: Any) -> str:
    if isinstance(grade, str) or not float(grade).is_integer():
        raise ValueError(f"a grade is a whole number, not {grade!r}")
    return f"{topic} 0 {document} {int(grade)}"


def _path(
    given: Scored,
    path: str,
    columns: List[str],
    line: Callable[[str, str, Any], str],
    argument: str,
    judged: Optional[Callable[[], List[str]]] = None,
) -> str:
    """The path of a file; a mapping, answers or a frame are written to `path`."""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    position = 0
    with open(path, "w", encoding="utf-8") as file:
        for position, (topic, document, value) in enumerate(_rows(given, columns, argument), start=1):
            try:
                file.write(line(_id(topic), _id(document), value) + "\n")
            except (TypeError, ValueError) as error:
                row = f"{topic!r}, {document!r}, {value!r}"
                raise ValueError(f"{argument}, row {position}: {error}: {row}") from None
    if position == 0 and judged is not None:
        return _path({request: {} for request in judged()}, path, columns, line, argument)
    if position == 0:
        raise ValueError(f"{argument}: none")
    return path


def _id(given: Any) -> str:
    # NaN, which pandas has where a value is missing, is not equal to itself.
    if given is None or given != given:
        raise ValueError("an id for every row")
    if len(str(given).split()) != 1:
        raise ValueError("an id has no white space")
    return str(given)


def _rows(given: Any, columns: List[str], argument: str) -> Iterator[Tuple[Any, Any, Any]]:
    value_key = columns[0]
    if isinstance(given, Answer):
        given = [given]
    if isinstance(given, list) and all(isinstance(one, Answer) for one in given):
        answers = given
        given = {one.id: {hit.id: hit.score for hit in one.ranking} for one in answers}
        if len(given) < len(answers):
            raise ValueError(f"{argument}: one answer for each id, as requests with ids of their own have")
    if isinstance(given, Mapping):
        for topic, values in given.items():
            if not hasattr(values, "items"):
                name = type(values).__name__
                expected = "{request: {document: value}}"
                raise TypeError(f"{argument}: {expected}, not a {name} for {topic!r}")
            for document, value in values.items():
                yield topic, document, value
            if not values and value_key == "score":
                yield topic, _NOTHING, 0.0
        return
    names = {"query_id": "qid", "doc_id": "docno", **{name: value_key for name in columns}}
    wanted = ["qid", "docno", value_key]
    if not hasattr(given, "columns"):
        if not isinstance(given, Iterable):
            expected = "a file, answers, {request: {document: value}} or a frame"
            raise TypeError(f"{argument}: {expected}, not {type(given).__name__}")
        # Named tuples, as those of ir_measures and ir_datasets.
        for row in records(given, argument, names):
            if not row.keys() >= set(wanted):
                expected = f"rows with qid, docno and {' or '.join(columns)}"
                raise KeyError(f"{argument}: {expected}, not {listed(row)}")
            yield row["qid"], row["docno"], row[value_key]
        return
    found = [[name for name in given.columns if names.get(name, name) == key] for key in wanted]
    if any(len(columns_of_key) != 1 for columns_of_key in found):
        expected = f"qid or query_id, docno or doc_id, {' or '.join(columns)}"
        has = listed(given.columns)
        raise KeyError(f"{argument}: a frame with the columns {expected}; it has {has}")
    for topic, document, value in zip(*(list(given[name]) for [name] in found)):
        yield topic, document, value
