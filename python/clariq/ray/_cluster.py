"""Tasks on a cluster: connection, submission, errors, progress."""

from __future__ import annotations

import logging
import math
import os
import socket
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import urlsplit

import ray
import ray.exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .._command import ClariqError, ProcessDied
from . import _node
from ._files import Unreachable

MOST_SUBMITTED = 1000
"""Tasks that wait in Ray at a time: more would cost the driver memory and gain nothing."""

_STORE = 80 << 20  # Files do not pass through Ray's store; this is near the least it accepts.

_SECONDS_TO_CONNECT = 10


@contextmanager
def connected(options: Mapping[str, Any]) -> Iterator[None]:
    """Uses the cluster that the driver or ``$RAY_ADDRESS`` names, or one that runs on this machine;
    if there is none, starts Ray on this machine until the block ends.

    Raises:
        ClariqError: If ``$RAY_ADDRESS`` cannot be reached, or this machine is too small for a task
            with these options.
    """
    if ray.is_initialized():
        _check_nodes(options, may_grow=True)
        yield
        return
    started = _connect()
    try:
        _check_nodes(options, may_grow=not started)
        yield
    finally:
        ray.shutdown()


def _connect() -> bool:
    """Connects to a cluster; whether Ray had to be started on this machine for it."""
    quiet: Dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    address = os.environ.get("RAY_ADDRESS")
    if address:
        try:
            _check_address(address)
            ray.init(address="auto", **quiet)
        except (OSError, RuntimeError, ValueError) as error:
            hint = "hint: set RAY_ADDRESS to a cluster that runs, or unset it to use this machine"
            raise ClariqError(2, f"{address}: no connection to Ray: {error}\n{hint}") from None
        return False
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        ray.init(address="local", include_dashboard=False, object_store_memory=_STORE, **quiet)
        return True
    return False


def _check_address(address: str) -> None:
    """Fails where nothing listens; Ray itself would try for a quarter of an hour."""
    url = urlsplit(f"//{address.rpartition('://')[2]}")
    if url.hostname and url.port:
        socket.create_connection((url.hostname, url.port), _SECONDS_TO_CONNECT).close()


def _check_nodes(options: Mapping[str, Any], may_grow: bool) -> None:
    """Refuses a task that is too large for every node; a cluster that may grow gets a warning."""
    wanted = (options["num_cpus"], options["num_gpus"])
    listed: List[Dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    resources = [node["Resources"] for node in listed if node["Alive"]]
    nodes = {(node.get("CPU", 0), node.get("GPU", 0)) for node in resources}
    if any(cpus >= wanted[0] and gpus >= wanted[1] for cpus, gpus in nodes):
        return
    expected = "a node with {:g} CPUs and {:g} GPUs for a task".format(*wanted)
    found = ", ".join(sorted("{:g} CPUs and {:g} GPUs".format(*node) for node in nodes)) or "none"
    if may_grow:
        print(f"clariq: waiting for {expected}; the nodes have: {found}", file=sys.stderr)
        return
    hint = "hint: lower `cpus` or `gpus`, or set RAY_ADDRESS to a cluster with such nodes"
    message = f"a task is too large\n  expected: {expected}\n     found: {found}\n{hint}"
    raise ClariqError(2, message)


def options(cpus: float, gpus: float, retries: int) -> Dict[str, Any]:
    """What a task needs, and how often it is tried again: where its worker or node died, where the
    command was killed, and where files could not be reached. Bad input is not tried again."""
    if not isinstance(retries, int) or retries < 0:
        raise ValueError(f"retries must be a whole number of at least 0, not {retries}")
    if not (0 < cpus < math.inf and 0 <= gpus < math.inf):
        raise ValueError(f"a task needs cpus above 0 and gpus of at least 0, not {cpus}, {gpus}")
    return {
        "num_cpus": cpus,
        "num_gpus": gpus,
        "max_retries": retries,
        "retry_exceptions": [ProcessDied, Unreachable],
    }


def words(cpus: float, gpus: float, data: "os.PathLike[str] | str | None") -> List[str]:
    """Arguments that every command of a task has. Tasks run in folders of their own, so that the
    data that the command would find here are named."""
    words = ["--threads", str(max(1, int(cpus)))]
    if data is None and Path("data/clariq").is_dir():
        data = "data/clariq"
    if data is not None:
        words += ["--data", os.path.abspath(data)]
    if gpus > 0:
        # Ray shows a task its own GPUs alone.
        words += ["--device", "cuda:0"]
    return words


def text_of(name: str) -> Optional[str]:
    """The text of a system or recipe that is a file, because nodes do not have the file."""
    if not name.endswith(".toml"):
        return None
    try:
        return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ClariqError(2, f"{name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ClariqError(2, f"{name}: {error}") from None


def run_tasks(
    submit: Callable[[Any], "ray.ObjectRef[Any]"],
    items: Sequence[Any],
    name: Callable[[Any], str],
    what: str,
    progress: bool,
) -> List[Any]:
    """Submits a task for every item; their results, in the order of the items.

    The first task that fails for good ends the others.

    Raises:
        ClariqError: What the task failed with, and which task it was.
    """
    results: List[Any] = [None] * len(items)
    waiting: Dict[Any, int] = {}
    left = list(range(len(items)))[::-1]
    shown = _progress(what, len(items), progress)
    try:
        while left or waiting:
            while left and len(waiting) < MOST_SUBMITTED:
                index = left.pop()
                waiting[submit(items[index])] = index
            done, _ = ray.wait(list(waiting), num_returns=1)
            for reference in done:
                index = waiting.pop(reference)
                results[index] = _result(reference, name(items[index]))
                shown.update(1)
    finally:
        shown.close()
        _end(list(waiting))
    return results


def _result(reference: Any, name: str) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, ClariqError):
            raise type(cause)(cause.status, f"{name}: {cause.message}") from None
        raise ClariqError(2, f"{name}: {error}") from None
    except ray.exceptions.RayError as error:
        hint = "hint: what is finished stays; the same call continues"
        raise ClariqError(2, f"{name}: {error}\n{hint}") from None


def _end(references: List[Any]) -> None:
    """Ends tasks with their processes; a worker that is gone took the command with it."""
    for reference in references:
        ray.cancel(reference, force=True)
    if references:
        ray.wait(references, num_returns=len(references), timeout=10)


def clear_nodes() -> None:
    """Removes what killed tasks left on the nodes, and the marks of warm-ups."""
    listed: List[Dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    nodes = [node["NodeID"] for node in listed if node["Alive"]]
    clear = ray.remote(num_cpus=0, max_retries=0)(_node.clear)
    pinned = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
    for reference in [clear.options(scheduling_strategy=pin).remote() for pin in pinned]:
        try:
            ray.get(reference, timeout=60)
        except ray.exceptions.RayError:
            pass  # a node that has just gone has nothing that could be cleared


def here() -> Tuple[str, str]:
    """The node that a task runs on: its id, and its address."""
    address = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    return ray.get_runtime_context().get_node_id()[:12], str(address)


def _progress(what: str, total: int, wanted: bool) -> Any:
    if not wanted:
        return _Silent()
    try:
        from tqdm import tqdm
    except ImportError:
        return _Lines(what, total)
    return tqdm(total=total, unit=what, file=sys.stderr, dynamic_ncols=True)


class _Silent:
    def update(self, count: int) -> None:
        """Shows nothing."""

    def close(self) -> None:
        """Shows nothing."""


class _Lines:
    """Progress without tqdm: a line now and then."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._done, self._said = what, total, 0, 0.0

    def update(self, count: int) -> None:
        """Counts, and says so at most once in five seconds."""
        self._done += count
        if time.monotonic() - self._said > 5 or self._done == self._total:
            self._said = time.monotonic()
            print(f"clariq: {self._done} of {self._total} {self._what}s", file=sys.stderr)

    def close(self) -> None:
        """Shows nothing more."""
