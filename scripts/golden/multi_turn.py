"""The published multi-turn BM25 baseline.

The naive version of the recipe, one context after the other, with rank_bm25:
the query is the request, then for every turn so far the question, a blank and
the answer, with nothing before the question; the five best questions by
descending score and, where scores are equal, by descending id; those that were
asked already are dropped; the first that remains is the answer, and how many
remain is its score.

CLARIQ is the built command, which is only asked to synthesise conversations of
dev. About 2,000 of its contexts are taken, and all contexts of the
human-generated table. Each line of the output is

  file <TAB> context id <TAB> question id <TAB> questions that remain

and holds no text. sample.tsv is that of the sample collection; with --data, clariq.tsv
is written, that of the released files.
"""

import csv
import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from nltk.stem import PorterStemmer
from nltk.tokenize import word_tokenize
from rank_bm25 import BM25Okapi

from environment import ROOT, say

PACKAGES = ["rank-bm25==0.2.2", "nltk==3.5", "numpy==2.4.6", "regex", "joblib", "tqdm", "click"]
FOLDER = "crates/experiment/tests/data/multi_turn"
WANTED = 2_000


def stop_words():
    source = (ROOT / "crates" / "index" / "src" / "analysis" / "nltk.rs").read_text("utf-8")
    array = re.search(r"STOP_WORDS: \[&str; \d+\] = \[(.*?)\];", source, re.DOTALL)
    return set(re.findall(r'"([^"]+)"', array[1]))


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def human(path):
    """Every row with 0, 1, 2 and 3 of its turns."""
    for number, row in enumerate(rows(path)):
        turns = [{"question": row[f"question{n}"], "answer": row[f"answer{n}"]} for n in (1, 2, 3)]
        for count in range(4):
            yield number * 10 + count, row["initial_request"], turns[:count]


def synthesized(clariq, data):
    """Contexts in file order, as many as wanted and evenly spread."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dev.jsonl"
        command = [clariq, "data", "synthesize", "--split", "dev", "--data", data, "-o", path, "--quiet"]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        records = [json.loads(line) for line in open(path, encoding="utf-8")]
    contexts = {}
    for record in records:
        contexts.setdefault(record["context_id"], (record["initial_request"], record["conversation_context"]))
    step = max(len(contexts) // WANTED, 1)
    for number, (context, (request, turns)) in enumerate(contexts.items()):
        if number % step == 0:
            yield context, request, turns


def add_arguments(parser):
    parser.add_argument("clariq", type=Path, help="the built command")
    parser.add_argument("--data", type=Path, help="folder with the released ClariQ files")


def make(folder, arguments):
    data, name = (arguments.data, "clariq.tsv") if arguments.data else (ROOT / "data" / "sample", "sample.tsv")
    stops, stem = stop_words(), PorterStemmer().stem

    def tokens(text):
        return [stem(word) for word in word_tokenize(text, preserve_line=True) if word not in stops]

    bank = rows(data / "question_bank.tsv")
    # Descending ids, so that a stable sort by score leaves equal scores as wanted.
    bank.sort(key=lambda row: row["question_id"], reverse=True)
    model = BM25Okapi([tokens(row["question"]) for row in bank])

    def answer(request, turns):
        query = request
        for turn in turns:
            query += turn["question"] + " " + turn["answer"]
        scores = model.get_scores(tokens(query))
        best = np.argsort(-scores, kind="stable")[:5]
        asked = [turn["question"] for turn in turns]
        remaining = [bank[place]["question_id"] for place in best if bank[place]["question"] not in asked]
        return (remaining[0] if remaining else "-", len(remaining))

    files = {
        "human": human(data / "multi_turn_human_generated_data.tsv"),
        "synthesized": synthesized(arguments.clariq, data),
    }
    count = 0
    with open(folder / name, "w", encoding="utf-8") as out:
        for kind, contexts in files.items():
            for context, request, turns in contexts:
                question, remaining = answer(request, turns)
                count += 1
                out.write(f"{kind}\t{context}\t{question}\t{remaining}\n")
    say(f"{name}: {count} contexts")
