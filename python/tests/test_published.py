"""`scripts/check-ikat-published` with invented labels and runs."""

import json
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check-ikat-published"
# The best passage third of three; nothing of grade 2; not judged; not answered.
GRADES = {"0_1": [4, 0, 2], "0_2": [1, 0, 0], "0_4": [3, 0, 0]}
# DCG: 2/1 + 4/2, of at most 4/1 + 2/log2(3); 1 of 1; twice 0.
FIGURES = {"nDCG@5": ".5000", "R@100": ".3333", "MRR": ".3333"}


def passage(number):
    return f"clueweb22-en0000-00-00000:{number}"


@pytest.fixture
def folders(tmp_path):
    data, runs = tmp_path / "data", tmp_path / "runs"
    for folder in (data, runs / "cfda" / "b" / "IKAT2024"):
        folder.mkdir(parents=True)
    turn = {"utterance": "u", "resolved_utterance": "u", "response": "r"}
    turns = [{"turn_id": number, **turn} for number in range(1, 5)]
    topics = [{"number": 0, "title": "t", "ptkb": {"1": "I ride."}, "turns": turns}]
    (data / "2024_test_topics.json").write_text(json.dumps(topics))
    labels = [
        f"{turn} 0 {passage(number)} {grade}\n"
        for turn, grades in GRADES.items()
        for number, grade in enumerate(grades)
    ]
    (data / "2024_test_qrels.trec").write_text("".join(labels))
    ranked = {turn: {passage(number): number for number in range(3)} for turn in ("0_1", "0_2", "0_3")}
    (runs / "cfda" / "b" / "IKAT2024" / "run.json").write_text(json.dumps(ranked))
    lines = [f"{turn} Q0 {passage(2 - i)} {i + 1} {2 - i} a\n" for turn in ranked for i in range(3)]
    (runs / "cfda" / "a.run").write_text("".join(lines))
    return data, runs


def check(folders, published, monkeypatch, capsys):
    loader = SourceFileLoader("published", str(SCRIPT))
    script = module_from_spec(spec_from_loader("published", loader))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(script)
    script.PUBLISHED = published
    monkeypatch.setattr(sys, "argv", ["check", *map(str, folders)])
    status = script.main()
    return status, capsys.readouterr().out.splitlines()


def test_figures_are_compared_to_the_printed_digits(folders, monkeypatch, capsys):
    dcg, best = 2 + 4 / 2, 4 + 2 / 1.584962500721156
    figures = {**FIGURES, "nDCG@5": f"{dcg / best / 3 + 1 / 2 / 3:.4f}".removeprefix("0")}
    known = {"cfda/a": figures, "cfda/b": figures, "cfda/c": figures}
    status, lines = check(folders, known, monkeypatch, capsys)
    assert status == 0, lines
    assert lines[-1] == "6 of 6 scores equal"
    assert "| cfda/c | | | | not there |" in lines
    known["cfda/b"] = {**figures, "MRR": ".3334"}
    status, lines = check(folders, known, monkeypatch, capsys)
    assert status == 1
    assert "| cfda/b | MRR | .3334 | .3333 | DIFFERS |" in lines


def test_nothing_to_compare_is_an_error(folders, monkeypatch, capsys):
    assert check(folders, {"cfda/c": FIGURES}, monkeypatch, capsys)[0] == 2
    # The published table itself, with its own names.
    done = subprocess.run([SCRIPT, *folders], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 2 and "none of the runs is there" in done.stderr
