"""Shards of a large file on a Ray cluster. Needs ``pip install clariq[ray]``.

``clariq data shard`` cuts a file of requests into parts, ``clariq run --shard`` answers one, and
``clariq run --merge`` puts them together; :func:`run` does the last two with one Ray task a part.
Whatever happens in between, the merged run has the bytes of a run on one machine.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import posixpath
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

import fsspec
import ray

from ._command import ClariqError, data_arguments, find_command, run_command


def run(
    system: str,
    plan: str,
    out: str,
    *,
    cpus: float = 1,
    gpus: float = 0,
    retries: int = 3,
    data: Optional[str] = None,
    progress: bool = True,
) -> str:
    """Answers every part of a plan and merges the parts.

    A part that is there and whole is never made again, so that a run that was interrupted goes
    on where it was. Two tasks that write the same part write the same bytes.

    Args:
        system: The name of a built-in system, or a TOML file that every node can read.
        plan: ``plan.json`` as ``clariq data shard`` writes it: a path or a URL of fsspec.
        out: Where the merged run goes: a path or a URL. The parts stay in ``<out>.parts/``.
        cpus: Processors of a task; the command uses as many threads.
        gpus: Accelerators of a task. Above 0, learned models run on ``cuda:0``.
        retries: How often a task is tried again after its worker or node died.
        data: The folder of the collection on every node; the built-in sample by default.
        progress: Whether finished parts are counted on standard error.

    Returns:
        ``out``.

    Raises:
        ClariqError: If the command refuses the system, the plan, a part or the data.
        FileNotFoundError: If the plan is not there.
    """
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    described = json.loads(_read(plan).decode("utf-8"))
    count = len(described["parts"])
    task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=retries)(_answer_part)
    job = {
        "system": system,
        "plan": plan,
        "parts": f"{out}.parts",
        "data": data,
        "threads": max(1, int(cpus)),
        "device": "cuda:0" if gpus > 0 else "cpu",
    }
    waiting = [task.remote(job, index) for index in range(count)]
    done = 0
    while waiting:
        ready, waiting = ray.wait(waiting, num_returns=1)
        try:
            ray.get(ready)
        except ray.exceptions.RayTaskError as error:
            for other in waiting:
                ray.cancel(other)
            raise error.as_instanceof_cause() from None
        done += len(ready)
        if progress:
            print(f"\r{done} of {count} parts", end="", file=sys.stderr, flush=True)
    if progress:
        print(file=sys.stderr)
    _merge(plan, f"{out}.parts", out)
    return out


def _answer_part(job: Dict[str, Any], index: int) -> None:
    """Answers one part, unless it is there already. Runs on a worker."""
    run_url = posixpath.join(job["parts"], _part_name(index))
    if _is_whole(run_url):
        return
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        plan = _fetch_plan(job["plan"], [index], Path(folder))
        output = Path(folder) / _part_name(index)
        words = [find_command(), "--quiet", "run", job["system"], "--shard", f"{plan}:{index}"]
        words += ["-o", str(output), "--threads", str(job["threads"]), "--device", job["device"]]
        words += data_arguments(job["data"])
        with _warm_node(words):
            pass
        _run_child(words)
        # The record goes last: it is the mark that the part is whole.
        _write(run_url, output.read_bytes())
        _write(f"{run_url}.json", Path(f"{output}.json").read_bytes())


def _part_name(index: int) -> str:
    return f"part-{index:05}.run"


def _run_child(words: List[str]) -> None:
    """Runs the command so that it ends with this worker, however that ends."""
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, preexec_fn=_die_with_parent
    )
    if done.returncode != 0:
        raise ClariqError(done.returncode, done.stderr.strip())


def _die_with_parent() -> None:
    """Linux sends this process SIGKILL when its parent dies (``prctl(PR_SET_PDEATHSIG)``)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)


@contextlib.contextmanager
def _warm_node(words: List[str]) -> Iterator[None]:
    """Lets the first task of a node build the index and open the models; the others wait."""
    key = hashlib.sha256("\0".join(words[2:4]).encode()).hexdigest()[:16]
    mark = Path(tempfile.gettempdir()) / f"clariq-{os.getuid()}-warm-{key}"
    with open(mark, "a+", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        node = ray.get_runtime_context().get_node_id()
        if lock.read() != node:
            system = words[words.index("run") + 1]
            extra = words[words.index("--data") :] if "--data" in words else []
            run_command(["--quiet", "rank", system, "--requests", "-", *extra])
            lock.seek(0)
            lock.truncate()
            lock.write(node)
            lock.flush()
    yield


def _fetch_plan(plan: str, indices: List[int], folder: Path) -> Path:
    """Copies a plan and some of its parts into a folder of this machine."""
    content = _read(plan)
    target = folder / "plan.json"
    target.write_bytes(content)
    for index in indices:
        name = json.loads(content)["parts"][index]["file"]
        (folder / name).write_bytes(_read(posixpath.join(posixpath.dirname(plan), name)))
    return target


def _is_whole(run_url: str) -> bool:
    """Whether a part is there with the checksum that its record states."""
    try:
        record = json.loads(_read(f"{run_url}.json"))
        content = _read(run_url)
    except (FileNotFoundError, ValueError):
        return False
    return hashlib.sha256(content).hexdigest() == record.get("run", {}).get("sha256")


def _merge(plan: str, parts: str, out: str) -> None:
    with tempfile.TemporaryDirectory(prefix="clariq-") as folder:
        local = _fetch_plan(plan, [], Path(folder))
        count = len(json.loads(local.read_bytes())["parts"])
        for index in range(count):
            for name in (_part_name(index), f"{_part_name(index)}.json"):
                (Path(folder) / name).write_bytes(_read(posixpath.join(parts, name)))
        merged = Path(folder) / "merged.run"
        run_command(["--quiet", "run", "--merge", str(local), "-o", str(merged)])
        _write(out, merged.read_bytes())
        _write(f"{out}.json", Path(f"{merged}.json").read_bytes())


def _read(url: str) -> bytes:
    with fsspec.open(url, "rb") as file:
        content: bytes = file.read()
    return content


def _write(url: str, content: bytes) -> None:
    """Writes a file in one step: object stores do so anyway, a local file is renamed."""
    system, path = fsspec.core.url_to_fs(url)
    if not isinstance(system, fsspec.implementations.local.LocalFileSystem):
        system.pipe_file(path, content)
        return
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".clariq-", delete=False) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, target)
