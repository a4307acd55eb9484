"""What one function gives, the next takes."""

from pathlib import Path

import pytest

import clariq

TEXTS = ["find the hole under water", "bread rises because of yeast", "slugs eat lettuce"]
REQUESTS = [{"id": "1", "text": "why does bread rise"}, {"id": "2", "text": "xyzzy"}]
QRELS = {"1": {"2": 1}, "2": {"3": 1}}


@pytest.fixture(scope="module")
def answers():
    return clariq.rank(REQUESTS, "bm25-english", depth=2, documents=TEXTS)


def test_answers_are_scored_and_compared(answers):
    assert clariq.evaluate(answers, ["RR"], qrels=QRELS) == {"RR": 0.5}
    row = clariq.compare({"one": answers, "two": {"1": {"3": 1.0}}}, "RR", qrels=QRELS)[1]
    assert (row.mean, row.losses, row.ties) == (0.0, 1, 1)


def test_a_request_that_is_answered_with_nothing_counts_0():
    for run in ({"1": {}, "2": {}}, {"1": {}}, {}, clariq.Answers()):
        scores = clariq.evaluate(run, ["RR", "nDCG@10", "Judged@5"], qrels=QRELS)
        assert set(scores.values()) == {0.0}
        compared = clariq.compare({"one": {"1": {"2": 1.0}}, "none": run}, "RR", qrels=QRELS)
        assert [row.mean for row in compared] == [0.5, 0.0]
    for chosen in ({}, {"split": "train"}):
        with pytest.warns(UserWarning, match="not answered and count 0"):
            assert set(clariq.evaluate({}, **chosen).values()) == {0.0}


def test_measures_are_those_of_the_command_unless_they_are_named(answers, tmp_path):
    path = clariq.run("bm25", split="dev", output=tmp_path / "bm25.run")
    assert list(clariq.evaluate(path, split="dev")) == ["Recall5", "Recall10", "Recall20", "Recall30"]


def test_the_measures_of_mtrag_are_those_of_its_table():
    data = Path(__file__).parents[2] / "data/sample-mtrag"
    scores = clariq.evaluate({}, data=data)
    assert list(scores)[:2] == ["nDCG@1", "nDCG@3"] and set(scores.values()) == {0.0}


def test_two_answers_with_one_id_are_refused():
    answers = clariq.rank([{"id": "1", "text": "bread"}, {"id": "1", "text": "slugs"}], documents=TEXTS)
    with pytest.raises(ValueError, match="^run: one answer for each id"):
        clariq.evaluate(answers, qrels=QRELS)


def test_errors_name_the_argument_and_the_row():
    with pytest.raises(ValueError, match="^run, row 2: an id has no white space: '1', 'b c', 1.0$"):
        clariq.evaluate({"1": {"a": 2.0, "b c": 1.0}}, qrels=QRELS)
    with pytest.raises(ValueError, match="^qrels, row 1: a grade is a whole number"):
        clariq.evaluate({"1": {"a": 2.0}}, qrels={"1": {"a": 0.5}})
    with pytest.raises(TypeError, match="^runs: a list of files, or a mapping"):
        clariq.compare([{"1": {"a": 2.0}}], qrels=QRELS)
    with pytest.raises(TypeError, match="^run: a file, answers, .*, not NoneType"):
        clariq.evaluate(None, qrels=QRELS)
    with pytest.raises(TypeError, match="^documents, row 2: a text or a mapping, not tuple"):
        clariq.rank(["a"], documents=["a", ("b", "c")])
    with pytest.raises(ValueError, match="^documents: none"):
        clariq.rank(["a"], documents=[])


def test_errors_of_the_command_name_the_argument_and_the_row():
    for call in (
        lambda: clariq.evaluate({"1": {"a": 1.0}, "2": {"b": float("nan")}}, qrels=QRELS),
        lambda: clariq.compare({"one": {"1": {"a": 1.0}}}, qrels=QRELS),
        lambda: clariq.rank(["a"], documents=[{"id": "1", "text": "a"}, {"id": "1", "text": "b"}]),
        lambda: clariq.Ranker(documents=[{"id": "1", "text": None}]).rank("a"),
    ):
        with pytest.raises(clariq.ClariqError, match="run, row 2|`one` alone|documents, row [12]") as caught:
            call()
        assert "clariq-" not in str(caught.value)


def test_tables_are_for_notebooks_and_papers(answers):
    html = answers._repr_html_()
    assert "<td>bread rises because of yeast</td>" in html
    many = clariq.Answers([clariq.Answer("1", None, [clariq.Hit("d", "<" * 200, 1.0)] * 30)])
    assert many._repr_html_().count("<tr>") == 21 and "10 more rows" in many._repr_html_()
    assert "&lt;" * 79 + "…" in many._repr_html_()
    comparison = clariq.compare({"one": answers, "two": {"1": {"3": 1.0}}}, "RR", qrels=QRELS)
    assert "\\toprule" in comparison.to_latex() and "<td>two</td>" in comparison._repr_html_()
    assert "<td>RR</td>" in clariq.evaluate(answers, ["RR"], qrels=QRELS)._repr_html_()


def test_a_grid_is_searched():
    points = clariq.tune("bm25", {"bm25.k1": [0.9, 1.2]}, split="train", measure="R@5")
    parameters = [point["parameters"] for point in points]
    assert {"bm25.k1=0.9", "bm25.k1=1.2", "held out"} <= set(parameters)
    assert "<td>held out</td>" in points._repr_html_()


def test_runs_are_checked_and_scores_explained(tmp_path):
    path = clariq.run("bm25", split="dev", output=tmp_path / "bm25.run")
    assert [row["verdict"] for row in clariq.validate(path, split="dev")] == ["accepted"]
    (tmp_path / "bad.run").write_text("1 Q0\n")
    with pytest.raises(clariq.ClariqError, match="bad.run:1"):
        clariq.validate(tmp_path / "bad.run", split="dev")
    in_memory = clariq.validate({"13": {"Q00216": 1.0}}, split="dev")
    assert [(row["run"], row["verdict"]) for row in in_memory] == [("run1", "accepted")]
    assert "sum over the tokens" in clariq.explain("Tell me about Saturn", "Q00216")
    assert "`bread`" in clariq.explain("why does bread rise", "2", "bm25-english", documents=TEXTS)
