"""The PyTerrier transformers, without Java."""

import copy
import os
import subprocess
import sys
from pathlib import Path

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


def test_types_are_the_same_with_and_without_hits():
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


def test_rerank_returns_all_given_documents():
    from clariq._export import export
    from clariq.pt import Rerank

    ids = [document for document, _ in export(None).documents[:40]]
    pairs = frame("how do I pitch a tent").merge(pd.DataFrame({"docno": ids}), how="cross")
    assert set(Rerank("bm25")(pairs)["docno"]) == set(ids)
    assert len(Rerank("bm25", depth=5)(pairs)) == 5


def test_rerank_scores_only_given_documents():
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
    topics = pt.get_dataset("irds:experiment/dev").get_topics("utterance")
    qrels = pd.DataFrame(dataset.qrels_iter())[["query_id", "doc_id", "relevance"]]
    qrels.columns = ["qid", "docno", "label"]
    from ir_measures import R

    table = pt.Experiment([Rank("bm25-tuned", 30)], topics, qrels, [R @ 5, R @ 10, R @ 20, R @ 30])
    expected = clariq.evaluate(run, ["R@5", "R@10", "R@20", "R@30"])
    for name, value in expected.items():
        assert table[name].iloc[0] == pytest.approx(value, abs=1e-9)


def test_one_process_ranks_until_it_is_closed():
    from clariq.pt import Rank, Rerank

    with Rank("bm25", depth=2) as first:
        found = first(frame("how do I pitch a tent"))
        process = first._ranker._process
        assert len(first(frame("sourdough", "planets"))) == 4
        assert first._ranker._process is process and process.poll() is None
        again = copy.deepcopy(first)
        assert again._ranker is None and again(frame("how do I pitch a tent")).equals(found)
        again.close()
    assert process.poll() is not None
    assert len(first(frame("sourdough"))) == 2
    process = first._ranker._process
    del first
    assert process.wait(timeout=10) is not None
    second = Rank("bm25", depth=2)
    assert len(second(frame("sourdough"))) == 2
    old = second._ranker._process
    second.set_parameter("depth", 3)
    assert len(second(frame("sourdough"))) == 3 and old.poll() is not None
    second.close()
    second = Rerank("bm25-tuned")
    for rows in (1, 2):
        assert len(second(found[:rows])) == rows
    second.close()


def test_a_history_is_part_of_the_request():
    from clariq.pt import Rank

    said = [{"user": "tell me about saturn"}, {"system": "do you mean the planet"}, {"user": "no"}]
    direct = clariq.rank([{"id": "0", "said": said}], "bm25-conversation", 3)
    history = [{"speaker": who, "text": text} for one in said[:-1] for who, text in one.items()]
    for turns in (history, [tuple(one.values()) for one in history]):
        found = Rank("bm25-conversation", 3)(frame("no").assign(history=[turns]))
        assert list(found["score"]) == [hit.score for hit in direct[0].ranking]
    plain = Rank("bm25-conversation", 3)(frame("no").assign(history=[None], statements=[()]))
    assert not plain["docno"].equals(found["docno"])
    for wrong in ("saturn", [("somebody", "saturn")]):
        with pytest.raises(ValueError, match="saturn|somebody"):
            Rank("bm25-conversation")(frame("no").assign(history=[wrong]))


def test_rerank_takes_texts_outside_a_collection():
    from clariq.pt import Rerank

    rows = [(7, "red apples", doc, text) for doc, text in
            [(1, "the sky is blue"), (2, "apples that are red"), (3, "an apple tree")]]  # fmt: skip
    pairs = pd.DataFrame(rows, columns=["qid", "query", "docno", "text"])
    found = Rerank("bm25", own_texts=True)(pairs)
    assert found["docno"].iloc[0] == "2" and set(found["docno"]) == {"1", "2", "3"}
    assert found["qid"].tolist() == [7, 7, 7] and found["text"].iloc[0] == "apples that are red"
    assert len(Rerank("bm25", own_texts=True)(pairs[:0])) == 0
    twice = pd.concat([pairs, pairs.assign(qid=8, text="another")])
    with pytest.raises(ValueError, match="two texts"):
        Rerank("bm25", own_texts=True)(twice)
    with pytest.raises(ValueError, match="own_texts"):
        Rerank("bm25", own_texts=True, data="data")


def test_pyterrier_finds_the_module_and_indexes(tmp_path):
    tomllib = pytest.importorskip("tomllib")
    python = Path(__file__).resolve().parents[1]
    points = tomllib.loads((python / "pyproject.toml").read_text())["project"]["entry-points"]
    package = tmp_path / "clariq-0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: clariq\nVersion: 0\n")
    lines = [f"[{group}]\n{key} = {value}" for group, entries in points.items()
             for key, value in entries.items()]  # fmt: skip
    (package / "entry_points.txt").write_text("\n".join(lines))
    index = tmp_path / "idx"
    clariq.run_command(["-q", "index", "build", "--index", str(index)])
    program = f"""
import pandas as pd, pyterrier as pt
index = pt.Artifact.load({str(index)!r})
assert isinstance(index, pt.clariq.Index)
queries = pd.DataFrame([["1", "how do I pitch a tent"]], columns=["qid", "query"])
assert index.rank(depth=3)(queries).equals(pt.clariq.Rank(depth=3)(queries))
"""
    path = os.pathsep.join([str(tmp_path), str(python)])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path})  # fmt: skip
    assert done.returncode == 0, done.stderr
