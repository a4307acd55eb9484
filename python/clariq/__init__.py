"""Baselines for conversational search, from Python.

The package drives the command ``clariq``: the one beside Python, on the PATH, or ``$CLARIQ``.

>>> import clariq
>>> answers = clariq.rank(["tell me about jaguars"], system="bm25", depth=3)
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
