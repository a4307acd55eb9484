"""The measures of ir_measures and pytrec_eval.

  graded.qrels           grades from -2 to 3; a topic without anything relevant,
                         one with negative grades only, one that no run answers
  ties.run, distinct.run runs, made up with a fixed seed: one in which most
                         scores tie, some only in single precision, and one
                         without ties; both in shuffled order, with ranks that
                         mean nothing and a topic that is not judged
  ties.tsv, distinct.tsv for each judged topic and for the mean (`all`) the
                         values of ir_measures and pytrec_eval for the run

ir_measures computes measures with several packages. What it takes from
pytrec_eval is trec_eval itself. RBP comes from cwl_eval and RR@k from the
script of MS MARCO, which break ties in other ways (by the order of lines, by
ascending id), Judged from its own code, by ascending id, and ERR and the
exponential nDCG from gdeval, which compares scores in double precision: for
these the run is handed over in trec_eval's order with scores that do not tie.
gdeval, which needs perl, prints five digits; here it prints all of them.
"""

import pkgutil
import random

import ir_measures
import numpy as np
import pytrec_eval

PACKAGES = ["ir-measures==0.4.3", "pytrec_eval-terrier==0.5.11", "cwl-eval==1.0.12"]
FOLDER = "crates/eval/tests/data/measures"

# Names as ir_measures spells them.
MEASURES = """
    R@1 R@5 R@10 R@30 R(rel=2)@5 P@1 P@5 P@10 P@30 P(rel=2)@5 P(rel=3)@10
    nDCG nDCG@1 nDCG@3 nDCG@5 nDCG@10 nDCG@100 AP AP@5 AP@10 AP(rel=2) AP(rel=2)@10
    RR RR(rel=2) RR(rel=4) Success@1 Success@5 Success(rel=3)@5
    Rprec Rprec(rel=2) Bpref Bpref(rel=2) SetP SetP(rel=2) SetR SetR(rel=2)
    SetF SetF(beta=2.0) SetF(beta=0.5,rel=2)
    P(judged_only=True)@5 R(judged_only=True)@5 nDCG(judged_only=True)@5 AP(judged_only=True)
    AP(rel=2,judged_only=True)@5 RR(judged_only=True) Success(judged_only=True)@1
    Rprec(judged_only=True) SetP(judged_only=True) SetF(judged_only=True)
""".split()
# Names that ir_measures confuses with one another, and with nDCG, in one call.
ALONE = "nDCG(gains={1:3,2:7,3:7})@5 nDCG(gains={0:1,1:0})@10 nDCG(gains={2:0,3:9},judged_only=True)".split()
# Names that ir_measures computes with packages that break ties in other ways.
UNTIED = """
    RR@1 RR@2 RR@10 RR(rel=2)@5 RBP(rel=1) RBP(rel=2,p=0.5) RBP(rel=1,p=0.95)
    Judged@1 Judged@5 Judged@10 Judged@30
    ERR@1 ERR@5 ERR@20 nDCG(dcg='exp-log2')@1 nDCG(dcg='exp-log2')@5 nDCG(dcg='exp-log2')@20
""".split()
# Names as trec_eval spells them, straight from pytrec_eval.
TREC = {
    "recall_5": "recall.5",
    "recall_20": "recall.20",
    "P_20": "P.20",
    "ndcg": "ndcg",
    "ndcg_cut_20": "ndcg_cut.20",
    "map": "map",
    "map_cut_20": "map_cut.20",
    "recip_rank": "recip_rank",
    "success_10": "success.10",
}


def make_qrels(rng, documents):
    """(topic, document, grade)"""
    lines = []
    for topic in map(str, range(1, 13)):
        grades = [-2, -1, 0, 0, 0, 1, 1, 2, 3]
        if topic == "4":
            grades = [0]
        elif topic == "5":
            grades = [-1, -2]
        elif topic == "6":
            grades = [2, 3]
        for document in rng.sample(documents, rng.randint(6, 20)):
            lines.append((topic, document, rng.choice(grades)))
    lines.append(("13", documents[0], 1))
    return lines


def make_run(rng, documents, tied):
    """(topic, document, score as text)"""
    lines = []
    for topic in [*map(str, range(1, 11)), "99"]:
        chosen = rng.sample(documents, 3 if topic == "7" else rng.randint(15, 30))
        if tied:
            scores = ["1", "1.0", "1.00000001", "0.99999999", "0.5", "0", "-0.0", "-3.5", "16777216", "16777217", "2e-3"]
            scores = [rng.choice(scores) for _ in chosen]
        else:
            scores = [repr(score / 8) for score in rng.sample(range(-400, 400), len(chosen))]
        lines += [(topic, document, score) for document, score in zip(chosen, scores)]
    rng.shuffle(lines)
    return lines


def print_all_digits():
    """Has ir_measures start a gdeval that prints values as they are."""
    read = pkgutil.get_data

    def with_digits(package, name):
        content = read(package, name)
        return content.replace(b"%.5f", b"%.17g") if name.endswith("gdeval.pl") else content

    pkgutil.get_data = with_digits


def untied(run):
    """The run in trec_eval's order, with scores that do not tie."""
    topics = {}
    for topic, documents in run.items():
        order = sorted(documents.items(), key=lambda item: item[0].encode(), reverse=True)
        order.sort(key=lambda item: -np.float32(item[1]))
        topics[topic] = {document: float(len(order) - place) for place, (document, _) in enumerate(order)}
    return topics


def figures(qrels, run):
    """Name of a measure: topic or `all`: value."""
    columns = {}
    for names, given in ((MEASURES, run), *(([name], run) for name in ALONE), (UNTIED, untied(run))):
        measures = {ir_measures.parse_measure(name): name for name in names}
        result = ir_measures.calc(measures, qrels, given)
        for measure, name in measures.items():
            columns[name] = {"all": result.aggregated[measure]}
        for metric in result.per_query:
            columns[measures[metric.measure]][metric.query_id] = metric.value
    topics = pytrec_eval.RelevanceEvaluator(qrels, set(TREC.values())).evaluate(run)
    for name in TREC:
        columns[name] = {topic: topics[topic][name] if topic in topics else 0.0 for topic in qrels}
        columns[name]["all"] = sum(columns[name].values()) / len(qrels)
    return columns


def as_dict(lines, number):
    topics = {}
    for topic, document, value in lines:
        topics.setdefault(topic, {})[document] = number(value)
    return topics


def make(folder, _):
    print_all_digits()
    rng = random.Random(42)
    documents = [f"Q{number:05}" for number in rng.sample(range(4000), 30)]
    documents += ["D-9", "d10", "d9", "dé", "D10"]
    lines = make_qrels(rng, documents)
    rng.shuffle(lines)
    (folder / "graded.qrels").write_text("".join(f"{topic} 0 {document} {grade}\n" for topic, document, grade in lines))
    qrels = as_dict(lines, int)
    for name, tied in (("ties", True), ("distinct", False)):
        lines = make_run(rng, documents, tied)
        rows = (f"{topic} Q0 {document} {rng.randint(0, 50)} {score} {name}\n" for topic, document, score in lines)
        (folder / f"{name}.run").write_text("".join(rows))
        columns = figures(qrels, as_dict(lines, float))
        topics = [*sorted(qrels, key=int), "all"]
        table = ["\t".join(["topic", *columns])]
        table += ["\t".join([topic, *(repr(float(column[topic])) for column in columns.values())]) for topic in topics]
        (folder / f"{name}.tsv").write_text("\n".join(table) + "\n")
