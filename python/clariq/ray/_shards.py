"""A run over the shards of a plan, a task for each shard."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, List, Mapping, Optional, Sequence

import ray

from .._command import ClariqError
from . import _cluster, _node
from ._files import Folder, Missing

PLAN = "plan.json"


@dataclass(frozen=True)
class Result:
    """The result of :func:`run`.

    Attributes:
        url: The run; its record is beside it, ``<run>.json``.
        made: The number of parts that were computed.
        found: The number of parts that were already complete.
        nodes: The number of nodes that worked on it.
    """

    url: str
    made: int
    found: int
    nodes: int


def run(
    system: "os.PathLike[str] | str",
    plan: "os.PathLike[str] | str",
    out: "os.PathLike[str] | str",
    *,
    cpus: float = 1,
    gpus: float = 0,
    retries: int = 3,
    data: "os.PathLike[str] | str | None" = None,
    arguments: Sequence[str] = (),
    storage: Optional[Mapping[str, Any]] = None,
    progress: bool = True,
) -> Result:
    """Ranks every shard of a plan of ``clariq data shard`` on a Ray cluster and merges the parts.
    The result has the bytes of ``clariq run`` over the whole file.

    The parts are in the folder ``<out>.parts``, with the plan. A part is complete if its record is
    there and the checksums match. Complete parts are never computed again, so that after any
    interruption the same call continues. The folder is kept; remove it when the run is complete.

    Args:
        system: The name of a built-in system, or a TOML file on this machine. Paths in the file
            must be absolute and exist on every node.
        plan: The path or URL of ``plan.json``, with the shards beside it.
        out: The path or URL of the run.
        cpus: Processor cores per task; the command uses as many threads.
        gpus: GPUs per task; with any, learned models run on one.
        retries: How often a task is retried if its worker or node dies.
        data: The folder of the collection, on every node. The default is ``data/clariq`` in the
            current folder if it exists, and otherwise the built-in sample.
        arguments: Further arguments of the command, for example ``["--set", "bm25.k1=1.2"]``.
        storage: Options of fsspec's file system for ``plan`` and ``out``.
        progress: Whether progress is shown on standard error.

    Returns:
        The location of the run, and how many parts were computed.

    Raises:
        ClariqError: If the plan, a shard, the system or the data is refused. The message names the
            shard and the node.
        clariq.ray.Unreachable: If files cannot be read or written.
    """
    options = _cluster.options(cpus, gpus, retries)
    system = os.fspath(system)
    config = _cluster.text_of(system)
    source, plan_name = Folder.around(plan, storage or {})
    target, run_name = Folder.around(out, storage or {})
    text = source.read(plan_name)
    shards = _shards_of(text, f"{source.url}/{plan_name}")
    for name in (run_name, f"{run_name}.json"):
        if source == target and name in {plan_name, *shards}:
            raise _bad_out(target, name, "a file of the plan")
        if target.has_local_folder(name):
            raise _bad_out(target, name, "a folder")
    parts = target.below(f"{run_name}.parts")
    with _claimed(parts, text):
        with _cluster.connected(options):
            job = _Job(
                run=uuid.uuid4().hex,
                system=system,
                config=config,
                source=source,
                parts=parts,
                plan=ray.put(text),
                shards=shards,
                words=[*_cluster.words(cpus, gpus, data), *arguments],
            )
            task = ray.remote(**options)(_make_part)
            reference = ray.put(job)
            try:
                made = _cluster.run_tasks(
                    lambda index: task.remote(reference, index),
                    range(len(shards)),
                    lambda index: f"shard {index}",
                    "shard",
                    progress,
                )
            finally:
                _cluster.clear_nodes()
        parts.remove_unfinished({PLAN, *_files_of_parts(len(shards))})
        target.remove_unfinished({run_name, f"{run_name}.json"})
        _merge(text, parts, len(shards), target, run_name)
    count = sum(part.made for part in made)
    nodes = len({part.node for part in made})
    return Result(f"{target.url}/{run_name}", count, len(made) - count, nodes)


def _bad_out(target: Folder, name: str, found: str) -> ClariqError:
    expected = "expected: a file of its own for the run, and one for its record"
    return ClariqError(2, f"{target.url}/{name}: bad `out`\n  {expected}\n     found: {found}")


def _shards_of(text: bytes, url: str) -> List[str]:
    """The files of the shards. Everything else about a plan is checked by the command."""
    try:
        return [str(shard["file"]) for shard in json.loads(text)["shards"]]
    except (ValueError, KeyError, TypeError) as error:
        expected = "expected: a plan of `clariq data shard`"
        raise ClariqError(2, f"{url}: no plan\n  {expected}\n     found: {error!r}") from None


@contextmanager
def _claimed(parts: Folder, plan: bytes) -> Iterator[None]:
    """Writes the plan beside the parts, and refuses parts of another plan. A plan, system or
    argument that is refused before any part is made leaves nothing."""
    try:
        found = parts.read(PLAN)
    except Missing:
        found = None
    if found != plan:
        if found is not None and any(name.endswith(".run") for name in parts.names()):
            hint = "hint: choose another `out`, or remove that folder"
            raise ClariqError(2, f"{parts.url}: parts of another plan\n{hint}")
        parts.write(plan, PLAN)
    try:
        yield
    except BaseException:
        with suppress(ClariqError):
            parts.remove_if_only(PLAN)
        raise


@dataclass(frozen=True)
class _Job:
    """What all tasks of a run share."""

    run: str
    system: str
    config: Optional[str]
    source: Folder
    parts: Folder
    plan: "ray.ObjectRef[bytes]"
    shards: List[str]
    words: List[str]


@dataclass(frozen=True)
class _Part:
    made: bool
    node: str


def _part_name(index: int) -> str:
    return f"run.part-{index:05}.run"


def _files_of_parts(count: int) -> Iterator[str]:
    for index in range(count):
        yield _part_name(index)
        yield f"{_part_name(index)}.json"


def _make_part(job: _Job, index: int) -> _Part:
    """The task: makes a part, unless it is there and whole."""
    node, address = _cluster.here()
    try:
        return _Part(_make_part_here(job, index, node), node)
    except ClariqError as error:
        # `Unreachable` and `ProcessDied` keep their type: they are tried again.
        raise type(error)(error.status, f"node {address}: {error.message}") from None


def _make_part_here(job: _Job, index: int, node: str) -> bool:
    with _node.scratch() as folder:
        system = name = job.system
        if job.config is not None:
            system, name = "system.toml", str(folder / "system.toml")
            Path(name).write_text(job.config, encoding="utf-8")
        warm = ["--quiet", "rank", name, *job.words]
        _node.warm_up(job.run, node, [*warm, "--requests", "-", "--depth", "1"])
        (folder / PLAN).write_bytes(ray.get(job.plan))
        shard = job.shards[index]
        job.source.fetch(shard, folder / os.path.basename(shard), link=True)
        part, record = _part_name(index), f"{_part_name(index)}.json"
        if job.parts.fetch_if_there(record, folder / record):
            job.parts.fetch_if_there(part, folder / part)
        before = _version(folder / record)
        words = ["--quiet", "run", system, *job.words, "--shard", f"{PLAN}:{index}", "-o", part]
        # The command verifies a part that is there, and leaves it as it is if it is whole.
        _node.call(words, folder)
        if _version(folder / record) == before:
            return False
        job.parts.put(folder / part, part)
        job.parts.put(folder / record, record)
        return True


def _version(path: Path) -> "Optional[tuple[int, int]]":
    """Tells a file from another that takes its name."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def _merge(plan: bytes, parts: Folder, count: int, target: Folder, name: str) -> None:
    """Puts the parts together on this machine."""
    with _node.scratch() as folder:
        (folder / PLAN).write_bytes(plan)
        for file in _files_of_parts(count):
            parts.fetch(file, folder / file, link=True)
        merged = folder / "merged"
        merged.mkdir()
        _node.call(["--quiet", "run", "--merge", PLAN, "-o", str(merged / name)], folder)
        for file in (name, f"{name}.json"):
            target.put(merged / file, file)
