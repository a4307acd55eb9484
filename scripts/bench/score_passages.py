"""Score a TREC run against graded judgements with pytrec_eval.

Usage: score_passages.py QRELS RUN MEASURE...

Prints a line per measure, its mean over the judged topics. QRELS may be gzip.
"""

import gzip
import sys

import pytrec_eval


def opened(path):
    return gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")


def main():
    qrels_path, run_path, *measures = sys.argv[1:]
    with opened(qrels_path) as file:
        qrels = pytrec_eval.parse_qrel(file)
    with opened(run_path) as file:
        run = pytrec_eval.parse_run(file)
    scored = pytrec_eval.RelevanceEvaluator(qrels, set(measures)).evaluate(run)
    for measure in measures:
        key = measure.replace(".", "_")
        print(measure, sum(topic[key] for topic in scored.values()) / len(scored))


if __name__ == "__main__":
    main()
