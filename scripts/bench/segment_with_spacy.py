"""Cut pages into passages with spaCy, as the track's own script does.

Usage: segment_with_spacy.py DIR PAGES MODEL

Writes JSON lines, TrecWeb and hashes to DIR, and prints what was read and how
many seconds it took, without loading the model.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

import spacy

EXCLUDED = ["tok2vec", "parser", "tagger", "ner", "attribute_ruler", "lemmatizer"]


def passages_of(model, text):
    """Windows of ten sentences, five apart."""
    text = text.replace("\r", " ").replace("\n", " ").strip()[:10_000]
    sentences = [str(sentence) for sentence in model(text).sents]
    windows = []
    for start in range(0, len(sentences), 5):
        windows.append(" ".join(sentences[start : start + 10]))
        if start + 10 >= len(sentences):
            break
    return windows


def main():
    folder, pages, name = sys.argv[1:]
    model = spacy.load(name, exclude=EXCLUDED)
    model.enable_pipe("senter")
    start = time.perf_counter()
    counts = {"pages": 0, "passages": 0, "bytes": 0}
    out = Path(folder)
    with (
        open(pages, encoding="utf-8") as lines,
        open(out / "spacy.jsonl", "w", encoding="utf-8") as records,
        open(out / "spacy.trecweb", "w", encoding="utf-8") as web,
        open(out / "spacy.tsv", "w", encoding="utf-8") as hashes,
    ):
        for line in lines:
            page = json.loads(line)
            found = passages_of(model, page["Clean-Text"])
            tagged = []
            for number, passage in enumerate(found):
                record = {"id": f"{page['ClueWeb22-ID']}:{number}", "contents": passage, "url": page["URL"].strip()}
                records.write(json.dumps(record) + "\n")
                digest = hashlib.md5(passage.encode()).hexdigest()
                hashes.write(f"{page['ClueWeb22-ID']}\t{number}\t{digest}\n")
                tagged += [f"<PASSAGE id={number}>", passage, "</PASSAGE>"]
            web.write(f"<DOC>\n<DOCNO>{page['ClueWeb22-ID']}</DOCNO>\n" + "\n".join(tagged) + "</DOC>\n")
            counts["pages"] += 1
            counts["passages"] += len(found)
            counts["bytes"] += len(line.encode())
    print(json.dumps({**counts, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main()
