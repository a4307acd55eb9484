"""tantivy-py's side of `scripts/bench-index`: indexes the passages of FOLDER, searches the requests,
and prints time and memory of each step as a line of JSON.

Usage: index_tantivy.py FOLDER THREADS MEMORY REQUESTS
"""

import json
import os
import resource
import shutil
import sys
import time
from pathlib import Path

import tantivy


def report(step, start, **figures):
    wall, processor = start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({"step": step, "seconds": time.time() - wall,
                      "processor_seconds": time.process_time() - processor, "peak_mib": peak, **figures}), flush=True)


def now():
    return time.time(), time.process_time()


def build(passages, folder, threads, memory):
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("text", stored=True, tokenizer_name="whitespace", index_option="freq")
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(heap_size=memory, num_threads=threads)
    with passages.open(encoding="utf-8") as lines:
        for line in lines:
            key, text = line.rstrip("\n").split("\t")
            writer.add_document(tantivy.Document(id=key, text=text))
    writer.commit()
    writer.wait_merging_threads()
    return index


def search(index, requests, depth):
    index.reload()
    searcher = index.searcher()
    start = time.thread_time()
    found = []
    for words in requests:
        query = index.parse_query(words, ["text"])
        found.append((words, searcher.search(query, depth, count=False).hits))
    ranking = time.thread_time() - start
    start = time.thread_time()
    for words, hits in found:
        for _, address in hits[:30]:
            document = searcher.doc(address)
            assert document["id"] and set(words.split()) & set(document["text"][0].split())
    return ranking, time.thread_time() - start


def main():
    folder, threads, memory, count = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    place = folder / "tantivy"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    start = now()
    index = build(folder / "passages.tsv", place, threads, memory)
    size = sum(file.stat().st_size for file in os.scandir(place))
    report("build", start, bytes=size)
    for kind in ["content", "any"]:
        requests = (folder / f"{kind}.txt").read_text(encoding="utf-8").splitlines()[:count]
        for depth in [30, 1000]:
            start = now()
            ranking, reading = search(index, requests, depth)
            report("search", start, words=kind, depth=depth, queries_per_second=len(requests) / ranking,
                   with_texts=len(requests) / (ranking + reading))


main()
