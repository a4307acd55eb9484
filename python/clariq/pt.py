"""PyTerrier transformers. Needs ``pip install clariq[pyterrier]``; Java is not needed."""

from __future__ import annotations

import os
from typing import Any, Dict, List

import pandas as pd
import pyterrier as pt

from ._answer import Answer
from ._session import rank


class Rank(pt.Transformer):
    """Retrieves: frames of ``qid, query`` become ``qid, query, docno, text, score, rank``.

    Args:
        system: The name of a built-in system, or a TOML file.
        depth: How many documents are retrieved for a query at most.
        data: The folder of the collection; the built-in sample by default.
        batch: Whether all queries are one batch, which systems with ``uses = ["batch"]`` need.

    Raises:
        clariq.ClariqError: When it is applied, if the command refuses the system or the data.
    """

    def __init__(
        self,
        system: str = "bm25",
        depth: int = 30,
        *,
        data: "os.PathLike[str] | str | None" = None,
        batch: bool = False,
    ) -> None:
        super().__init__()
        self.system, self.depth, self.data, self.batch = system, depth, data, batch

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Ranks the documents of the collection for every query."""
        queries = inp.drop_duplicates("qid")
        requests = [
            {"id": str(row.qid), "text": row.query} for row in queries.itertuples(index=False)
        ]
        return self._answered(queries, requests)

    def _answered(self, queries: pd.DataFrame, requests: List[Dict[str, Any]]) -> pd.DataFrame:
        answers = rank(requests, self.system, self.depth, data=self.data, batch=self.batch)
        texts = dict(zip(queries["qid"].astype(str), queries["query"]))
        return _frame(answers, texts)


class Rerank(Rank):
    """Reranks: frames of ``qid, query, docno`` get the scores of a system for these documents."""

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Ranks each query's own documents."""
        queries = inp.drop_duplicates("qid")
        candidates = inp.groupby(inp["qid"].astype(str), sort=False)["docno"].apply(list)
        requests = [
            {"id": str(row.qid), "text": row.query, "candidates": candidates[str(row.qid)]}
            for row in queries.itertuples(index=False)
        ]
        return self._answered(queries, requests)


def _frame(answers: List[Answer], texts: Dict[str, str]) -> pd.DataFrame:
    rows = [
        (answer.id, texts[answer.id], hit.id, hit.text, hit.score, position)
        for answer in answers
        for position, hit in enumerate(answer.ranking)
    ]
    return pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score", "rank"])

