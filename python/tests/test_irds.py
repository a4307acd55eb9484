"""Collections as datasets of ir_datasets."""

from pathlib import Path

import pytest


IKAT = Path(__file__).resolve().parents[2] / "data" / "sample-ikat"

ir_datasets = pytest.importorskip("ir_datasets")


def test_the_sample_is_a_dataset():
    import clariq.irds

    names = clariq.irds.register(name="sample")
    assert names == ["sample", "sample/train", "sample/dev", "sample/test"]
    dev = ir_datasets.load("sample/dev")
    assert dev.queries_count() == 15
    documents = {document.doc_id: document.text for document in dev.docs_iter()}
    assert dev.docs_count() == len(documents)
    assert dev.docs_store().get("Q00159").text == documents["Q00159"]
    judged = list(dev.qrels_iter())
    assert judged and all(qrel.doc_id in documents for qrel in judged)
    assert {qrel.query_id for qrel in judged} <= {query.query_id for query in dev.queries_iter()}


def test_a_name_is_registered_again_only_for_the_same_data(monkeypatch):
    import clariq.irds

    names = clariq.irds.register(IKAT, name="again")
    assert names == ["again", "again/2023-test"]
    before = ir_datasets.load("again")
    monkeypatch.chdir(IKAT.parent)
    assert clariq.irds.register(IKAT.name, name="again") == names
    assert ir_datasets.load("again") is before
    with pytest.raises(RuntimeError, match="exists"):
        clariq.irds.register(name="again")


def test_every_split_of_another_collection_is_registered():
    import clariq.irds

    clariq.irds.register(IKAT, name="ikat")
    test = ir_datasets.load("ikat/2023-test")
    assert test.queries_count() == 46 and test.qrels_count() == 98


def test_queries_have_the_fields_of_a_conversation():
    import clariq.irds

    clariq.irds.register(IKAT, name="fields")
    queries = list(ir_datasets.load("fields/2023-test").queries_iter())
    assert ir_datasets.load("fields/2023-test").queries_cls() is type(queries[0])
    first, second = queries[:2]
    assert first.query_id == "1-1_1" and first.history == ()
    assert [said.speaker for said in second.history] == ["user", "system"]
    assert second.history[0].text == first.utterance == first.default_text()
    assert second.resolved not in (None, second.utterance)
    assert first.statements == second.statements and len(first.statements) > 1
    clariq.irds.register(name="labels")
    labelled = list(ir_datasets.load("labels/dev").queries_iter())
    assert all(query.need in (1, 2, 3, 4) and query.facets for query in labelled)
    assert all(query.resolved is None and not query.statements for query in labelled)


def test_iterators_of_documents_are_sliced():
    import clariq.irds

    clariq.irds.register(name="sliced")
    documents = list(ir_datasets.load("sliced").docs_iter())
    assert list(ir_datasets.load("sliced").docs_iter()[1:3]) == documents[1:3]
    assert ir_datasets.load("sliced").docs_iter()[2] == documents[2]
    pt = pytest.importorskip("pyterrier")
    rows = pt.get_dataset("irds:sliced").get_corpus_iter(start=10, count=3, verbose=False)
    assert [row["docno"] for row in rows] == [document.doc_id for document in documents[10:13]]


def test_a_folder_without_a_collection_is_refused(tmp_path):
    import clariq.irds

    with pytest.raises(clariq.ClariqError, match="question_bank.tsv"):
        clariq.irds.register(tmp_path, name="nothing")


def test_requests_that_are_single_texts_are_the_usual_queries(tmp_path):
    import clariq.irds

    (tmp_path / "documents.jsonl").write_text('{"id": "a", "text": "bread"}\n')
    (tmp_path / "requests.dev.jsonl").write_text('{"id": "1", "text": "fresh bread"}\n')
    clariq.irds.register(tmp_path, name="single")
    [query] = ir_datasets.load("single/dev").queries_iter()
    assert query._asdict() == {"query_id": "1", "text": "fresh bread"}
