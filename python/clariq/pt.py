"""PyTerrier transformers. Needs the extra ``pyterrier`` of this package; Java is not required."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._answer import Hit
from ._extras import extra
from ._ranker import Ranker, rank

with extra("pyterrier"):
    import pandas as pd
    import pyterrier as pt


class Rank(pt.Transformer):
    """Retrieves: adds ``docno, text, score, rank`` to frames of ``qid, query``.

    Other columns of the queries are kept. Two of them are also read, if present: ``history``
    (earlier utterances, oldest first: mappings or tuples of ``speaker``, ``user`` or ``system``,
    and ``text``), and ``statements`` (of the user about themselves), which only systems that rank
    statements take.

    The process that ranks keeps running with its models loaded until ``close``, the end of a
    ``with`` block, or the transformer's own end.

    Args:
        system: The name of a built-in system, or a TOML file.
        depth: The maximum number of documents for a query. The default is 30, or all documents if
            ``arguments`` set the depth of a stage, and for ``Rerank`` all documents of the
            query. A system that cannot rank so many is refused.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        batch: Whether all queries are one batch, which systems with ``uses = ["batch"]`` need; each
            batch starts a process of its own.
        arguments: Further arguments of the command, for example ``["--set", "bm25.k1=1.2"]``.

    Raises:
        clariq.ClariqError: When it is applied, if the command refuses a query, the system or the
            data.
        FileNotFoundError: When it is applied, if there is no command.
        pyterrier.validate.InputValidationError: When it is applied to a frame without its columns.
        ValueError: When it is applied to a history or statements of another form.
    """

    def __init__(
        self,
        system: str = "bm25",
        depth: Optional[int] = None,
        *,
        data: "os.PathLike[str] | str | None" = None,
        batch: bool = False,
        arguments: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.system, self.depth, self.data = system, depth, data
        self.batch, self.arguments = batch, arguments
        self._ranker: Optional[Ranker] = None
        self._opened: Any = None

    def __repr__(self) -> str:
        options = {key: getattr(self, key) for key in ("depth", "data", "batch", "arguments")}
        words = [f"{key}={value!r}" for key, value in options.items() if value]
        return f"{type(self).__name__}({', '.join([repr(self.system), *words])})"

    def __getstate__(self) -> Dict[str, Any]:
        # A copy, in another process for example, starts a ranker of its own.
        return {**self.__dict__, "_ranker": None}

    def __enter__(self) -> "Rank":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process. Applying the transformer again starts another one."""
        if self._ranker is not None:
            self._ranker.close()

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Ranks the documents of the collection for every query."""
        pt.validate.query_frame(inp, extra_columns=["query"])
        queries = inp.drop_duplicates("qid")
        rankings = self._rank(_requests(queries))
        rows = [row for row, ranking in enumerate(rankings) for _ in ranking]
        return _frame(queries.iloc[rows], rankings)

    def _rank(self, requests: List[Dict[str, Any]]) -> List[List[Hit]]:
        keys: Dict[str, Any] = {"data": self.data, "arguments": self.arguments}
        if self.batch:
            answers = rank(requests, self.system, self.depth, batch=True, **keys)
        else:
            # PyTerrier's grid searches set the attributes of a transformer that was applied.
            wanted = (self.system, self.depth, self.data, tuple(self.arguments))
            if self._ranker is None or self._opened != wanted:
                self.close()
                self._ranker, self._opened = Ranker(self.system, self.depth, **keys), wanted
            answers = self._ranker.rank_many(requests)
        return [answer.ranking for answer in answers]


class Rerank(Rank):
    """Reranks: frames of ``qid, query, docno`` get the scores of a system for these documents.

    Other columns are kept, and ``history`` and ``statements`` are read, as ``Rank`` does.

    Args:
        own_texts: Whether the column ``text`` holds the documents, which need not be of the
            collection. They are then the whole collection, also where a system counts in how many
            documents a word occurs, and each frame starts a process of its own. By default, a text
            is replaced by that of the collection.
    """

    def __init__(
        self,
        system: str = "bm25",
        depth: Optional[int] = None,
        *,
        data: "os.PathLike[str] | str | None" = None,
        batch: bool = False,
        arguments: Sequence[str] = (),
        own_texts: bool = False,
    ) -> None:
        super().__init__(system, depth, data=data, batch=batch, arguments=arguments)
        self.own_texts = own_texts
        if own_texts and data is not None:
            raise ValueError("`data` beside `own_texts`: the texts of the frame are the collection")

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Ranks each query's own documents."""
        texts = ["text"] if self.own_texts else []
        pt.validate.result_frame(inp, extra_columns=["query", *texts])
        pairs = inp.drop_duplicates(["qid", "docno"])
        row_of: Dict[Any, Dict[str, int]] = {}
        for row, (qid, docno) in enumerate(zip(pairs["qid"], pairs["docno"])):
            row_of.setdefault(qid, {})[str(docno)] = row
        requests = _requests(inp.drop_duplicates("qid"))
        for request, candidates in zip(requests, row_of.values()):
            request["candidates"] = list(candidates)
        if self.own_texts and len(pairs):
            rankings = self._rank_own(pairs, requests)
        else:
            rankings = self._rank(requests)
        # A system may also rank the empty question, which is no document of the frame.
        rankings = [
            [hit for hit in ranking if hit.id in candidates]
            for candidates, ranking in zip(row_of.values(), rankings)
        ]
        found = zip(row_of.values(), rankings)
        rows = [candidates[hit.id] for candidates, ranking in found for hit in ranking]
        return _frame(pairs.iloc[rows], rankings)

    def _rank_own(self, pairs: pd.DataFrame, requests: List[Dict[str, Any]]) -> List[List[Hit]]:
        texts: Dict[str, str] = {}
        for docno, text in zip(map(str, pairs["docno"]), pairs["text"]):
            if texts.setdefault(docno, text) != text:
                raise ValueError(f"document {docno!r} has two texts")
        with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
            with open(os.path.join(folder, "documents.jsonl"), "w", encoding="utf-8") as file:
                for docno, text in texts.items():
                    file.write(json.dumps({"id": docno, "text": text}) + "\n")
            keys: Dict[str, Any] = {"data": folder, "arguments": self.arguments}
            answers = rank(requests, self.system, self.depth, batch=self.batch, **keys)
        return [answer.ranking for answer in answers]


class Index(pt.Artifact):
    """An index of the documents of a collection, as ``clariq index build --index`` writes it.

    ``Index(path)`` opens it from its folder.
    """

    ARTIFACT_TYPE = "sparse_index"
    ARTIFACT_FORMAT = "clariq"

    def rank(
        self,
        system: str = "bm25",
        depth: Optional[int] = None,
        *,
        data: "os.PathLike[str] | str | None" = None,
        arguments: Sequence[str] = (),
    ) -> Rank:
        """The transformer that ranks by this index; ``data`` is the indexed collection."""
        return Rank(system, depth, data=data, arguments=["--index", str(self.path), *arguments])


def index_metadata(path: str, files: Sequence[str]) -> Optional[Dict[str, str]]:
    """Recognises the folder of an ``Index``, for PyTerrier."""
    if "clariq-index.sha256" not in files:
        return None
    return {"type": Index.ARTIFACT_TYPE, "format": Index.ARTIFACT_FORMAT, "package_hint": "clariq"}


def _requests(queries: pd.DataFrame) -> List[Dict[str, Any]]:
    requests = []
    for row in queries.to_dict("records"):
        request: Dict[str, Any] = {"id": str(row["qid"])}
        history = _as_list(row.get("history"))
        if history:
            request["said"] = [*map(_utterance, history), {"user": row["query"]}]
        else:
            request["text"] = row["query"]
        statements = _as_list(row.get("statements"))
        if statements:
            request["statements"] = statements
        requests.append(request)
    return requests


def _as_list(value: Any) -> List[Any]:
    """A list in a frame; an empty one for `None` and for other missing values."""
    if isinstance(value, str):
        raise ValueError(f"history and statements are lists, not {value!r}")
    return list(value) if hasattr(value, "__len__") else []


def _utterance(said: Any) -> Dict[str, str]:
    speaker, text = (said["speaker"], said["text"]) if isinstance(said, Mapping) else said
    if speaker not in ("user", "system"):
        raise ValueError(f"history: a speaker is `user` or `system`, not {speaker!r}")
    return {speaker: text}


def _frame(rows: pd.DataFrame, rankings: List[List[Hit]]) -> pd.DataFrame:
    """The input row of each hit, with the hit's columns. Types are the same without hits."""
    hits = [hit for ranking in rankings for hit in ranking]
    positions = [position for ranking in rankings for position in range(len(ranking))]
    found: pd.DataFrame = rows.reset_index(drop=True).assign(
        docno=pd.Series([hit.id for hit in hits], dtype=str),
        text=pd.Series([hit.text for hit in hits], dtype=str),
        score=pd.Series([hit.score for hit in hits], dtype=float),
        rank=pd.Series(positions, dtype=int),
    )
    return found
