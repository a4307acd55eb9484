"""Collections as datasets of ir_datasets."""

import pytest

import clariq

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
    with pytest.raises(RuntimeError, match="exists"):
        clariq.irds.register(name="sample")


def test_a_folder_that_is_none_is_refused(tmp_path):
    import clariq.irds

    with pytest.raises(clariq.ClariqError, match="question_bank.tsv"):
        clariq.irds.register(tmp_path, name="nothing")
