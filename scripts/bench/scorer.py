#!/usr/bin/env python3
"""Scores a run with pandas, by the steps of the challenge's own scorer.

Usage: scorer.py questions LABELS.tsv RUN
       scorer.py documents LABELS.tsv TABLE.pkl RUN
       scorer.py conversations BANK.tsv TABLE.pkl RUN

Written for the benchmark, with one pass over the run where the official tool
makes one per topic, so that it is not slower than it need be. Prints what
`clariq eval` prints; the seconds without imports go to standard error.
"""

import pickle
import sys
import time
from statistics import mean

import pandas as pd

imported = time.perf_counter()
DEPTHS = [5, 10, 20, 30]
COLUMNS = ["topic", "zero", "question", "rank", "score", "tag"]


def read_run(path):
    run = pd.read_csv(path, sep=" ", header=None, names=COLUMNS, keep_default_na=False)
    return run.sort_values(["topic", "score"], ascending=[True, False], kind="stable")


def questions(labels_path, run_path):
    labels = pd.read_csv(labels_path, sep="\t")
    relevant = labels.groupby("topic_id")["question_id"].agg(set)
    run = read_run(run_path).drop_duplicates(["topic", "score"])
    ranked = run.groupby("topic")["question"].agg(list).to_dict()
    for depth in DEPTHS:
        recalls = [len(wanted.intersection(ranked.get(topic, [])[:depth])) / len(wanted)
                   for topic, wanted in relevant.items()]
        print(f"Recall{depth}: {mean(recalls)}")


def look_up(table, chosen):
    """Prints the mean of each metric over the contexts in `chosen`: the value of the question chosen for each."""
    for metric, contexts in table.items():
        figures = []
        for context, candidates in contexts.items():
            if context in chosen:
                question = chosen[context]
                if question is None:
                    figures.append(0.0)
                    continue
                suits = question in candidates and question != "MAX"
                figures.append(float(candidates[question if suits else "MIN"]["with_answer"]))
        print(f"{metric}: {mean(figures)}")


def documents(labels_path, table_path, run_path):
    labels = pd.read_csv(labels_path, sep="\t").drop_duplicates("facet_id")
    best = read_run(run_path).drop_duplicates("topic").set_index("topic")["question"].to_dict()
    chosen = {facet: best.get(topic) for facet, topic in zip(labels["facet_id"], labels["topic_id"])}
    with open(table_path, "rb") as file:
        look_up(pickle.load(file), chosen)


def conversations(bank_path, table_path, run_path):
    bank = pd.read_csv(bank_path, sep="\t").fillna("")
    ids = dict(zip(bank["question"], bank["question_id"]))
    best = read_run(run_path).drop_duplicates("topic").set_index("topic")["question"].to_dict()
    with open(table_path, "rb") as file:
        table = pickle.load(file)
    contexts = set().union(*table.values())
    chosen = {context: ids.get(best[context], "") if context in best else None for context in contexts}
    look_up(table, chosen)


TASKS = {"questions": questions, "documents": documents, "conversations": conversations}
TASKS[sys.argv[1]](*sys.argv[2:])
print(time.perf_counter() - imported, file=sys.stderr)
