#!/usr/bin/env python3
"""Two runs of one size with judgements, and their comparison by ranx.

Usage: compare.py make TOPICS DEPTH OUT      writes qrels.txt, a.run and b.run to the folder OUT
       compare.py ranx QRELS RUN RUN         reads the files and compares the runs

Fifty documents of a topic are judged, with grades from 0 to 3; b.run orders as a.run, with noise. ranx tests
nDCG@10 and AP by Fisher's randomisation. Prints the means; standard error gets the seconds without start and
imports.
"""

import random
import sys
import time
from pathlib import Path


def make(topics, depth, out):
    dice = random.Random(42)
    with open(out / "qrels.txt", "w") as qrels, open(out / "a.run", "w") as first, open(out / "b.run", "w") as second:
        for topic in range(topics):
            judged = sorted(dice.sample(range(depth + 50), 50))
            qrels.writelines(f"q{topic} 0 d{number} {dice.choice([0, 0, 1, 2, 3])}\n" for number in judged)
            for file, noise in ((first, 30), (second, 33)):
                scores = [depth - number + noise * dice.random() for number in range(depth)]
                order = sorted(range(depth), key=scores.__getitem__, reverse=True)
                file.writelines(f"q{topic} Q0 d{number} {rank} {scores[number]:.6f} bench\n"
                                for rank, number in enumerate(order, 1))


def by_ranx(qrels, runs):
    from ranx import Qrels, Run, compare

    start = time.perf_counter()
    loaded = [Run.from_file(run, kind="trec", name=Path(run).stem) for run in runs]
    report = compare(Qrels.from_file(qrels, kind="trec"), loaded, ["ndcg@10", "map"], stat_test="fisher")
    print(time.perf_counter() - start, file=sys.stderr)
    for run in runs:
        scores = report.results[Path(run).stem]
        print(f"{scores['ndcg@10']:.4f} {scores['map']:.4f}")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "make":
        make(int(rest[0]), int(rest[1]), Path(rest[2]))
    else:
        by_ranx(rest[0], rest[1:])
