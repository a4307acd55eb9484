#!/usr/bin/env python3
"""Rank the requests of a token dump with a Python peer, and print how fast.

Usage: peers.py PEER TOKENS SECONDS [HITS]

PEER is rank_bm25, bm25s-numpy or bm25s-numba. TOKENS is what the example
`throughput --dump-tokens` wrote: JSON lines, first the questions, then the
requests. Each peer indexes the questions, ranks all requests once to warm up
(bm25s-numba compiles then), and then over and over for at least SECONDS, on
one thread. The fastest of each peer's documented ways is taken: bm25s gets
all requests as one batch, both as token numbers and as strings, and the
faster of the two counts. Prints one line of JSON.

HITS is a file of `throughput --dump-hits`. With it, every ranking of
rank_bm25 is compared with that of clariq: the same scores, to 1e-9.
"""

import json
import os
import sys
import time

for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[name + "_NUM_THREADS"] = "1"
os.environ["DISABLE_TQDM"] = "1"

import numpy as np  # noqa: E402 (the threads are set first)

# The number of questions to rank.
DEPTH = int(os.environ.get("DEPTH", "30"))


def read(path):
    questions, requests = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if "question" in row:
                questions.append(row["question"])
            else:
                requests.append(row["request"])
    return questions, requests


def rank_bm25(questions, requests):
    from rank_bm25 import BM25Okapi

    model = BM25Okapi(questions)

    def rank_all():
        for tokens in requests:
            scores = model.get_scores(tokens)
            best = np.argpartition(scores, -DEPTH)[-DEPTH:]
            best[np.argsort(-scores[best])]

    return {"strings": rank_all}, model


def bm25s(questions, requests, backend):
    import bm25s as package

    # `robertson` is Okapi's idf, with a floor where it would be negative.
    model = package.BM25(k1=1.5, b=0.75, method="robertson", backend=backend)
    model.index(questions, show_progress=False)
    numbers = [[model.vocab_dict[token] for token in tokens if token in model.vocab_dict] for tokens in requests]

    def rank(batch):
        return lambda: model.retrieve(batch, k=DEPTH, show_progress=False, n_threads=0)

    return {"numbers": rank(numbers), "strings": rank(requests)}, model


def queries_per_second(rank_all, requests, seconds):
    rank_all()
    passes, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        rank_all()
        passes += 1
    return passes * requests / spent


def agreement(model, requests, path):
    """The number of clariq's rankings that have the scores of rank_bm25's best."""
    same = 0
    with open(path, encoding="utf-8") as file:
        for tokens, line in zip(requests, file):
            scores = model.get_scores(tokens)
            hits = json.loads(line)
            own = np.array([score for _, score in hits])
            best = np.sort(scores)[::-1][:DEPTH]
            theirs = scores[[question for question, _ in hits]]
            same += np.allclose(own, best, 0, 1e-9) and np.allclose(own, theirs, 0, 1e-9)
    return same


def main():
    peer, tokens, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    questions, requests = read(tokens)
    if peer == "rank_bm25":
        ways, model = rank_bm25(questions, requests)
    else:
        ways, model = bm25s(questions, requests, peer.removeprefix("bm25s-"))
    speeds = {way: queries_per_second(rank_all, len(requests), seconds) for way, rank_all in ways.items()}
    report = {"peer": peer, "queries_per_second": max(speeds.values()), "ways": speeds}
    if len(sys.argv) > 4:
        report["agree"] = agreement(model, requests, sys.argv[4])
    print(json.dumps(report))


if __name__ == "__main__":
    main()
