"""The PyTerrier transformers, without Java."""

import pytest

import clariq

pd = pytest.importorskip("pandas")
pt = pytest.importorskip("pyterrier")


def frame(*texts):
    return pd.DataFrame([(str(n), text) for n, text in enumerate(texts)], columns=["qid", "query"])


def test_rank_retrieves():
    from clariq.pt import Rank

    found = Rank("bm25", depth=3)(frame("how do I pitch a tent", "sourdough"))
    assert list(found.columns) == ["qid", "query", "docno", "text", "score", "rank"]
    direct = clariq.rank(["how do I pitch a tent", "sourdough"], "bm25", 3)
    ids = [hit.id for answer in direct for hit in answer.ranking]
    assert list(found["docno"]) == ids


def test_rerank_scores_what_it_is_given():
    from clariq.pt import Rank, Rerank

    first = Rank("bm25-english", depth=5)
    both = (first >> Rerank("bm25-tuned", depth=5))(frame("how do I pitch a tent"))
    assert set(both["docno"]) <= set(first(frame("how do I pitch a tent"))["docno"])
    assert len(both) > 0


def test_an_experiment_has_the_figures_of_eval(tmp_path):
    from clariq.pt import Rank

    ir_datasets = pytest.importorskip("ir_datasets")
    import clariq.irds

    run = tmp_path / "a.run"
    clariq.run_command(["-q", "run", "bm25-tuned", "--split", "dev", "-o", str(run)])
    clariq.irds.register(name="experiment")
    dataset = ir_datasets.load("experiment/dev")
    topics = pd.DataFrame(dataset.queries_iter())[["query_id", "text"]]
    topics.columns = ["qid", "query"]
    qrels = pd.DataFrame(dataset.qrels_iter())[["query_id", "doc_id", "relevance"]]
    qrels.columns = ["qid", "docno", "label"]
    from ir_measures import R

    table = pt.Experiment([Rank("bm25-tuned", 30)], topics, qrels, [R @ 5, R @ 10, R @ 20, R @ 30])
    expected = clariq.evaluate(run, ["R@5", "R@10", "R@20", "R@30"])
    for name, value in expected.items():
        assert table[name].iloc[0] == pytest.approx(value, abs=1e-9)
