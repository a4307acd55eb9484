"""Collections as datasets of ir_datasets. Needs the extra ``irds`` of this package."""

from __future__ import annotations

import os
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Type

from ._export import Facet, Utterance, export
from ._extras import extra

with extra("irds"):
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import (
        BaseDocs,
        BaseQrels,
        BaseQueries,
        GenericDoc,
        GenericQrel,
        GenericQuery,
    )
    from ir_datasets.indices import Docstore
    from ir_datasets.util.docs.lazy import LazyDocsIter


class ConversationQuery(NamedTuple):
    """The last utterance of a conversation, with the earlier ones and annotations.

    Attributes:
        query_id: Its id.
        utterance: The last utterance of the user; the request, if there is a single turn.
        history: The earlier utterances, oldest first, with the ``speaker`` and the ``text``.
        resolved: The utterance as people wrote it so that it can be understood alone. Systems that
            use it are manual ones.
        statements: The statements of the user about themselves.
        need: The label: how much clarification it needs, 1 to 4.
        facets: The labels: the information needs that it can stand for, with ``id`` and ``text``.
    """

    query_id: str
    utterance: str
    history: Tuple[Utterance, ...]
    resolved: Optional[str]
    statements: Tuple[str, ...]
    need: Optional[int]
    facets: Tuple[Facet, ...]

    def default_text(self) -> str:
        """The utterance."""
        return self.utterance


# Registered datasets, by the given name and folder.
_registered: Dict[Tuple[str, Optional[str]], List[str]] = {}


def register(data: "os.PathLike[str] | str | None" = None, name: str = "clariq") -> List[str]:
    """Registers a collection: its documents, and its splits with requests and qrels.

    Registering a folder again by the same name, as a notebook does, changes nothing.

    Examples:
        >>> register()
        ['clariq', 'clariq/train', 'clariq/dev', 'clariq/test']
        >>> ir_datasets.load("clariq/dev").queries_count() > 0
        True

    Args:
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        name: The name of the datasets.

    Returns:
        The names of the datasets: one with only the documents, and one per split.

    Raises:
        clariq.ClariqError: If the folder is refused.
        FileNotFoundError: If there is no command.
        RuntimeError: If a name is already registered for other data.
    """
    key = (name, None if data is None else os.path.abspath(data))
    if key in _registered:
        return list(_registered[key])
    exported = export(data)
    documents = _Documents([GenericDoc(*row) for row in exported.documents], name)
    datasets = {name: Dataset(documents)}
    for split, requests in exported.requests.items():
        parts = [documents, _Queries([ConversationQuery(*row) for row in requests], name)]
        if split in exported.qrels:
            parts.append(_Qrels([GenericQrel(*row) for row in exported.qrels[split]]))
        datasets[f"{name}/{split}"] = Dataset(*parts)
    for dataset_name, dataset in datasets.items():
        ir_datasets.registry.register(dataset_name, dataset)
    _registered[key] = list(datasets)
    return list(datasets)


class _Documents(BaseDocs):  # type: ignore[misc]
    def __init__(self, documents: List[GenericDoc], name: str) -> None:
        self._documents, self._name = documents, name

    def docs_iter(self) -> Iterator[GenericDoc]:
        # Users of ir_datasets slice iterators of documents: `docs_iter()[:2]`.
        found: Iterator[GenericDoc] = LazyDocsIter(lambda: self._documents, iter(self._documents))
        return found

    def docs_count(self) -> int:
        return len(self._documents)

    def docs_store(self) -> "Docstore":
        return _Store(self._documents)

    def docs_namespace(self) -> str:
        return self._name

    def docs_lang(self) -> Optional[str]:
        return "en"


class _Store(Docstore):  # type: ignore[misc]
    def __init__(self, documents: List[GenericDoc]) -> None:
        super().__init__(GenericDoc, "doc_id")
        self._by_id = {document.doc_id: document for document in documents}

    def get_many_iter(self, doc_ids: List[str]) -> Iterator[GenericDoc]:
        return (self._by_id[doc_id] for doc_id in doc_ids if doc_id in self._by_id)


class _Queries(BaseQueries):  # type: ignore[misc]
    """Requests; if all are single texts without annotations, the usual queries of ir_datasets, whose
    ``text`` PyTerrier calls ``query``."""

    def __init__(self, queries: List[ConversationQuery], name: str) -> None:
        self._name = name
        self._class = GenericQuery if all(not any(query[2:]) for query in queries) else ConversationQuery
        self._queries = [self._class(*query[: len(self._class._fields)]) for query in queries]

    def queries_iter(self) -> Iterator[NamedTuple]:
        return iter(self._queries)

    def queries_count(self) -> int:
        return len(self._queries)

    def queries_cls(self) -> Type[NamedTuple]:
        return self._class

    def queries_namespace(self) -> str:
        return self._name

    def queries_lang(self) -> Optional[str]:
        return "en"


class _Qrels(BaseQrels):  # type: ignore[misc]
    def __init__(self, qrels: List[GenericQrel]) -> None:
        self._qrels = qrels

    def qrels_iter(self) -> Iterator[GenericQrel]:
        return iter(self._qrels)

    def qrels_count(self) -> int:
        return len(self._qrels)

    def qrels_defs(self) -> Dict[int, str]:
        return {0: "not relevant", 1: "relevant"}
