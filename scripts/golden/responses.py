"""Scores of responses, computed by the organisers of MTRAG and by the package rouge-score.

The first file is scripts/evaluation/run_algorithmic.py of IBM/mt-rag-benchmark, of which the functions
without a model are called; its imports are not needed. The second has `targets`, `contexts` and
`predictions` in the form of its sample, `responses-10.jsonl`, of which the output names the tasks
alone. Behind these come texts that are made up, with signs that tokenizers tell apart.
"""

import ast
import json
import random
import re
import string
from collections import Counter

from rouge_score.rouge_scorer import RougeScorer

PACKAGES = ["rouge-score==0.1.2"]
FOLDER = "crates/track-mtrag/tests/golden"
WANTED = {"remove_articles", "normalize_white_spaces", "remove_punc", "normalize_text", "recall", "k_prec"}
SIGNS = ["the’s", "“a”", "İstanbul", "É5", "a_an", "x\u00a0y", "\u001cthe", "ΣΑΣ", "don't", "--"]


def add_arguments(parser):
    parser.add_argument("program", metavar="RUN_ALGORITHMIC.PY")
    parser.add_argument("predictions", metavar="PREDICTIONS.jsonl")


def functions_of(path):
    with open(path, encoding="utf-8") as file:
        parts = [part for part in ast.parse(file.read()).body if getattr(part, "name", None) in WANTED]
    names = {"re": re, "string": string, "Counter": Counter}
    exec(compile(ast.Module(parts, []), path, "exec"), names)
    return names["recall"], names["k_prec"]


def make(folder, arguments):
    recall, k_prec = functions_of(arguments.program)
    rouge = RougeScorer(["rougeL"], use_stemmer=False)

    def scores(response, target, passages):
        found = [rouge.score(target, response)["rougeL"].fmeasure, recall(response, target)]
        return found + [max((k_prec(response, passage) for passage in passages), default=None)]

    lines = []
    with open(arguments.predictions, encoding="utf-8") as file:
        for task in map(json.loads, file):
            response, target = task["predictions"][0]["text"], task["targets"][0]["text"]
            passages = [context["text"] for context in task["contexts"]]
            lines.append({"task": task["task_id"], "scores": scores(response, target, passages)})
    random.seed(67)
    words = ["a", "the", "An", "tea", "tea,", "U.S.", "well-known", "2020", *SIGNS]
    for _ in range(60):
        texts = [" ".join(random.choices(words, k=random.randint(0, 9))) for _ in range(4)]
        lines.append({"texts": texts, "scores": scores(texts[0], texts[1], texts[2:])})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "responses.jsonl").write_text(text, encoding="utf-8")
