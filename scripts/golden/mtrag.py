"""The figures of 100 random runs, computed by pytrec_eval as the organisers of MTRAG do.

Runs leave requests out, answer some with nothing, tie scores, and rank passages under the id of the
request, which the organisers drop.
"""

import gzip
import json
import random

import pytrec_eval

PACKAGES = ["pytrec_eval-terrier==0.5.11"]
FOLDER = "crates/track-mtrag/tests/golden"
CUTOFFS = [1, 3, 5, 10]
KEYS = [f"ndcg_cut_{k}" for k in CUTOFFS] + [f"recall_{k}" for k in CUTOFFS]
DOMAINS = {"clapnq": 12, "cloud": 5, "govt": 8}


def make_requests():
    tasks, pools, qrels = {}, {}, {}
    for domain, count in DOMAINS.items():
        for index in range(count):
            request = f"{domain}{index:02}<::>{index % 7 + 1}"
            tasks[request] = domain
            pools[request] = [f"{domain}-p{passage}" for passage in range(25)] + [request]
            if index % 5 != 4:
                relevant = random.sample(pools[request], random.randint(1, 6))
                qrels[request] = {passage: 1 for passage in relevant}
    return tasks, pools, qrels


def make_run(pools):
    run = {}
    for request, pool in pools.items():
        if random.random() < 0.12:
            continue
        passages = random.sample(pool, random.choice([0, 1, 5, 10, 10, 10]))
        digits = random.choice([0, 1, 6])
        run[request] = {passage: round(random.uniform(0, 3), digits) for passage in passages}
    return run


def figures(run, tasks, qrels):
    rows = []
    for domain in DOMAINS:
        results = {
            request: {passage: score for passage, score in found.items() if passage != request}
            for request, found in run.items()
            if tasks[request] == domain
        }
        judged = {request: relevant for request, relevant in qrels.items() if tasks[request] == domain}
        measures = {"ndcg_cut." + ",".join(map(str, CUTOFFS)), "recall." + ",".join(map(str, CUTOFFS))}
        scores = pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(results)
        means = [round(sum(of[key] for of in scores.values()) / len(scores), 5) for key in KEYS]
        rows.append([domain, len(results), len(scores), means])
    answered = sum(row[1] for row in rows)
    weighted = [sum(row[1] * row[3][i] for row in rows) / answered for i in range(len(KEYS))]
    rows.append(["all", answered, sum(row[2] for row in rows), weighted])
    return rows


def make(folder, _):
    random.seed(51)
    tasks, pools, qrels = make_requests()
    cases = []
    for _ in range(100):
        run = make_run(pools)
        written = [[request, list(found.items())] for request, found in run.items()]
        cases.append({"run": written, "figures": figures(run, tasks, qrels)})
    relevant = [[request, list(passages)] for request, passages in qrels.items()]
    golden = {"tasks": list(tasks.items()), "qrels": relevant, "cases": cases}
    with open(folder / "scores.json.gz", "wb") as out:
        text = json.dumps(golden, separators=(",", ":")).encode()
        out.write(gzip.compress(text, mtime=0))
