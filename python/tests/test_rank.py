"""Ranking, sessions and scoring through the command."""

import os
import signal
import time

import pytest

import clariq


def test_answers_come_in_the_order_of_the_requests():
    answers = clariq.rank(["how do I pitch a tent", {"id": "x", "text": "sourdough"}], depth=3)
    assert [answer.id for answer in answers] == ["1", "x"]
    for answer in answers:
        scores = [hit.score for hit in answer.ranking]
        assert 0 < len(scores) <= 3
        assert scores == sorted(set(scores), reverse=True)
        assert all(hit.id.startswith("Q") for hit in answer.ranking)


def test_no_requests_give_no_answers():
    assert clariq.rank([]) == []


def test_a_conversation_and_candidates():
    said = [{"user": "saturn"}, {"system": "do you mean the planet"}, {"user": "no, the car"}]
    whole = clariq.rank([{"id": "1", "said": said}], "bm25-conversation", 5)[0]
    wanted = [hit.id for hit in whole.ranking[:2]]
    part = clariq.rank([{"id": "1", "said": said, "candidates": wanted}], "bm25-conversation")[0]
    assert {hit.id for hit in part.ranking} <= set(wanted)
    assert part.ranking


def test_a_session_answers_as_rank_does():
    requests = ["how do I pitch a tent", "sourdough", "black cats"]
    with clariq.Session("bm25-tuned", depth=4) as session:
        one_by_one = [session.rank({"id": str(n), "text": text}) for n, text in enumerate(requests, 1)]
        together = session.rank_many(requests)
    assert one_by_one == together == clariq.rank(requests, "bm25-tuned", 4)
    assert all(answer.need in (1, 2, 3, 4) for answer in together)


def test_what_the_command_refuses_is_an_exception_with_its_words():
    with pytest.raises(clariq.ClariqError, match="configuration file") as caught:
        clariq.rank(["a"], "no-such-system")
    assert caught.value.status == 2 and "hint:" in caught.value.message
    with clariq.Session("bm25") as session:
        with pytest.raises(clariq.ClariqError, match="expected") as caught:
            session.rank({"id": "a b", "text": "x"})
        assert not isinstance(caught.value, clariq.ProcessDied)
        process = session._process
        with pytest.raises(clariq.ClariqError, match="request 2: .*\n.*\n.*`a b`"):
            session.rank_many(["tents", {"id": "a b", "text": "x"}, "tents"])
        assert session.rank("tents").ranking
        assert session._process is process, "a refused request does not cost the loaded models"
    with pytest.raises(TypeError):
        clariq.rank([7])


def test_a_killed_process_is_reported_once_and_replaced():
    with clariq.Session("bm25", depth=1) as session:
        before = session.rank("tents")
        os.kill(session._process.pid, signal.SIGKILL)
        time.sleep(0.2)
        with pytest.raises(clariq.ProcessDied):
            session.rank("tents")
        assert session.rank("tents") == before


def test_an_interrupted_call_leaves_no_answer_for_the_next(monkeypatch):
    with clariq.Session("bm25", depth=1) as session:
        session.rank("tents")
        process = session._process
        with monkeypatch.context() as patched:
            reading = process.stdout.readline
            patched.setattr(process.stdout, "readline", lambda: reading() and _interrupt())
            with pytest.raises(KeyboardInterrupt):
                session.rank_many(["sourdough", "black cats"])
        assert process.poll() is not None
        assert session.rank({"id": "x", "text": "tents"}).id == "x"


def _interrupt():
    raise KeyboardInterrupt


def test_texts_may_hold_any_character(tmp_path):
    odd = "which zeppelin \u2028 do \x0b \x85 you mean"
    bank = f"question_id\tquestion\nQ00001\twhat tent\nQ00002\t{odd}\n"
    (tmp_path / "question_bank.tsv").write_text(bank, encoding="utf-8")
    columns = "topic_id initial_request topic_desc clarification_need facet_id facet_desc".split()
    columns += ["question_id", "question", "answer"]
    rows = [[n, f"tent {n}", "tents", n, f"F{n}", "a tent", "Q00001", "what tent", "no"] for n in "1234"]
    table = "".join("\t".join(row) + "\n" for row in [columns, *rows])
    (tmp_path / "train.tsv").write_text(table, encoding="utf-8")
    asked = ["a zeppelin \u2028 or so", "tents"]
    whole = clariq.rank(asked, "bm25", 1, data=tmp_path)
    assert len(whole) == 2 and whole[0].ranking[0].text == odd
    with clariq.Session("bm25", 1, data=tmp_path) as session:
        assert session.rank_many(asked) == whole


def test_closing_leaves_no_process():
    session = clariq.Session("bm25")
    session.rank("tents")
    process = session._process
    session.close()
    assert process.poll() is not None
    session.close()


def test_scores_are_those_of_the_command(tmp_path):
    run = tmp_path / "a.run"
    clariq.run_command(["-q", "run", "bm25-tuned", "--split", "dev", "-o", str(run)])
    printed = clariq.run_command(["-q", "eval", str(run), "--split", "dev"])
    recall = float(printed.splitlines()[3].split(": ")[1])
    scores = clariq.evaluate(run, ["R@30", "nDCG@10"])
    assert scores["R@30"] == pytest.approx(recall, abs=1e-12)
    assert 0 < scores["nDCG@10"] < 1


def test_the_command_is_named_by_a_variable(monkeypatch):
    monkeypatch.setenv("CLARIQ", "/nowhere/clariq")
    assert clariq.find_command() == "/nowhere/clariq"
    with pytest.raises(FileNotFoundError):
        clariq.rank(["a"])
