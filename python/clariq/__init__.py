"""Baselines for conversational search, from Python.

The package drives the command ``clariq``: the one beside Python, on the PATH, or ``$CLARIQ``.

>>> import clariq
>>> answers = clariq.rank(["tell me about jaguars"], system="bm25", depth=3)
>>> len(answers[0].ranking)
3
"""

from ._answer import Answer, Hit
from ._command import ClariqError, ProcessDied, find_command, run_command
from ._evaluate import evaluate
from ._session import Session, rank

__all__ = [
    "Answer",
    "ClariqError",
    "Hit",
    "ProcessDied",
    "Session",
    "evaluate",
    "find_command",
    "rank",
    "run_command",
]
