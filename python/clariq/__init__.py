"""Baselines for conversational search, from Python.

The package runs the command ``clariq``: ``$CLARIQ``, the one installed beside Python, or the first
on the PATH. Unless ``data`` names a folder, functions use the collection in ``data/clariq`` if it
exists, and otherwise a small built-in sample.

>>> import clariq
>>> answers = clariq.rank(["How do I pitch a tent?"], system="bm25", depth=3)
>>> len(answers[0].ranking)
3
"""

from importlib import metadata as _metadata

from ._answer import Answer, Hit, Response
from ._command import ClariqError, ProcessDied, find_command, run_command
from ._evaluate import evaluate
from ._session import Session, rank

try:
    __version__ = _metadata.version("clariq")
except _metadata.PackageNotFoundError:  # run from a clone
    __version__ = "0+source"

__all__ = [
    "Answer",
    "ClariqError",
    "Hit",
    "ProcessDied",
    "Response",
    "Session",
    "__version__",
    "evaluate",
    "find_command",
    "rank",
    "run_command",
]
