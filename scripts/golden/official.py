"""The official scorer of ClariQ.

For the dev split of data/sample:

  NAME.run, NAME.need   a run or need file, made up with a fixed seed
  NAME.out              the output of the official scorer for it

The released scorer is not part of this repository. The code below was written
for this project after its behaviour: the same calls of pandas and scikit-learn
in the same order, because they decide which of two equal scores is kept, in
which order numbers are added, and what an undefined ratio is.

Python floats are printed with the digits that `repr` gives, which all releases
since 3.1 share; the F1 scores are those of scikit-learn 1.3 and later.
"""

import io
import json
import random
import statistics
import sys
import warnings

import pandas as pd
from sklearn.metrics import f1_score, precision_score, recall_score

from environment import ROOT

PACKAGES = ["pandas==3.1.1", "scikit-learn"]
FOLDER = "crates/runner/tests/data/official"
CUTOFFS = (5, 10, 20, 30)


# The scorer.


def question_relevance(labels, run_file, out_file=None):
    """Prints mean recall, and writes that of every topic."""
    relevant = labels.groupby("topic_id")["question_id"].agg(set).to_dict()
    run = pd.read_csv(run_file, sep=" ", header=None)
    run = run.sort_values(by=[0, 4], ascending=False)
    run = run.drop_duplicates(subset=[0, 4], keep="first")
    ranked = run.groupby(0)[2].agg(list).to_dict()
    figures = {}
    for cutoff in CUTOFFS:
        figures[f"Recall{cutoff}"] = {
            topic: len(set(ranked.get(topic, [])[:cutoff]) & questions) / len(questions)
            for topic, questions in relevant.items()
        }
    for name, topics in figures.items():
        print(f"{name}: {statistics.mean(topics.values())}")
    if out_file is not None:
        json.dump(figures, out_file)


def clarification_need(labels, run_file):
    """Prints weighted precision, recall and F1."""
    truth = labels.drop_duplicates("topic_id").set_index("topic_id")["clarification_need"]
    predicted = {}
    for _, row in pd.read_csv(run_file, sep=" ", header=None).iterrows():
        predicted[row[0]] = row[1]
    labels = truth.tolist()
    answers = [predicted.get(topic, 0) for topic in truth.index]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A comma in `print` adds a space to the one that is written.
        print("Precision: ", float(precision_score(labels, answers, average="weighted")))
        print("Recall: ", float(recall_score(labels, answers, average="weighted")))
        print("F1:", float(f1_score(labels, answers, average="weighted")))


def printed(scorer, labels, path):
    out, sys.stdout = sys.stdout, io.StringIO()
    try:
        scorer(labels, path)
        return sys.stdout.getvalue()
    finally:
        sys.stdout = out


def sample_labels():
    return pd.read_csv(ROOT / "data" / "sample" / "dev.tsv", sep="\t")


# The cases.


def run_case(chance, labels, scores, topics=None, shuffle=False, repeats=0, odd=False):
    """Lines of a run: `scores` gives the text of a score for a rank."""
    bank = [f"Q{number:05}" for number in range(1, 431)]
    relevant = labels.groupby("topic_id")["question_id"].agg(list).to_dict()
    lines = []
    for topic in topics or relevant:
        own = relevant.get(topic, [])
        picked = chance.sample(own, min(len(own), 4)) + chance.sample(bank, 14)
        chance.shuffle(picked)
        picked += chance.choices(picked, k=repeats) + (["Q99999", "none"] if odd else [])
        lines += [f"{topic} 0 {question} {rank} {scores(rank)} made-up" for rank, question in enumerate(picked)]
    if shuffle:
        chance.shuffle(lines)
    return "".join(line + "\n" for line in lines)


def spelled(text, spell):
    """The lines of a file with another spelling of their fields."""
    return "".join(" ".join(spell(line.split(" "))) + "\n" for line in text.splitlines())


def cases(labels):
    """The content of every input file by name."""
    chance = random.Random(20200705)
    topics = labels["topic_id"].drop_duplicates().tolist()
    zeros = ("0", "-0.0", "0.0", "1e0", "-1")
    need = lambda pairs: "".join(f"{topic} {label}\n" for topic, label in pairs)
    files = {
        "strict.run": run_case(chance, labels, lambda rank: 20 - rank),
        "ties.run": run_case(chance, labels, lambda rank: f"{5 - rank // 4}.5", shuffle=True),
        "zeros.run": run_case(chance, labels, lambda _: chance.choice(zeros), topics[:10], shuffle=True),
        "exponents.run": run_case(chance, labels, lambda _: f"{chance.gauss(0, 1e-9):.3e}", shuffle=True),
        "odd.run": run_case(
            chance, labels, lambda _: chance.randint(-6, 9), topics[:7] + [999, 1000], True, repeats=3, odd=True
        ),
        "usual.need": need((topic, chance.choice((1, 2, 3, 4))) for topic in topics),
        "odd.need": need((chance.choice(topics + [999]), chance.choice((-1, 0, 1, 2, 3, 4, 5, 70))) for _ in range(24)),
        "one-class.need": need((topic, 3) for topic in topics[:9]),
    }
    # pandas reads numbers in any spelling, and removes quotes.
    run = run_case(chance, labels, lambda rank: 20 - rank)
    needs = need((topic, chance.choice((1, 2, 3, 4))) for topic in topics)
    quoted = lambda fields: [f'"{field}"' for field in fields]
    spellings = ("{}.0", "00{}", "+{}", "{}", '"{}"', "{}.")
    mixed = lambda fields: [chance.choice(spellings).format(fields[0]), *fields[1:]]
    for name, spell in (
        ("float-topics", lambda fields: [f"{fields[0]}.0", *fields[1:]]),
        ("padded-topics", lambda fields: [f"0{fields[0]}", *fields[1:]]),
        ("plus-topics", lambda fields: [f"+{fields[0]}", *fields[1:]]),
        ("quoted", quoted),
        ("mixed-topics", mixed),
    ):
        files[f"{name}.run"] = spelled(run, spell)
        files[f"{name}.need"] = spelled(needs, spell)
    # Whole numbers are compared as such, unless one score of the file has a fraction.
    large = run_case(chance, labels, lambda rank: 2**53 + 20 - rank, shuffle=True)
    files["large-scores.run"] = large
    files["large-scores-and-a-fraction.run"] = large + f"{topics[0]} 0 Q99999 99 0.5 made-up\n"
    return files


def make(folder, _):
    labels = sample_labels()
    for name, text in cases(labels).items():
        path = folder / name
        path.write_bytes(text.encode("ascii"))
        scorer = question_relevance if path.suffix == ".run" else clarification_need
        path.with_suffix(path.suffix + ".out").write_bytes(printed(scorer, labels, path).encode("ascii"))
        print(path.name)
