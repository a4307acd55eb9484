#!/usr/bin/env python3
"""Makes a large collection with a run and an evaluation table for it.

Usage: generate_eval.py TOPICS CONTEXTS OUT

OUT gets question_bank.tsv (4,000 questions), dev.tsv (ten relevant questions
per topic), questions.run (fifty lines per topic), multi_turn_dev_eval.pkl
(three metrics, ten candidates per context, MIN and MAX) and conversations.run
(one line per context). The same arguments give the same files.
"""

import pickle
import random
import sys
from pathlib import Path

QUESTIONS, RELEVANT, DEPTH, CANDIDATES = 4_000, 10, 50, 10
METRICS = ["NDCG3", "P1", "MRR100"]
LABELS = ["topic_id", "initial_request", "topic_desc", "clarification_need", "facet_id", "facet_desc", "question_id",
          "question", "answer"]


def text(number):
    return f"are you looking for the kind numbered {number}" if number > 1 else ""


def write_bank(out, ids):
    with open(out / "question_bank.tsv", "w", encoding="utf-8") as file:
        file.write("question_id\tquestion\n")
        file.writelines(f"{name}\t{text(number)}\n" for number, name in enumerate(ids, 1))


def write_topics(out, ids, topics, dice):
    with open(out / "dev.tsv", "w", encoding="utf-8") as labels, open(out / "questions.run", "w", encoding="utf-8") as run:
        labels.write("\t".join(LABELS) + "\n")
        for topic in range(1, topics + 1):
            shown = dice.sample(range(QUESTIONS), DEPTH)
            relevant = dice.sample(shown, RELEVANT // 2) + dice.sample(range(QUESTIONS), RELEVANT // 2)
            for number in relevant:
                row = [topic, f"tell me about subject {topic}", "", topic % 4 + 1, f"F{topic:06}", "a part of it",
                       ids[number], text(number + 1), "yes please" if number else ""]
                labels.write("\t".join(map(str, row)) + "\n")
            score = 50.0
            for rank, number in enumerate(shown):
                # Every tenth score or so is that of the line before.
                score -= dice.random() * (dice.random() > 0.1)
                run.write(f"{topic} 0 {ids[number]} {rank} {score} bench\n")


def candidates(names, dice):
    figures = {name: {"no_answer": dice.random(), "with_answer": dice.random()} for name in names}
    ordered = sorted(figures.values(), key=lambda figure: figure["with_answer"])
    return figures | {"MIN": dict(ordered[0]), "MAX": dict(ordered[-1])}


def write_table(out, ids, contexts, dice):
    chosen = [dice.sample(range(QUESTIONS), CANDIDATES) for _ in range(contexts)]
    table = {metric: {context: candidates([ids[number] for number in numbers], dice)
                      for context, numbers in enumerate(chosen)} for metric in METRICS}
    with open(out / "multi_turn_dev_eval.pkl", "wb") as file:
        pickle.dump(table, file, protocol=4)
    with open(out / "conversations.run", "w", encoding="utf-8") as run:
        for context, numbers in enumerate(chosen):
            # Every tenth context is asked a question that is no candidate.
            number = dice.choice(numbers) if context % 10 else dice.randrange(QUESTIONS)
            run.write(f'{context} 0 "{text(number + 1)}" 0 1 bench\n')


def main():
    topics, contexts, out = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    dice = random.Random(42)
    ids = [f"Q{number:05}" for number in range(1, QUESTIONS + 1)]
    write_bank(out, ids)
    write_topics(out, ids, topics, dice)
    write_table(out, ids, contexts, dice)


main()
