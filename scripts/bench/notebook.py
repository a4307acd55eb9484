#!/usr/bin/env python3
"""The steps from the TSV files to a BM25 run, as one does them in Python.

Usage: notebook.py DATA OUT.run STOPWORDS.rs

Reads the question bank and dev.tsv with pandas, tokenises and stems with NLTK
3.5, ranks the bank for every request with rank_bm25 and writes the best 30 as
a run. The stop words are read from clariq's own source, as NLTK has its list
in a corpus that is installed separately. The seconds without imports go to
standard error.
"""

import re
import sys
import time
from pathlib import Path

start = time.perf_counter()

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from nltk.stem import PorterStemmer  # noqa: E402
from nltk.tokenize import word_tokenize  # noqa: E402
from rank_bm25 import BM25Okapi  # noqa: E402

imported = time.perf_counter()
DEPTH = 30


def stop_words(source):
    array = re.search(r"STOP_WORDS: \[&str; \d+\] = \[(.*?)\];", source.read_text("utf-8"), re.DOTALL)
    return set(re.findall(r'"([^"]+)"', array[1]))


def main():
    data, out = Path(sys.argv[1]), sys.argv[2]
    stops = stop_words(Path(sys.argv[3]))
    stem = PorterStemmer().stem

    def tokens(text):
        return [stem(word) for word in word_tokenize(text, preserve_line=True) if word not in stops]

    bank = pd.read_csv(data / "question_bank.tsv", sep="\t").fillna("")
    requests = pd.read_csv(data / "dev.tsv", sep="\t").drop_duplicates("topic_id")
    ids = bank["question_id"].to_numpy()
    model = BM25Okapi([tokens(text) for text in bank["question"]])
    with open(out, "w", encoding="utf-8") as file:
        for topic, request in zip(requests["topic_id"], requests["initial_request"]):
            scores = model.get_scores(tokens(request))
            for rank, best in enumerate(np.argsort(-scores)[:DEPTH]):
                file.write(f"{topic} 0 {ids[best]} {rank} {DEPTH - rank} bm25\n")


main()
print(time.perf_counter() - imported, file=sys.stderr)
