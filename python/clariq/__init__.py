"""Baselines for conversational search, from Python.

The package runs the command ``clariq``: ``$CLARIQ``, the one installed beside Python, or the first
on the PATH. Unless ``data`` names a folder, functions use the collection in ``data/clariq`` if it
exists, and otherwise a small built-in sample.

Examples:
    >>> import clariq
    >>> answers = clariq.rank(["How do I pitch a tent?"], system="bm25", depth=3)
    >>> len(answers[0].ranking)
    3
"""

import sys as _sys

if _sys.version_info < (3, 9):
    raise ImportError("clariq needs Python 3.9 or later, and this is %d.%d" % _sys.version_info[:2])

from importlib import metadata as _metadata

from ._answer import Answer, Answers, Hit, Request, Response
from ._command import ClariqError, ProcessDied, find_command, run_command
from ._compare import Compared, Comparison, Runs, assert_not_worse, compare, report
from ._documents import Document
from ._evaluate import Scored, Scores, evaluate
from ._ranker import Ranker, rank
from ._run import run
from ._train import Trained, train
from ._tune import Tuned, explain, tune, validate

try:
    __version__ = _metadata.version("clariq")
except _metadata.PackageNotFoundError:  # run from a clone
    __version__ = "0+source"

__all__ = [
    "Answer",
    "Answers",
    "ClariqError",
    "Compared",
    "Comparison",
    "Document",
    "Hit",
    "ProcessDied",
    "Ranker",
    "Request",
    "Response",
    "Runs",
    "Scored",
    "Scores",
    "Trained",
    "Tuned",
    "__version__",
    "assert_not_worse",
    "compare",
    "evaluate",
    "explain",
    "find_command",
    "rank",
    "report",
    "run",
    "run_command",
    "train",
    "tune",
    "validate",
]
