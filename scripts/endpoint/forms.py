"""Asks a model for each form of answer on the first requests of each collection, in each format."""

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

BM25 = 'stage = "bm25"\nanalyzer = "lucene"\ndepth = 30\n'
GRADE = 'stage = "chat_rerank"\nchat = "chat"\nmethod = "pointwise"\nscore = "grade"\nquery = "last"\nwords = 60\ndepth = 2\n'
ORDER = 'stage = "chat_rerank"\nchat = "chat"\nmethod = "listwise"\nquery = "last"\nwords = 60\nmax_tokens = 60\ndepth = 4\n'
RESPONSE = "response = { sources = 2, tokens = 60 }\n"
# Form: top of a system, keys of `[answer]`, keys of `[ask]`, the stage behind BM25.
FORMS = {
    "query": ('rewrite = { chat = "chat" }\n', "", "", ""),
    "queries": ('rewrite = { chat = "chat", queries = 3, max_tokens = 120 }\n', "", "", ""),
    "question": ("", RESPONSE + 'chat = "chat"\n', 'chat = "chat"\n', ""),
    "grade": ("", "", "", GRADE),
    "order": ("", "", "", ORDER),
    # A small model may repeat itself up to the limit.
    "response": ("", RESPONSE + 'chat = "chat"\nmax_tokens = 160\n', "", ""),
}
FORMATS = ["schema", "json", "prompt"]


@dataclass
class Collection:
    """A collection: its sample, the split, its file of requests, the ending of runs, and the scores of rankings and
    of texts."""

    sample: str
    split: str
    requests: str
    ending: str
    scores: list


COLLECTIONS = {
    "clariq": Collection("sample", "dev", "dev.tsv", "run", ["Recall5"]),
    "ikat": Collection(
        "sample-ikat", "2023-test", "2023_test_topics.json", "json", ["passages nDCG@5", "response ROUGE-1"]
    ),
    "mtrag": Collection("sample-mtrag", "mtrag-un", "reference.jsonl", "jsonl", ["nDCG@5", "RougeL"]),
}


def first_requests(name, data, count, into):
    """A data folder with the first requests of a split and their labels; everything else is where it was."""
    requests, turns = COLLECTIONS[name].requests, set()
    # The labels of turns come behind the turns.
    for file in sorted(filter(Path.is_file, data.rglob("*")), key=lambda file: file.name != requests):
        target = into / file.relative_to(data)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.name == requests:
            text, turns = cut(name, file.read_text(), count)
            target.write_text(text)
        elif name == "ikat" and ("qrels" in file.name or "ptkb_rel" in file.name):
            lines = file.read_text().splitlines(keepends=True)
            # An empty file of labels is refused.
            if kept := [line for line in lines if line.split()[0] in turns]:
                target.write_text("".join(kept))
        else:
            target.symlink_to(file.resolve())
    return into


def cut(name, text, count):
    """The first requests in the text of a file, and the ids of turns, by which iKAT labels them."""
    lines, turns = text.splitlines(keepends=True), set()
    if name == "mtrag":
        return "".join(lines[:count]), turns
    if name == "clariq":
        ids = list(dict.fromkeys(line.split("\t")[0] for line in lines))[: count + 1]
        return "".join(line for line in lines if line.split("\t")[0] in ids), turns
    topics = json.loads(text)
    for topic in topics:
        topic["turns"] = topic["turns"][: count - len(turns)]
        turns |= {f"{topic['number']}_{turn['turn_id']}" for turn in topic["turns"]}
    return json.dumps([topic for topic in topics if topic["turns"]]), turns


def system(form, collection):
    """The system that asks for a form, once for each request or for each of its first documents."""
    top, answer, ask, stage = FORMS[form]
    text = f'name = "{form}"\nuses = ["language-model"]\n{top}'
    text += '[models.chat]\nkind = "chat"\nurl = "http://localhost:8080/v1"\nmodel = "default"\n'
    if collection == "clariq":
        stages = "[[stages]]\n"
    else:
        stages = "[[tasks.passages.stages]]\n"
        answer = f'[answer]\nclass = "automatic"\n{answer}'
        if collection == "ikat":
            text += f"[[tasks.statements.stages]]\n{BM25}pad = true\n"
            answer += "statements = { most = 1, least = 0.0, gap = 0.0 }\n"
        text += answer
        # Every turn is asked back: no score of BM25 is as high.
        ask = ask and f"{ask}score_below = 1e6\n"
    text += f"[ask]\n{ask}" if ask else ""
    return text + stages + BM25 + (stages + stage if stage else "")


def print_table(clariq, url, folders, count, folder):
    """Prints a row for each form, collection and format. `clariq` runs the program without earlier completions."""
    print("| form | collection | format | read | scores | seconds |\n|---|---|---|--:|---|--:|", flush=True)
    for name, data in folders.items():
        data = first_requests(name, data, count, folder / name)
        for format in FORMATS:
            for form in FORMS:
                # ClariQ has no responses.
                if (name, form) != ("clariq", "response"):
                    cells = measured(clariq, url, form, format, name, data, folder)
                    print("|", " | ".join([form, name, format, *cells]), "|", flush=True)


def measured(clariq, url, form, format, name, data, folder):
    """The answers of the system of a form that were read, its scores, and the seconds of its run."""
    collection = COLLECTIONS[name]
    system_file, run = folder / f"{form}.toml", folder / f"{form}.{collection.ending}"
    system_file.write_text(system(form, name))
    keys = {"url": url, "format": format, "concurrency": 1, "timeout": 600, "unread": 1.0}
    line = ["run", system_file, "--data", data, "--split", collection.split, "--no-progress", "-o", run]
    for key, value in keys.items():
        line += ["--set", f"models.chat.{key}={value}"]
    began = time.time()
    notes = clariq(line).stderr
    seconds = time.time() - began
    unread = re.search(r"(\d+) of (\d+) answers", notes)
    read = f"{int(unread[2]) - int(unread[1])} of {unread[2]}" if unread else "all"
    line = ["eval", run, "--data", data, "--split", collection.split, "--format", "json"]
    scores = dict(values_of(json.loads(clariq(line).stdout)))
    shown = [f"{score} {scores[score]:.3f}" for score in collection.scores if score in scores]
    return read, ", ".join(shown), f"{seconds:.0f}"


def values_of(scores):
    """The scores of a file: a list of measures, or of MTRAG a list of domains for rankings and one for texts."""
    if isinstance(scores, list):
        return [(score["measure"], score["value"]) for score in scores]
    return [pair for rows in scores.values() for pair in rows[-1].items()]
