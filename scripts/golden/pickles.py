"""Small evaluation tables that pin the pickle reader to Python.

For each of two tables (`single`, whose contexts are facets, and `multi`, whose contexts
are numbers):

  TABLE.jsonl               the table that every pickle must be read as
  single.pN.python.pkl      protocols 0 to 5, Python's own numbers
  multi.pN.numpyM.pkl       float64 and int64 of numpy M
  multi.p4.ordered.pkl      of collections.OrderedDict

The numpy files are written by the numpy that is installed. As numpy 2 calls its
modules differently, make them once more by `--with numpy==1.26.4`. The committed
files are those of Python 3.11.
"""

import json
import pickle
from collections import OrderedDict

import numpy

PACKAGES = ["numpy==2.4.6"]
FOLDER = "crates/track-clariq/tests/data/pickle"
MAJOR = numpy.__version__.split(".")[0]
FIGURES = [0.1, 1 / 3, 0.0, -0.0, 1.0, 1e-300, 1.7976931348623157e308, 0.30000000000000004, 5e-324, 0.7]


def table(contexts, number, whole, mapping=dict):
    """A table whose MIN and MAX are, as in a real one, objects that are there already."""
    result = mapping()
    for at, metric in enumerate(["NDCG1", "P1", "MRR100"]):
        result[metric] = mapping()
        for place, context in enumerate(contexts):
            candidates = mapping()
            for question in range(at + place % 3 + 1):
                pick = lambda step: number(FIGURES[(7 * at + 3 * place + question * step) % len(FIGURES)])
                scores = mapping(with_answer=pick(1))
                if at > 0:
                    scores["no_answer"] = pick(2)
                candidates[f"Q{question:05}"] = scores
            order = sorted(candidates.values(), key=lambda scores: scores["with_answer"])
            # The same dictionary once more, and a new one with the same figure in it.
            candidates["MIN"] = order[0]
            candidates["MAX"] = mapping(with_answer=order[-1]["with_answer"])
            result[metric][whole(context)] = candidates
    # No candidates, no contexts.
    result["P1"][whole(contexts[0])] = mapping()
    result["empty"] = mapping()
    return result


def lines(table):
    for metric, contexts in table.items():
        for context, values in contexts.items() or [(None, {})]:
            line = {"metric": metric, "context": context, "values": values}
            yield json.dumps(line, ensure_ascii=False) + "\n"


def make(folder, _):
    facets = ["F0010", "F0009", "é 😀 \\u0041\n", "12"]
    numbers = [0, 255, 256, 65536, -1, 2**31, -(2**40), 2**62, 12]
    single, multi = table(facets, float, str), table(numbers, float, int)
    for name, plain in [("single", single), ("multi", multi)]:
        (folder / f"{name}.jsonl").write_text("".join(lines(plain)), encoding="utf-8")
    for protocol in range(6):
        (folder / f"single.p{protocol}.python.pkl").write_bytes(pickle.dumps(single, protocol))
    of_numpy = table(numbers, numpy.float64, numpy.int64)
    for protocol in (0, 2, 4):
        (folder / f"multi.p{protocol}.numpy{MAJOR}.pkl").write_bytes(pickle.dumps(of_numpy, protocol))
    ordered = table(numbers, float, int, OrderedDict)
    (folder / "multi.p4.ordered.pkl").write_bytes(pickle.dumps(ordered, 4))
