"""PISA's side of `scripts/bench-index`: indexes the passages of FOLDER, searches the requests, and
prints time and memory of each step as a line of JSON. PISA keeps no texts, and its figures include those of
the data frames in which PyTerrier gives and takes requests and hits.

Usage: index_pisa.py FOLDER THREADS REQUESTS
"""

import json
import os
import resource
import shutil
import sys
import time
from pathlib import Path

import pandas
from pyterrier_pisa import PisaIndex


def passages(path):
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            key, text = line.rstrip("\n").split("\t")
            yield {"docno": key, "text": text}


def main():
    folder, threads, count = Path(sys.argv[1]), *map(int, sys.argv[2:4])
    place = folder / "pisa"
    shutil.rmtree(place, ignore_errors=True)
    wall, processor = time.time(), time.process_time()
    index = PisaIndex(str(place), stemmer="none", stops="none", threads=threads)
    index.index(passages(folder / "passages.tsv"))
    # The postings are encoded at the first search.
    index.bm25(k1=1.2, b=0.75, num_results=1, threads=1).search("w1")
    wall, processor = time.time() - wall, time.process_time() - processor
    size = sum(file.stat().st_size for file in os.scandir(place))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({"step": "build", "seconds": wall, "processor_seconds": processor, "peak_mib": peak,
                      "bytes": size}), flush=True)
    for kind in ["content", "any"]:
        requests = (folder / f"{kind}.txt").read_text(encoding="utf-8").splitlines()[:count]
        frame = pandas.DataFrame({"qid": [str(number) for number in range(len(requests))], "query": requests})
        for depth in [30, 1000]:
            ranker = index.bm25(k1=1.2, b=0.75, num_results=depth, threads=1)
            start = time.process_time()
            assert len(ranker.transform(frame)) > 0
            spent = time.process_time() - start
            print(json.dumps({"step": "search", "words": kind, "depth": depth,
                              "queries_per_second": len(requests) / spent}), flush=True)


main()
