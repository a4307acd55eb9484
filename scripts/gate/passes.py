"""Passes of checks in this clone. A check whose programs and files have the checksum of its last pass is
passed over. Only a pass is kept, in target/passed; a check that begins or fails has none."""

import functools
import hashlib
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PASSED = ROOT / "target/passed"
# What is written here, and what is installed here. No check reads them but by name.
WRITTEN = {".git", ".libtorch", ".venv", "__pycache__", "runs", "target"}


def files(place):
    """The files below a path, links followed, in an order that does not depend on the disk."""
    if place.is_file():
        yield place
    for folder, folders, names in os.walk(place, followlinks=True):
        folders[:] = sorted(set(folders) - WRITTEN)
        yield from (Path(folder, name) for name in sorted(names))


@functools.cache
def digest(path, size, changed):
    """Of a file with that size and time of its last change."""
    total = hashlib.sha256()
    with open(path, "rb") as content:
        while block := content.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def checksum(words, places, without=""):
    """Of the words of a command and of the files below some paths, apart from those whose name ends in
    `without`. A path that does not exist counts as well."""
    total = hashlib.sha256(repr([sys.version, *words]).encode())
    for place in places:
        total.update(f"\n{place}\n".encode())
        for file in files(place):
            if without and file.name.endswith(without):
                continue
            about = file.stat()
            total.update(f"\n{file} {digest(file, about.st_size, about.st_mtime_ns)}\n".encode())
    return total.hexdigest()


def is_kept(name, checksum):
    """True if a check passed with this checksum."""
    path = PASSED / name
    return path.exists() and path.read_text(encoding="utf-8") == checksum


def run(name, sum_up, command):
    """Runs a check, a function that returns an exit status, and keeps its pass with its checksum, which the
    function `sum_up` computes. What changes while it runs is not what passed."""
    path = PASSED / name
    path.unlink(missing_ok=True)
    before = sum_up()
    status = command()
    if status == 0 and sum_up() == before:
        PASSED.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{name}.tmp")
        unfinished.write_text(before, encoding="utf-8")
        unfinished.replace(path)
    return status
