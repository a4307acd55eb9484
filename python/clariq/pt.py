"""PyTerrier transformers. Needs ``pip install clariq[pyterrier]``; Java is not required."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Sequence

from ._answer import Hit
from ._extras import extra
from ._session import rank

with extra("pyterrier"):
    import pandas as pd
    import pyterrier as pt


class Rank(pt.Transformer):
    """Retrieves: adds ``docno, text, score, rank`` to frames of ``qid, query``.

    Other columns of the queries are kept.

    Args:
        system: The name of a built-in system, or a TOML file.
        depth: The maximum number of documents for a query. The default is 30, and for
            :class:`Rerank` all documents of the query.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        batch: Whether all queries are one batch, which systems with ``uses = ["batch"]`` need.
        arguments: Further arguments of the command, for example ``["--set", "bm25.k1=1.2"]``.

    Raises:
        clariq.ClariqError: When it is applied, if the command refuses a query, the system or the
            data.
        FileNotFoundError: When it is applied, if there is no command.
        pyterrier.validate.InputValidationError: When it is applied to a frame without its columns.
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

    def __repr__(self) -> str:
        options = {key: getattr(self, key) for key in ("depth", "data", "batch", "arguments")}
        words = [f"{key}={value!r}" for key, value in options.items() if value]
        return f"{type(self).__name__}({', '.join([repr(self.system), *words])})"

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Ranks the documents of the collection for every query."""
        pt.validate.query_frame(inp, extra_columns=["query"])
        queries = inp.drop_duplicates("qid")
        rankings = self._rank(_requests(queries), 30)
        rows = [row for row, ranking in enumerate(rankings) for _ in ranking]
        return _frame(queries.iloc[rows], rankings)

    def _rank(self, requests: List[Dict[str, Any]], depth: int) -> List[List[Hit]]:
        answers = rank(
            requests,
            self.system,
            depth if self.depth is None else self.depth,
            data=self.data,
            batch=self.batch,
            arguments=self.arguments,
        )
        return [answer.ranking for answer in answers]


class Rerank(Rank):
    """Reranks: frames of ``qid, query, docno`` get the scores of a system for these documents.

    Other columns are kept; a text is replaced by that of the collection.
    """

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Ranks each query's own documents."""
        pt.validate.result_frame(inp, extra_columns=["query"])
        pairs = inp.drop_duplicates(["qid", "docno"])
        row_of: Dict[Any, Dict[str, int]] = {}
        for row, (qid, docno) in enumerate(zip(pairs["qid"], pairs["docno"])):
            row_of.setdefault(qid, {})[docno] = row
        requests = _requests(inp.drop_duplicates("qid"))
        for request, candidates in zip(requests, row_of.values()):
            request["candidates"] = list(candidates)
        rankings = self._rank(requests, max(map(len, row_of.values()), default=1))
        found = zip(row_of.values(), rankings)
        rows = [candidates[hit.id] for candidates, ranking in found for hit in ranking]
        return _frame(pairs.iloc[rows], rankings)


def _requests(queries: pd.DataFrame) -> List[Dict[str, Any]]:
    return [{"id": str(qid), "text": text} for qid, text in zip(queries["qid"], queries["query"])]


def _frame(rows: pd.DataFrame, rankings: List[List[Hit]]) -> pd.DataFrame:
    """Rows of the input, one for each hit, with what was found. Types hold without hits, too."""
    hits = [hit for ranking in rankings for hit in ranking]
    positions = [position for ranking in rankings for position in range(len(ranking))]
    found: pd.DataFrame = rows.reset_index(drop=True).assign(
        docno=pd.Series([hit.id for hit in hits], dtype=str),
        text=pd.Series([hit.text for hit in hits], dtype=str),
        score=pd.Series([hit.score for hit in hits], dtype=float),
        rank=pd.Series(positions, dtype=int),
    )
    return found
