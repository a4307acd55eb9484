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


def test_other_columns_and_the_types_of_ids_are_kept():
    from clariq.pt import Rank, Rerank

    queries = frame("how do I pitch a tent", "sourdough").assign(qid=[7, 3], query_0=["a", "b"])
    found = Rank("bm25", depth=2)(queries)
    assert found["qid"].tolist() == [7, 7, 3, 3] and found["rank"].tolist() == [0, 1, 0, 1]
    assert found["query_0"].tolist() == ["a", "a", "b", "b"]
    found["features"] = [10, 11, 12, 13]
    features = dict(zip(found["docno"], found["features"]))
    again = Rerank("bm25-tuned")(found.sample(frac=1, random_state=1))
    assert len(again) > 0 and set(again["qid"]) <= {3, 7}
    assert [features[docno] for docno in again["docno"]] == again["features"].tolist()
    assert set(again.columns) == set(found.columns)
    assert len(again.merge(queries, on="qid")) == len(again)


def test_an_experiment_names_its_systems():
    from clariq.pt import Rank, Rerank

    queries = frame("how do I pitch a tent")
    qrels = pd.DataFrame([("0", "Q00159", 1)], columns=["qid", "docno", "label"])
    systems = [Rank("bm25"), Rank("bm25", 3, arguments=["--set", "bm25.k1=1.2"])]
    table = pt.Experiment(systems, queries, qrels, ["recip_rank"])
    names = ["Rank('bm25')", "Rank('bm25', depth=3, arguments=['--set', 'bm25.k1=1.2'])"]
    assert table["name"].tolist() == names
    assert repr(Rerank("bm25-tuned")) == "Rerank('bm25-tuned')"


def test_types_do_not_depend_on_what_is_found():
    from clariq.pt import Rank, Rerank

    found = Rank("bm25", depth=1)(frame("how do I pitch a tent"))
    nothing = Rank("bm25")(frame("x")[:0])
    assert len(nothing) == 0
    assert nothing.dtypes.to_dict() == found.dtypes.to_dict()
    assert Rerank("bm25")(found[:0]).dtypes.to_dict() == found.dtypes.to_dict()


def test_missing_columns_are_named():
    from clariq.pt import Rank, Rerank

    for transformer, columns in [(Rank(), ["qid"]), (Rerank(), ["qid", "query"])]:
        with pytest.raises(pt.validate.InputValidationError, match="missing"):
            transformer(pd.DataFrame([["1"] * len(columns)], columns=columns))


def test_rerank_returns_all_that_it_is_given():
    from clariq._export import export
    from clariq.pt import Rerank

    ids = [document for document, _ in export(None).documents[:40]]
    pairs = frame("how do I pitch a tent").merge(pd.DataFrame({"docno": ids}), how="cross")
    assert set(Rerank("bm25")(pairs)["docno"]) == set(ids)
    assert len(Rerank("bm25", depth=5)(pairs)) == 5


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
