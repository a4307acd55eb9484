"""What the tests of clariq.ray share: shards, a single run, and what must not be left behind."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import clariq


class Bench:
    """Conversations of the sample, their single run by a system, and folders to work in."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.conversations = folder / "dev.jsonl"
        clariq.run_command(
            ["-q", "data", "synthesize", "--split", "dev", "-o", str(self.conversations)]
        )

    def single(self, system: str) -> bytes:
        run = self.folder / f"{system}.single.run"
        if not run.exists():
            clariq.run_command(
                ["-q", "run", system, "--conversations", str(self.conversations), "-o", str(run)]
            )
        return run.read_bytes()

    def plan(self, shards: int) -> Path:
        """The plan that cuts the conversations into so many shards, or one or two more."""
        folder = self.folder / f"shards-{shards}"
        if not folder.exists():
            whole = self._cut(10**9, folder)
            shutil.rmtree(folder)
            contexts = whole["input"]["contexts"]
            self._cut(-(-contexts // shards) if shards < 10 else contexts // shards, folder)
        assert shards <= shards_of(folder / "plan.json") <= shards + 2
        return folder / "plan.json"

    def _cut(self, contexts: int, folder: Path) -> dict:
        words = ["data", "shard", str(self.conversations), "--contexts", str(contexts)]
        clariq.run_command(["-q", *words, "-o", str(folder)])
        return json.loads((folder / "plan.json").read_text())

    def script(self, name: str, text: str) -> Path:
        """A program in the place of the command; ``$CLARIQ`` in its text is the command."""
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text.replace("$CLARIQ", clariq.find_command()))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path


def shards_of(plan: Path) -> int:
    return len(json.loads(plan.read_text())["shards"])


def check_folder(run: Path) -> None:
    """What a run leaves is its files, and nothing else."""
    shards = shards_of(Path(f"{run}.parts") / "plan.json")
    found = {path.name for path in run.parent.iterdir()}
    assert found == {run.name, f"{run.name}.json", f"{run.name}.parts"}
    parts = {path.name for path in Path(f"{run}.parts").iterdir()}
    expected = {f"run.part-{index:05}.run" for index in range(shards)}
    expected |= {f"{name}.json" for name in expected} | {"plan.json"}
    assert parts == expected


def processes_with(mark: str) -> list:
    """The processes whose environment holds a mark, zombies left out."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
                if state != "Z":
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found.append((int(entry.name), command.strip()))
        except OSError:
            pass
    return found


def wait_for(condition, what, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


class Driver:
    """A driver in a process of its own, with a mark in the environment of all that it starts."""

    def __init__(self, system: str, plan: Path, out: Path, **environment):
        self.mark = f"CLARIQ_TEST_MARK={os.urandom(8).hex()}"
        name, value = self.mark.split("=")
        words = f"{system!r}, {str(plan)!r}, {str(out)!r}, progress=False"
        text = f"import clariq.ray; clariq.ray.run({words})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", text],
            env={**os.environ, **environment, name: value},
            stderr=subprocess.PIPE,
            text=True,
        )

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def finish(self) -> None:
        _, errors = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, errors


def records(out: Path) -> int:
    return len(list(Path(f"{out}.parts").glob("*.run.json")))
