"""What the benchmarks share: programs and environments, measurements in turns, and a report in Markdown."""

import datetime
import json
import os
import platform
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from environment import NAME, ROOT, output, say

HELPERS = ROOT / "scripts" / "bench"


# Programs.


def build(*arguments):
    """Builds for release, and returns the folder of the programs."""
    say("building the release binaries")
    output(["cargo", "build", "--release", "--locked", "--quiet", *arguments], cwd=ROOT)
    metadata = json.loads(output(["cargo", "metadata", "--format-version=1", "--no-deps"], cwd=ROOT))
    return Path(metadata["target_directory"]) / "release"


def one_core():
    """The prefix that keeps a command on one core, always the same."""
    if not shutil.which("taskset"):
        return []
    return ["taskset", "--cpu-list", str(max(os.sched_getaffinity(0)))]


# Measurements.


class Measured(NamedTuple):
    seconds: float
    processor_seconds: float
    peak_mb: float
    printed: str
    errors: str


def measured(command, lines=(), **options):
    """A command, which must succeed, on lines of standard input."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as texts, tempfile.TemporaryFile("w+") as errors:
        texts.writelines(f"{line}\n" for line in lines)
        texts.seek(0)
        start = time.perf_counter()
        child = subprocess.Popen(words, stdin=texts, stdout=subprocess.PIPE, stderr=errors, text=True, **options)
        printed = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        messages = errors.read()
    if child.returncode != 0:
        sys.exit(f"{NAME}: failed: {shlex.join(words)}\n{messages}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6, printed, messages)


HYPERFINE = shutil.which("hyperfine")
TIMED_BY = "hyperfine" if HYPERFINE else "a loop"


def timed(command, runs, cold=None, env=None):
    """The median seconds of several runs of a command; `cold` is a folder to remove before each."""
    if not HYPERFINE:
        seconds = []
        for _ in range(runs):
            if cold:
                shutil.rmtree(cold, ignore_errors=True)
            seconds.append(measured(command, env=env).seconds)
        return statistics.median(seconds)
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        words = [HYPERFINE, "-N", "--style=none", "--warmup=1", f"--runs={runs}", f"--export-json={report.name}"]
        if cold:
            words.append("--prepare=" + shlex.join(["rm", "-rf", str(cold)]))
        command = shlex.join(str(word) for word in command)
        subprocess.run([*words, command], stdout=subprocess.DEVNULL, env=env, check=True)
        return json.loads(Path(report.name).read_text())["results"][0]["median"]


def in_turns(rounds, measures):
    """The results of each named measure, called in turns, so that other load slows all alike."""
    results = {name: [] for name in measures}
    for number in range(rounds):
        for name, measure in measures.items():
            say(f"round {number + 1} of {rounds}: {name}")
            results[name].append(measure())
    return results


def ratio(upper, lower):
    """The median over rounds, so that both sides of a ratio saw the same load."""
    return statistics.median(a / b for a, b in zip(upper, lower))


# The report.


def heading(title, versions):
    print(f"# {title}\n")
    print(f"* Date: {datetime.date.today()}")
    print(f"* Machine: {processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}; {load('start')}")
    print(f"* Versions: {', '.join(versions)}\n", flush=True)


def processor():
    try:
        return re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def version(program):
    """The number of the version of a program, with its name."""
    return " ".join(output([program, "--version"]).split()[:2])


def load(when):
    return f"load at the {when} {os.getloadavg()[0]:.1f}"


def table(header, rows, texts=1):
    """A table whose first columns are texts."""
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * texts + "--:|" * (len(header) - texts))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def significant(number):
    """Three significant digits, with separators of thousands."""
    if number >= 100:
        return f"{float(f'{number:.3g}'):,.0f}"
    return f"{number:.3g}"


def spread(values):
    return f"{significant(statistics.median(values))} ({significant(min(values))}–{significant(max(values))})"


def documented(row):
    """The first ratio in a row of docs/benchmarks.md."""
    for line in (ROOT / "docs" / "benchmarks.md").read_text().splitlines():
        if line.startswith(f"| {row}") and (found := re.search(r"([\d.]+)×", line)):
            return float(found[1])
    sys.exit(f"{NAME}: docs/benchmarks.md has no ratio of {row}")


class Verdicts:
    """Whether ratios are at least half of what docs/benchmarks.md says: it was another machine."""

    def __init__(self):
        self.failed = False

    def note(self, kept):
        self.failed |= not kept
        return "OK" if kept else "FAIL"

    def hold(self, row, found):
        said = documented(row)
        print(f"* {row}: **{significant(found)}×**, documented {significant(said)}×: {self.note(2 * found >= said)}")
