"""RM3 as in Anserini.

JAR is Anserini's fat jar. It indexes the question bank and the passages of the built-in samples with
Anserini, and writes for every request and utterance of them, tab-separated:
collection, id, text, the terms of BM25 + RM3's expanded query with their
weights, and its five best documents with their scores. BM25 has k1 0.9 and
b 0.4; RM3 has Anserini's defaults: 10 documents, 10 terms, weight 0.5.

The fat jar is part of the Python package pyserini, in
pyserini/resources/jars; the committed file is of anserini-1.7.1-fatjar.jar,
which needs a JDK of release 21 or later.
"""

import csv
import json
import subprocess
import tempfile
from pathlib import Path

from environment import ROOT

PACKAGES = []
FOLDER = "crates/rank/tests/data"
DATA = ROOT / "data"

# Documents as JSON lines, an empty line, then requests: id, tab, text.
PROGRAM = """
import io.anserini.index.SimpleIndexer;
import io.anserini.search.SimpleSearcher;
import java.nio.file.*;
import java.util.*;

public class Golden {
  public static void main(String[] args) throws Exception {
    var lines = Files.readAllLines(Path.of(args[0])).iterator();
    var indexer = new SimpleIndexer(new String[] {
        "-input", "", "-collection", "JsonCollection", "-index", args[1], "-storeDocvectors"});
    for (String line = lines.next(); !line.isEmpty(); line = lines.next())
      indexer.addRawDocument(line);
    indexer.close();
    var searcher = new SimpleSearcher(args[1]);
    searcher.set_bm25(0.9f, 0.4f);
    searcher.set_rm3();
    var out = new StringBuilder();
    while (lines.hasNext()) {
      String line = lines.next();
      String text = line.split("\\t")[1];
      var cells = new StringJoiner(" ", "\\t", "\\t");
      for (var term : new TreeMap<>(searcher.get_feedback_terms(text)).entrySet())
        cells.add(String.format(Locale.ROOT, "%s=%.7f", term.getKey(), term.getValue()));
      var hits = new StringJoiner(" ");
      for (var hit : searcher.search(text, 5)) hits.add(hit.docid + "=" + hit.score);
      out.append(line).append(cells).append(hits).append("\\n");
    }
    Files.writeString(Path.of(args[2]), out);
  }
}
"""


def rows(name):
    with open(DATA / "sample" / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def clariq():
    documents = [(row["question_id"], row["question"]) for row in rows("question_bank.tsv")]
    requests = {}
    for name in ("dev.tsv", "train.tsv", "test_with_labels.tsv"):
        requests |= {row["topic_id"]: row["initial_request"] for row in rows(name)}
    return [document for document in documents if document[1]], requests.items()


def ikat():
    lines = (DATA / "sample-ikat" / "passages.jsonl").read_text("utf-8").splitlines()
    passages = [json.loads(line) for line in lines]
    documents = [(f"{p['doc_id']}:{p['passage_id']}", p["passage_text"]) for p in passages]
    topics = json.loads((DATA / "sample-ikat" / "2023_test_topics.json").read_text("utf-8"))
    turns = [(f"{topic['number']}_{turn['turn_id']}", turn["utterance"])
             for topic in topics for turn in topic["turns"]]
    return documents, turns


def add_arguments(parser):
    parser.add_argument("jar", type=Path)
    parser.add_argument("--java", default="java")


def make(folder, arguments):
    golden = ""
    for name, (documents, requests) in (("clariq", clariq()), ("ikat", ikat())):
        with tempfile.TemporaryDirectory() as scratch:
            scratch = Path(scratch)
            (scratch / "Golden.java").write_text(PROGRAM, "utf-8")
            lines = [json.dumps({"id": id, "contents": text}) for id, text in documents]
            lines += ["", *(f"{id}\t{text}" for id, text in requests)]
            (scratch / "in").write_text("\n".join(lines), "utf-8")
            command = [arguments.java, "-cp", arguments.jar, scratch / "Golden.java"]
            command += [scratch / "in", scratch / "index", scratch / "out"]
            subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
            found = (scratch / "out").read_text("utf-8").splitlines()
        golden += "".join(f"{name}\t{line}\n" for line in found)
    (folder / "rm3.tsv").write_text(golden, "utf-8")
