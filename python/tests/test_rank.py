"""Ranking, rankers and scoring through the command."""

import gc
import json
import os
import signal
import stat
import subprocess
import sys
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


def test_one_request_is_not_taken_for_several():
    for one in ("tents", {"id": "1", "text": "tents"}):
        with pytest.raises(TypeError, match="not one"):
            clariq.rank(one)
        with clariq.Ranker() as ranker, pytest.raises(TypeError, match="not one"):
            ranker.rank_many(one)


def test_requests_may_be_those_of_other_libraries():
    queries = pytest.importorskip("ir_datasets").formats.GenericQuery
    pandas = pytest.importorskip("pandas")
    expected = clariq.rank([{"id": "7", "text": "tents"}], depth=3)
    frame = pandas.DataFrame({"qid": [7], "query": ["tents"]})
    for requests in (
        frame,
        [queries("7", "tents")],
        [{"_id": "7", "text": "tents"}],
        [{"query_id": frame["qid"].iloc[0], "query": "tents"}],  # a number of numpy
    ):
        assert clariq.rank(requests, depth=3) == expected
    with pytest.raises(clariq.ClariqError, match="a key `text` or `said`"):
        clariq.rank(frame.rename(columns={"query": "topic"}))
    with pytest.raises(ValueError, match="^requests, row 1: one key for `id`, not id, qid, text"):
        clariq.rank([{"id": "1", "qid": "2", "text": "tents"}])


def test_ids_may_be_the_index_of_a_frame():
    pandas = pytest.importorskip("pandas")
    requests = pandas.DataFrame({"query": ["tea"]}, index=pandas.Index(["q7"], name="qid"))
    documents = pandas.DataFrame({"docno": ["d7", "d9"], "text": ["tea", "a bike"]})
    expected = clariq.rank([{"id": "q7", "text": "tea"}], "bm25-english", documents=documents)
    assert [hit.id for hit in expected[0].ranking] == ["d7"]
    indexed = documents.set_index("docno")
    assert clariq.rank(requests, "bm25-english", documents=indexed) == expected
    assert clariq.rank(requests.reset_index(), "bm25-english", documents=documents) == expected
    for frame, reason in (
        (indexed.rename_axis(None), "^documents: a frame with a column of ids"),
        (documents.set_axis(["text", "text"], axis=1), "one name each"),
        (documents.set_axis([0, 1], axis=1), "not 0, 1 alone"),
    ):
        with pytest.raises(ValueError, match=reason):
            clariq.rank(requests, "bm25-english", documents=frame)


def test_ids_may_be_the_index_of_a_series():
    pandas = pytest.importorskip("pandas")
    requests = pandas.Series(["tea"], index=pandas.Index(["q7"], name="qid"))
    documents = pandas.Series(["tea", "a bike"], index=pandas.Index(["d7", "d9"], name="docno"))
    answer = clariq.rank(requests, "bm25-english", documents=documents)[0]
    assert (answer.id, [hit.id for hit in answer.ranking]) == ("q7", ["d7"])
    with pytest.raises(ValueError, match="^documents: a frame with a column of ids"):
        clariq.rank(requests, "bm25-english", documents=documents.rename_axis(None))
    without_ids = clariq.rank(pandas.Series(["tea"]), "bm25-english", documents=["tea"])
    assert without_ids[0].ranking[0].id == "1"


def test_documents_may_have_values_that_json_has_not():
    pandas = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    time = pandas.Timestamp("2020-01-01")
    documents = pandas.DataFrame({"docno": ["a"], "text": ["tea"], "time": [time], "at": [numpy.ones(2)]})
    answers = clariq.rank(["tea"], "bm25-english", documents=documents)
    assert [hit.id for hit in answers[0].ranking] == ["a"]


def test_tables_of_other_libraries_are_rows():
    rows = [{"qid": "q7", "query": "tents"}]
    expected = clariq.rank(rows, depth=3)

    class Arrow:
        columns = [["q7"], ["tents"]]

        def to_pylist(self):
            return rows

    class Polars:
        columns = ["qid", "query"]

        def collect_schema(self):
            return {}

        def iter_rows(self, named):
            return iter(rows) if named else None

    class LazyPolars(Polars):
        def collect(self):
            return Polars()

    for table in (Arrow(), Polars(), LazyPolars()):
        assert clariq.rank(table, depth=3) == expected

    class Spark:
        columns = ["qid", "query"]

    with pytest.raises(TypeError, match="a frame of pandas or polars, not .*Spark"):
        clariq.rank(Spark())


def test_documents_may_be_those_of_other_libraries():
    documents = pytest.importorskip("ir_datasets").formats.GenericDoc
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"docno": ["d1", "d2"], "text": ["a bike", "tea"]})
    for given in (
        frame,
        [documents("d1", "a bike"), documents("d2", "tea")],
        [{"_id": "d1", "title": "", "text": "a bike"}, {"_id": "d2", "title": "", "text": "tea"}],
        [{"docid": "d1", "contents": "a bike"}, {"docid": "d2", "contents": "tea"}],
    ):
        answer = clariq.rank(["bike"], "bm25-english", documents=given)[0]
        assert [hit.id for hit in answer.ranking] == ["d1"]
    answer = clariq.rank(["bike"], "bm25-english", documents=[{"text": "a bike"}, "tea"])[0]
    assert [hit.id for hit in answer.ranking] == ["1"]
    with pytest.raises(ValueError, match="^documents, row 1: a key `id`, not pid, text alone"):
        clariq.rank(["bike"], "bm25-english", documents=[{"pid": "d1", "text": "a bike"}])
    with pytest.raises(TypeError, match="not one str"):
        clariq.rank(["bike"], "bm25-english", documents="a bike")


def test_systems_with_several_tasks_answer():
    request = "what should a runner eat"
    answer = clariq.rank([request], "ikat-bm25", depth=2)[0]
    assert list(answer.rankings) == ["statements", "passages"]
    assert answer.ranking == answer.rankings["passages"] and len(answer.ranking) == 2
    assert answer.need is None
    assert answer.response.text and answer.response.passages
    with clariq.Ranker("ikat-bm25", depth=2) as ranker:
        assert ranker.rank(request) == answer
        own = ranker.rank({"id": "1", "text": request, "statements": ["I run", "I eat no meat"]})
    assert len(own.rankings["statements"]) == 2
    ranked = clariq.rank([request], depth=1)[0]
    assert ranked.rankings == {} and ranked.response is None


def test_further_arguments_go_to_the_command():
    arguments = ["--set", "bm25.k1=3"]
    scores = clariq.rank(["tents"], arguments=arguments)[0]
    assert scores != clariq.rank(["tents"])[0]
    with clariq.Ranker(arguments=arguments) as ranker:
        assert ranker.rank("tents") == scores


def test_no_name_is_taken_for_an_option():
    with pytest.raises(clariq.ClariqError, match="found: nothing of that name"):
        clariq.rank(["a"], "--help")
    with clariq.Ranker("--help") as ranker:
        with pytest.raises(clariq.ClariqError, match="found: nothing of that name"):
            ranker.rank("a")
    with pytest.raises(clariq.ClariqError, match="-data: missing file"):
        clariq.rank(["a"], data="-data")
    with pytest.raises(clariq.ClariqError, match="-x.run: missing file"):
        clariq.evaluate("-x.run")


def stand_in(folder, monkeypatch, script):
    """A command in place of the real one."""
    command = folder / "clariq"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(stat.S_IRWXU)
    monkeypatch.setenv("CLARIQ", str(command))


def test_every_request_has_an_answer(tmp_path, monkeypatch):
    answer = json.dumps({"id": "1", "need": None, "ranking": []})
    stand_in(tmp_path, monkeypatch, f"cat > {tmp_path}/in; echo '{answer}'")
    assert clariq.rank(["a"]) == [clariq.Answer("1", None, [])]
    with pytest.raises(clariq.ClariqError, match="1 answers to 2 requests"):
        clariq.rank(["a", "b"])


def test_a_killed_command_raises_process_died(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, "echo 'a last word' >&2; kill -KILL $$")
    with clariq.Ranker() as ranker:
        for call in (clariq.rank, ranker.rank_many):
            with pytest.raises(clariq.ProcessDied, match="SIGKILL\na last word") as caught:
                call(["a"])
            assert caught.value.status == -signal.SIGKILL


def test_a_conversation_and_candidates():
    said = [{"user": "saturn"}, {"system": "do you mean the planet"}, {"user": "no, the car"}]
    whole = clariq.rank([{"id": "1", "said": said}], "bm25-conversation", 5)[0]
    wanted = [hit.id for hit in whole.ranking[:2]]
    part = clariq.rank([{"id": "1", "said": said, "candidates": wanted}], "bm25-conversation")[0]
    assert {hit.id for hit in part.ranking} <= set(wanted)
    assert part.ranking


def test_a_ranker_answers_as_rank_does():
    requests = ["how do I pitch a tent", "sourdough", "black cats"]
    with clariq.Ranker("bm25-tuned", depth=4) as ranker:
        one_by_one = [
            ranker.rank({"id": str(n), "text": text}) for n, text in enumerate(requests, 1)
        ]
        together = ranker.rank_many(requests)
    assert one_by_one == together == clariq.rank(requests, "bm25-tuned", 4)
    assert all(answer.need in (1, 2, 3, 4) for answer in together)


def test_a_refusal_of_the_command_is_an_exception_with_its_message():
    with pytest.raises(clariq.ClariqError, match="configuration file") as caught:
        clariq.rank(["a"], "no-such-system")
    assert caught.value.status == 2 and "hint:" in caught.value.message
    bad = ["tents", {"id": "a b", "text": "x"}, "tents"]
    for batch in (False, True):
        with pytest.raises(clariq.ClariqError, match="^request 2: .*\n.*\n.*`a b`$") as caught:
            clariq.rank(bad, batch=batch)
        assert caught.value.status == 2
    with clariq.Ranker("bm25") as ranker:
        with pytest.raises(clariq.ClariqError, match="expected") as caught:
            ranker.rank({"id": "a b", "text": "x"})
        assert not isinstance(caught.value, clariq.ProcessDied)
        process = ranker._process
        with pytest.raises(clariq.ClariqError, match="^request 2: .*\n.*\n.*`a b`$"):
            ranker.rank_many(bad)
        assert ranker.rank("tents").ranking
        assert ranker._process is process, "a refused request does not cost the loaded models"
    with pytest.raises(TypeError):
        clariq.rank([7])


def test_a_killed_process_is_reported_once_and_replaced():
    with clariq.Ranker("bm25", depth=1) as ranker:
        before = ranker.rank("tents")
        os.kill(ranker._process.pid, signal.SIGKILL)
        time.sleep(0.2)
        with pytest.raises(clariq.ProcessDied, match="SIGKILL"):
            ranker.rank("tents")
        assert ranker.rank("tents") == before


def test_a_process_that_is_killed_while_it_answers_died(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, "read line; printf '{\"id\": \"1\", \"ran'; kill -KILL $$")
    with clariq.Ranker() as ranker:
        with pytest.raises(clariq.ProcessDied, match="SIGKILL"):
            ranker.rank("tents")


def test_an_unclosed_ranker_leaves_no_process():
    ranker = clariq.Ranker("bm25", depth=1)
    ranker.rank("tents")
    process = ranker._process
    del ranker
    gc.collect()
    assert process.poll() is not None
    script = "import clariq; s = clariq.Ranker(); s.rank('a'); print(s._process.pid)"
    words = [sys.executable, "-c", script]
    pid = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_ranker_is_closed_at_once_beside_a_forked_child():
    ranker = clariq.Ranker("bm25", depth=1)
    ranker.rank("tents")
    process, (reading, writing) = ranker._process, os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    ranker.close()
    # The child, which holds the process's input open, is still there.
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    assert process.returncode == -signal.SIGTERM
    os.close(writing)
    os.waitpid(child, 0)


def test_the_limit_of_a_line_counts_bytes_of_utf_8():
    text = "\u732b" * 200_000
    with clariq.Ranker("bm25", depth=1) as ranker:
        assert ranker.rank(text).id == "1"
        with pytest.raises(clariq.ClariqError):
            ranker.rank("a lone \ud800")
        assert ranker.rank("tents").ranking


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_leaves_the_process_to_its_parent():
    with clariq.Ranker("bm25", depth=1) as ranker:
        before, process = ranker.rank("tents"), ranker._process
        # Another thread of the parent may hold the lock at that moment.
        with ranker._lock:
            child = os.fork()
            if child == 0:
                right = False
                try:
                    right = ranker.rank("tents") == before
                    right = right and ranker._process.pid != process.pid
                    ranker.close()
                finally:
                    os._exit(0 if right else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert ranker.rank("tents") == before
        assert ranker._process is process


def test_an_interrupted_call_leaves_no_answer_for_the_next(monkeypatch):
    with clariq.Ranker("bm25", depth=1) as ranker:
        ranker.rank("tents")
        process = ranker._process
        with monkeypatch.context() as patched:
            reading = process.stdout.readline
            patched.setattr(process.stdout, "readline", lambda: reading() and _interrupt())
            with pytest.raises(KeyboardInterrupt):
                ranker.rank_many(["sourdough", "black cats"])
        assert process.poll() is not None
        assert ranker.rank({"id": "x", "text": "tents"}).id == "x"


def _interrupt():
    raise KeyboardInterrupt


def test_texts_may_hold_any_character(tmp_path):
    odd = "which zeppelin \u2028 do \x0b \x85 you mean"
    bank = f"question_id\tquestion\nQ00002\twhat tent\nQ00003\t{odd}\n"
    (tmp_path / "question_bank.tsv").write_text(bank, encoding="utf-8")
    columns = "topic_id initial_request topic_desc clarification_need facet_id facet_desc".split()
    columns += ["question_id", "question", "answer"]
    rows = [
        [n, f"tent {n}", "tents", n, f"F{n}", "a tent", "Q00002", "what tent", "no"] for n in "1234"
    ]
    table = "".join("\t".join(row) + "\n" for row in [columns, *rows])
    (tmp_path / "train.tsv").write_text(table, encoding="utf-8")
    asked = ["a zeppelin \u2028 or so", "tents"]
    whole = clariq.rank(asked, "bm25", 1, data=tmp_path)
    assert len(whole) == 2 and whole[0].ranking[0].text == odd
    with clariq.Ranker("bm25", 1, data=tmp_path) as ranker:
        assert ranker.rank_many(asked) == whole


def test_closing_leaves_no_process():
    ranker = clariq.Ranker("bm25")
    ranker.rank("tents")
    process = ranker._process
    ranker.close()
    assert process.poll() is not None
    ranker.close()


def test_scores_are_those_of_the_command(tmp_path):
    run = tmp_path / "a.run"
    clariq.run_command(["-q", "run", "bm25-tuned", "--split", "dev", "-o", str(run)])
    printed = clariq.run_command(["-q", "eval", str(run), "--split", "dev"])
    recall = float(printed.splitlines()[3].split(": ")[1])
    scores = clariq.evaluate(run, ["R@30", "nDCG@10"])
    assert scores["R@30"] == pytest.approx(recall, abs=1e-12)
    assert 0 < scores["nDCG@10"] < 1


@pytest.fixture(scope="module")
def dev_run(tmp_path_factory):
    run = tmp_path_factory.mktemp("run") / "bm25.run"
    clariq.run_command(["-q", "run", "bm25", "--split", "dev", "-o", str(run)])
    return run


def test_scores_have_the_names_that_were_given(dev_run):
    scores = clariq.evaluate(dev_run, ["map", "recall_5", "nDCG@10", "map"])
    assert list(scores) == ["map", "recall_5", "nDCG@10"]
    usual = clariq.evaluate(dev_run, ["nDCG@10", "R@5", "AP"])
    assert list(scores.values()) == [usual["AP"], usual["R@5"], usual["nDCG@10"]]
    assert clariq.evaluate(dev_run, "R@5") == {"R@5": usual["R@5"]}
    assert clariq.evaluate(dev_run, []) == {}
    for unclear in (["R@5", "recall_5"], "R@5,AP"):
        with pytest.raises(ValueError, match="names of"):
            clariq.evaluate(dev_run, unclear)


def test_measures_of_ir_measures_are_accepted(dev_run):
    ir_measures = pytest.importorskip("ir_measures")
    measures = [ir_measures.R @ 5, ir_measures.RBP(p=0.5), ir_measures.nDCG @ 3]
    scores = clariq.evaluate(dev_run, measures)
    assert list(scores) == [str(measure) for measure in measures]
    assert scores == clariq.evaluate(dev_run, list(scores))


def test_qrels_replace_the_labels_of_a_split(dev_run, tmp_path):
    best = dev_run.read_text().split()
    qrels = tmp_path / "qrels.txt"
    qrels.write_text(f"{best[0]} 0 {best[2]} 1\n")
    with pytest.warns(UserWarning, match="14 topics have no labels"):
        assert clariq.evaluate(dev_run, ["RR"], qrels=qrels) == {"RR": 1.0}


def test_a_run_of_another_split_is_refused(dev_run):
    with pytest.raises(clariq.ClariqError, match="found: only other topics, such as"):
        clariq.evaluate(dev_run, ["R@5"], split="test")


def test_a_warning_is_that_of_the_caller(dev_run):
    with pytest.warns(UserWarning, match="R@100 counts no more") as caught:
        clariq.evaluate(dev_run, ["R@100"])
    assert {one.filename for one in caught} == {__file__}


def test_the_command_is_named_by_a_variable(monkeypatch):
    monkeypatch.setenv("CLARIQ", "/nowhere/clariq")
    assert clariq.find_command() == "/nowhere/clariq"
    with pytest.raises(FileNotFoundError):
        clariq.rank(["a"])


def test_the_package_has_a_version():
    assert clariq.__version__


@pytest.mark.parametrize(
    "module, library, extra",
    [
        ("pt", "pyterrier", "pyterrier"),
        ("irds", "ir_datasets", "irds"),
    ],
)
def test_a_missing_extra_is_named(module, library, extra):
    code = f"import sys; sys.modules[{library!r}] = None; import clariq.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("ImportError: ")
    assert f"the extra `{extra}` of this package brings it" in done.stderr


def test_runs_and_judgements_need_no_file():
    run, grades = {"1": {"a": 2.0, "b": 2.0}, 2: {"c": 1.5}}, {"1": {"b": 1}, "2": {"d": 2}}
    assert clariq.evaluate(run, ["RR", "R@1"], qrels=grades) == {"RR": 0.5, "R@1": 0.5}
    values = clariq.evaluate(run, ["RR", "R@1"], qrels=grades, per_topic=True)
    assert values["R@1"] == {"1": 1.0, "2": 0.0, "all": 0.5} and list(values) == ["RR", "R@1"]
    between = clariq.evaluate(run, "RR", qrels=grades, ties="interval")
    assert between == {"RR": (0.25, 0.5)}
    with pytest.warns(UserWarning, match="repeats a score"):
        assert clariq.evaluate(run, "RR", qrels=grades, ties="official") == {"RR": 0.0}
    for grade in (1.5, float("nan")):
        with pytest.raises(ValueError, match="whole number"):
            clariq.evaluate(run, "RR", qrels={"1": {"b": grade}})
    with pytest.raises(ValueError, match="white space"):
        clariq.evaluate({"1 2": {"a": 1}}, "RR", qrels=grades)
    with pytest.raises(TypeError, match="not a list for '1'"):
        clariq.evaluate({"1": ["a", "b"]}, "RR", qrels=grades)
    pd = pytest.importorskip("pandas")
    hits = pd.DataFrame([("1", "a", 2.0), ("1", "b", 1.0)], columns=["qid", "docno", "score"])
    judged = pd.DataFrame([("1", "b", 1)], columns=["query_id", "doc_id", "relevance"])
    for missing in (None, float("nan"), pd.NaT):
        with pytest.raises(ValueError, match="an id for every row"):
            clariq.evaluate(hits.assign(docno=["a", missing]), "RR", qrels=judged)
    assert clariq.evaluate(hits, "RR", qrels=judged) == {"RR": 0.5}
    with pytest.raises(KeyError, match="docno or doc_id"):
        clariq.evaluate(hits[["qid", "score"]], "RR", qrels=judged)
    for twice in (hits.assign(query_id="1"), hits.rename(columns={"score": "value"})):
        with pytest.raises(KeyError, match="qid or query_id, docno or doc_id, score; it has"):
            clariq.evaluate(twice, "RR", qrels=judged)


def test_runs_and_judgements_may_be_named_tuples():
    measures = pytest.importorskip("ir_measures")
    run = [measures.ScoredDoc("1", "a", 2.0), measures.ScoredDoc("1", "b", 1.0)]
    assert clariq.evaluate(run, "RR", qrels=iter([measures.Qrel("1", "b", 1, "0")])) == {"RR": 0.5}
    with pytest.raises(KeyError, match="rows with qid, docno and label or relevance, not qid, docno, score"):
        clariq.evaluate(run, "RR", qrels=run)
