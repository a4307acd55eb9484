"""Comparing runs, pages, trainings, and tables."""

import json
import stat

import pytest

import clariq

RUNS = {
    "first": {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}},
    "second": {"1": {"a": 1.0, "b": 2.0}, "2": {"c": 1.0}},
}
QRELS = {"1": {"b": 1}, "2": {"c": 1}}


def test_runs_are_compared_with_the_first_or_with_a_baseline():
    rows = clariq.compare(RUNS, ["RR", "R@1"], qrels=QRELS)
    assert [(row.measure, row.run, row.baseline, row.mean) for row in rows] == [
        ("RR", "first", "first", 0.75),
        ("RR", "second", "first", 1.0),
        ("R@1", "first", "first", 0.5),
        ("R@1", "second", "first", 1.0),
    ]
    assert (rows[0].difference, rows[0].significant) == (None, None)
    second = rows[1]
    assert (second.topics, second.difference, second.wins, second.ties) == (2, 0.25, 1, 1)
    assert (second.losses, second.p_holm, second.significant) == (0, 1.0, False)
    other = clariq.compare(RUNS, "RR", qrels=QRELS, baseline="second")
    assert [(row.run, row.difference) for row in other] == [("second", None), ("first", -0.25)]


def test_files_are_compared_by_their_labels(tmp_path):
    files = [
        clariq.run(system, split="dev", output=tmp_path / f"{system}.run")
        for system in ("bm25", "bm25-tuned")
    ]
    assert files[1] == tmp_path / "bm25-tuned.run"
    rows = clariq.compare(files, "R@30", split="dev", alpha=0.01)
    assert [row.run for row in rows] == list(map(str, files))
    assert [row.mean for row in rows] == [
        clariq.evaluate(file, "R@30", split="dev")["R@30"] for file in files
    ]
    assert rows[1].significant is (rows[1].p_holm <= 0.01)
    with pytest.raises(clariq.ClariqError, match="two runs or more"):
        clariq.compare(files[:1])


def _runs(worse_on):
    """A baseline with its relevant document first on each of 20 topics, and a run that is worse on some."""
    good, bad = {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}
    topics = [str(number) for number in range(20)]
    run = {topic: bad if number < worse_on else good for number, topic in enumerate(topics)}
    return dict.fromkeys(topics, good), run, {topic: {"a": 1} for topic in topics}


def test_a_run_that_is_surely_worse_fails_and_noise_does_not(capsys):
    for worse_on in (0, 3):
        baseline, run, qrels = _runs(worse_on)
        clariq.assert_not_worse(run, baseline, "RR", qrels=qrels)
        assert capsys.readouterr().out.startswith("held: no measure fell")
    baseline, run, qrels = _runs(12)
    with pytest.raises(AssertionError, match=r"^worse: RR of run fell by 0\.3000 .*p Holm 0\.0005"):
        clariq.assert_not_worse(run, baseline, "RR", qrels=qrels)
    clariq.assert_not_worse(run, baseline, "RR", by=0.3, qrels=qrels)
    with pytest.raises(AssertionError, match=r"RR of run is 0\.7000, below 0\.8"):
        clariq.assert_not_worse(run, baseline, "RR", by=0.3, below={"RR": 0.8}, qrels=qrels)
    runs = {"old": baseline, "new": run}
    with pytest.raises(AssertionError, match="^worse: RR of new fell"):
        clariq.compare(runs, "RR", qrels=qrels, fail_if_worse=0.0)
    assert clariq.compare(runs, "RR", qrels=qrels, fail_if_worse=0.3)[1].difference == -0.3


def test_kept_scores_stand_for_the_baseline(tmp_path):
    baseline, run, qrels = _runs(12)
    kept = tmp_path / "baseline.json"
    assert clariq.evaluate(baseline, "RR", qrels=qrels, keep=kept) == {"RR": 1.0}
    clariq.assert_not_worse(baseline, kept, "RR", qrels=qrels)
    with pytest.raises(AssertionError, match=r"^worse: RR of run fell by 0\.3000 "):
        clariq.assert_not_worse(run, kept, "RR", qrels=qrels)
    rows = clariq.compare({"old": kept, "new": run}, "RR", qrels=qrels)
    assert [row.mean for row in rows] == [1.0, 0.7]
    with pytest.raises(clariq.ClariqError, match="by other labels"):
        clariq.assert_not_worse(run, kept, "RR", qrels={**qrels, "0": {"b": 1}})


def test_a_page_is_written(tmp_path):
    page = clariq.report(RUNS, tmp_path / "page.html", qrels=QRELS, title="Two runs")
    assert page == tmp_path / "page.html"
    text = page.read_text()
    assert "<title>Two runs</title>" in text and ">second<" in text


def test_a_name_must_be_that_of_a_file():
    for name in ("a/b", ".hidden"):
        with pytest.raises(ValueError, match="becomes that of a file"):
            clariq.compare({name: RUNS["first"]}, qrels=QRELS)


def test_tables_are_frames_of_pandas():
    pytest.importorskip("pandas")
    answers = clariq.rank(["tents", "sourdough"], depth=2)
    frame = answers.to_frame()
    assert list(frame.columns) == ["qid", "docno", "text", "score", "rank"]
    assert list(frame["qid"]) == ["1", "1", "2", "2"] and list(frame["rank"]) == [0, 1, 0, 1]
    assert list(frame["docno"]) == [hit.id for answer in answers for hit in answer.ranking]
    assert clariq.rank([]).to_frame().empty
    # What a system ranks can be scored as it is.
    grades = {"1": {frame["docno"][0]: 1}, "2": {frame["docno"][3]: 1}}
    scores = clariq.evaluate(frame, ["RR", "R@1"], qrels=grades)
    assert scores.to_frame().values.tolist() == [["RR", 0.75], ["R@1", 0.5]]
    values = clariq.evaluate(frame, ["RR", "R@1"], qrels=grades, per_topic=True).to_frame()
    assert list(values.columns) == ["qid", "RR", "R@1"]
    assert values.values.tolist() == [["1", 1.0, 1.0], ["2", 0.5, 0.0], ["all", 0.75, 0.5]]
    compared = clariq.compare(RUNS, "RR", qrels=QRELS).to_frame()
    assert list(compared["run"]) == ["first", "second"] and compared["difference"][1] == 0.25


def test_documents_need_no_folder():
    documents = ["the cat sat", {"id": "dog", "text": "a dog barked", "title": "Dogs"}]
    by_list = clariq.rank(["dogs"], "bm25-english", 1, documents=documents)
    assert [(hit.id, hit.text) for hit in by_list[0].ranking] == [("dog", "Dogs a dog barked")]
    with clariq.Ranker("bm25-english", 1, documents=iter(documents)) as ranker:
        assert ranker.rank_many(["dogs"]) == by_list
        ranker.close()
        assert ranker.rank_many(["dogs"]) == by_list, "the documents are kept"
    assert clariq.rank(["cat"], "ql", documents=documents)[0].ranking[0].id == "1"
    with pytest.raises(ValueError, match="beside `data`"):
        clariq.rank(["dogs"], documents=documents, data=".")
    for wrong, found in [("a dog", "not one str"), ([7], "not int")]:
        with pytest.raises(TypeError, match=found):
            clariq.rank(["dogs"], documents=wrong)
    with pytest.raises(clariq.ClariqError, match="dog"):
        clariq.rank(["dogs"], documents=[documents[1], documents[1]])


def test_the_folder_of_documents_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    clariq.rank(["dogs"], documents=["a dog"])
    with pytest.raises(TypeError):
        clariq.rank(["dogs"], documents=["a dog", 7])
    assert list(tmp_path.iterdir()) == []
    ranker = clariq.Ranker(documents=["a dog"])
    assert len(list(tmp_path.glob("*/documents.jsonl"))) == 1
    del ranker
    assert list(tmp_path.iterdir()) == []


def test_a_training_says_where_its_model_is(tmp_path, monkeypatch):
    row = {"model": "mine", "steps": 8, "loss, first 10": 0.7, "loss, last 10": 0.5}
    row |= {"held-out R@5": None, "held-out R@30": None, "folder": "/cache/mine"}
    command = tmp_path / "clariq"
    command.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/words\necho '{json.dumps([row])}'\n")
    command.chmod(stat.S_IRWXU)
    monkeypatch.setenv("CLARIQ", str(command))
    trained = clariq.train("mine.toml", data="d", output="m", arguments=["--set", "epochs=2"])
    assert (trained.name, str(trained.folder), trained.steps) == ("mine", "/cache/mine", 8)
    assert (trained.first_loss, trained.last_loss, trained.held_out) == (0.7, 0.5, None)
    words = "--quiet train --format=json --data=d --output=m --set epochs=2 -- mine.toml"
    assert (tmp_path / "words").read_text().strip() == words
