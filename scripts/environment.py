"""What scripts share: the clone, the cache, commands, and virtual environments in the cache."""

import ast
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("CLARIQ_CACHE") or Path.home() / ".cache" / "clariq").absolute()
NAME = Path(sys.argv[0]).name


def say(text):
    print(f"{NAME}: {text}", file=sys.stderr, flush=True)


def output(command, **options):
    """Standard output of a command, which must succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{NAME}: failed with {done.returncode}: {shlex.join(words)}")
    return done.stdout


def python_with(name, packages, optional=()):
    """The Python of a virtual environment in the cache, which is made anew when a pin changes."""
    folder = CACHE / name
    python, marker = folder / "bin" / "python", folder / "pins.json"
    pins = json.dumps([list(packages), list(optional)])
    if not marker.exists() or marker.read_text() != pins:
        say(f"installing {', '.join(packages)} in {folder}")
        output([sys.executable, "-m", "venv", "--clear", folder])
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        output(pip + list(packages))
        if optional and subprocess.run(pip + list(optional)).returncode != 0:
            say(f"without {', '.join(optional)}")
        marker.write_text(pins)
    return python


def start_again_with(name, packages):
    """Starts the script again with the Python of `python_with`, before it imports what the packages bring."""
    python = python_with(name, packages)
    if Path(sys.prefix) != python.parents[1]:
        os.execv(python, [python, *sys.argv])


def declared(script):
    """The title of a script and its constant PACKAGES, without importing it."""
    tree = ast.parse(script.read_text("utf-8"))
    packages = [ast.literal_eval(node.value) for node in tree.body
                if isinstance(node, ast.Assign) and node.targets[0].id == "PACKAGES"]
    return ast.get_docstring(tree).partition("\n\n")[0].replace("\n", " "), packages[0]
