"""Grids of trainings and searches, a task for each, and one table at the end."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import statistics
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import ray

from .._command import ClariqError, run_command
from . import _cluster, _node
from ._files import Folder

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Row = Dict[str, Any]

_GROUP = ("job", "split", "measure", "name", "grid", "parameters", "folds")
"""What the jobs of one mean have in common."""


@dataclass(frozen=True)
class Table:
    """The results of the jobs of a grid.

    Attributes:
        rows: One per job, in the order of the file: ``job``, ``split``, ``measure``, ``name``,
            ``grid`` (of a search), ``parameters`` (of a search, the best ones), ``folds``,
            ``fold``, ``seed``, ``held-out`` (the measure on the held-out topics), and the other
            figures that the command printed.
    """

    rows: List[Row]

    def means(self) -> List[Row]:
        """One row for all jobs that differ only in ``fold`` and ``seed``: the mean of ``held-out``,
        its standard deviation, and the number of jobs. Rows with the same job, split and measure
        are adjacent, best first."""
        groups: Dict[Tuple[Any, ...], List[float]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[key] for key in _GROUP), []).append(row["held-out"])
        rows: List[Row] = [
            {
                **dict(zip(_GROUP, group)),
                "held-out": statistics.fmean(figures),
                "deviation": statistics.stdev(figures) if len(figures) > 1 else 0.0,
                "jobs": len(figures),
            }
            for group, figures in groups.items()
        ]
        return sorted(
            rows, key=lambda row: (row["job"], row["split"], row["measure"], -row["held-out"])
        )

    def to_tsv(self) -> str:
        """The rows as tab-separated values, with a header."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        lines = [columns, *([str(row.get(key, "")) for key in columns] for row in self.rows)]
        return "".join("\t".join(line) + "\n" for line in lines)

    def __str__(self) -> str:
        shown = [
            [f"{value:.6f}" if isinstance(value, float) else str(value) for value in row.values()]
            for row in self.means()
        ]
        lines = [list(self.means()[0]) if shown else [], *shown]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
            for line in lines
        )


def jobs(
    path: "os.PathLike[str] | str",
    out: "os.PathLike[str] | str",
    *,
    cpus: float = 1,
    gpus: float = 0,
    retries: int = 3,
    data: "os.PathLike[str] | str | None" = None,
    arguments: Sequence[str] = (),
    storage: Optional[Mapping[str, Any]] = None,
    progress: bool = True,
) -> Table:
    """Runs a grid of ``clariq train`` and ``clariq tune`` on a Ray cluster.

    The file has tables ``[[train]]`` and ``[[tune]]``; every list in them is an axis of the grid::

        [[train]]
        recipe = ["encoder"]            # names or files
        folds = 5                       # a job per fold, which is held out
        seed = [1, 2]
        [train.parameters]              # any keys of the recipe
        learning_rate = [2e-5, 5e-5]

        [[tune]]
        system = ["bm25", "bm25-english"]
        folds = [5, 10]                 # of the cross-validation; a job has all parameters
        split = "train"
        [tune.parameters]
        "bm25.k1" = [0.9, 1.2, 1.5]

    The result of a job is kept in ``out`` under a checksum of the program's version, the data, the
    text of the system's or recipe's file, the parameters and ``arguments``, and is not computed
    again. The processor is not part of the checksum, although it affects the last digits of learned
    models: with ``arguments=["--isa", "avx2"]`` all x86 processors compute the same. The table is
    written to ``<out>/table.tsv``. Models are not kept: ``clariq train`` with the best parameters
    reproduces the same one.

    Args:
        path: The file, on this machine.
        out: The path or URL of a folder.
        arguments: Further options, of those that all commands have.
        cpus, gpus, retries, data, storage, progress: As in :func:`clariq.ray.run`.

    Raises:
        ClariqError: If the file or the input of a job is rejected.
        clariq.ray.Unreachable: If files cannot be read or written.
    """
    options = _cluster.options(cpus, gpus, retries)
    words = _cluster.words(cpus, gpus, data)
    identity = [_fingerprint(words), "cuda" if gpus > 0 else "cpu", *arguments]
    specs = list(_specs(Path(path), [*words, *arguments], identity))
    target = Folder.of(out, storage or {})
    with _cluster.connected(options):
        task = ray.remote(**options)(_do)
        run = uuid.uuid4().hex
        try:
            rows = _cluster.run_tasks(
                lambda spec: task.remote(spec, target, run), specs, _Spec.title, "job", progress
            )
        finally:
            _cluster.clear_nodes()
    target.remove_unfinished({"table.tsv", *(f"{spec.key}.json" for spec in specs)})
    table = Table(rows)
    target.write(table.to_tsv().encode(), "table.tsv")
    return table


@dataclass(frozen=True)
class _Spec:
    """One job.

    Attributes:
        key: A checksum of what determines its result, except for the processor.
        row: What it is, as columns of the table.
        config: The text of the system's or recipe's file, if it is one.
        words: The arguments of the command after the name.
        common: Arguments of every command.
    """

    key: str
    row: Row
    config: Optional[str]
    words: List[str]
    common: List[str]

    def title(self) -> str:
        """What it is, for messages."""
        words = [str(self.row[key]) for key in ("job", "name", "parameters") if self.row[key]]
        return " ".join(words)


_KEYS = {
    "train": {"recipe", "parameters", "folds", "seed"},
    "tune": {"system", "parameters", "folds", "seed", "split", "measure"},
}


def _specs(path: Path, common: List[str], identity: Sequence[str]) -> Iterator[_Spec]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClariqError(2, f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ClariqError(2, f"{path}: {error}") from None
    unknown = set(tables) - set(_KEYS)
    if unknown or not tables:
        found = ", ".join(sorted(unknown)) or "nothing"
        raise ClariqError(2, f"{path}: expected tables [[train]] and [[tune]], found: {found}")
    for job, grids in tables.items():
        at = f"{path}: [[{job}]]"
        for grid in _list(grids) or [grids]:
            if not isinstance(grid, dict):
                raise ClariqError(2, f"{at}: expected tables, found: {grid}")
            if set(grid) - _KEYS[job]:
                found = ", ".join(sorted(set(grid) - _KEYS[job]))
                expected = ", ".join(sorted(_KEYS[job]))
                raise ClariqError(2, f"{at}: expected the keys {expected}, found: {found}")
            make = _trainings if job == "train" else _searches
            for row, name, words in make(grid, at):
                config = _cluster.text_of(name)
                makes = [*identity, config or name, words, row]
                key = hashlib.sha256(json.dumps(makes).encode()).hexdigest()[:20]
                yield _Spec(key, row, config, words, common)


def _trainings(grid: Mapping[str, Any], at: str) -> Iterator[Tuple[Row, str, List[str]]]:
    folds = grid.get("folds", 5)
    if not isinstance(folds, int) or folds < 2:
        raise ClariqError(2, f"{at}: expected folds of at least 2, found: {folds}")
    axes = _axes(grid, at)
    seeds = _values(grid, "seed", None, at)
    for name in _names(grid, "recipe", at):
        for values in itertools.product(*axes):
            for seed, fold in itertools.product(seeds, range(folds)):
                row = {
                    "job": "train",
                    "split": "train",
                    "measure": "R@30",
                    "name": name,
                    "grid": "",
                    "parameters": " ".join(values),
                    "folds": folds,
                    "fold": fold,
                    "seed": "" if seed is None else seed,
                }
                sets = [*values, f"held_out={1 / folds!r}", f"fold={fold}"]
                sets += [] if seed is None else [f"seed={seed}"]
                words = ["-o", "model"]
                for value in sets:
                    words += ["--set", value]
                yield row, name, words


def _searches(grid: Mapping[str, Any], at: str) -> Iterator[Tuple[Row, str, List[str]]]:
    axes = _axes(grid, at)
    if not axes:
        raise ClariqError(2, f"{at}: expected parameters to search, found none")
    split, measure = str(grid.get("split", "train")), str(grid.get("measure", "R@30"))
    words = ["--top", "1", "--split", split, "--measure", measure]
    searched = []
    for axis in axes:
        key, values = axis[0].split("=", 1)[0], [value.split("=", 1)[1] for value in axis]
        searched.append(f"{key}={','.join(values)}")
        words += ["--grid", searched[-1]]
    all_folds, seeds = _values(grid, "folds", 5, at), _values(grid, "seed", 42, at)
    names = _names(grid, "system", at)
    for name, folds, seed in itertools.product(names, all_folds, seeds):
        row = {
            "job": "tune",
            "split": split,
            "measure": measure,
            "name": name,
            "grid": " ".join(searched),
            "parameters": "",
            "folds": folds,
            "fold": "",
            "seed": seed,
        }
        yield row, name, [*words, "--folds", str(folds), "--seed", str(seed)]


def _names(grid: Mapping[str, Any], key: str, at: str) -> List[str]:
    names = _list(grid.get(key, []))
    if not names or not all(isinstance(name, str) for name in names):
        raise ClariqError(2, f"{at}: expected names in `{key}`, found: {names or 'none'}")
    return names


def _axes(grid: Mapping[str, Any], at: str) -> List[List[str]]:
    """For each parameter, its values as ``key=value``."""
    parameters = grid.get("parameters", {})
    if not isinstance(parameters, dict):
        raise ClariqError(2, f"{at}: expected a table of parameters, found: {parameters}")
    return [
        [f"{key}={_toml(value)}" for value in _values(parameters, key, None, at)]
        for key in parameters
    ]


def _values(table: Mapping[str, Any], key: str, default: Any, at: str) -> List[Any]:
    """The values of a key, of which there is at least one."""
    values = _list(table.get(key, default))
    if not values or any(isinstance(value, (dict, list)) for value in values):
        found = values or "an empty list"
        raise ClariqError(2, f"{at}: expected values of `{key}`, found: {found}")
    return values


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(value: Any) -> List[Any]:
    return value if isinstance(value, list) else [value]


def _fingerprint(words: Sequence[str]) -> str:
    """A checksum of the program's version and of the data."""
    digest = hashlib.sha256(run_command(["--version"]).encode())
    if "--data" in words:
        folder = Path(words[words.index("--data") + 1])
        if not folder.is_dir():
            raise ClariqError(2, f"{folder}: no such folder")
        for file in sorted(path for path in folder.iterdir() if path.is_file()):
            digest.update(f"{file.name}\n".encode())
            with open(file, "rb") as content:
                while block := content.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def _do(spec: _Spec, target: Folder, run: str) -> Row:
    """The task: what a job reached, from the folder of results or by doing it now."""
    node, address = _cluster.here()
    try:
        with _node.scratch() as folder:
            file = f"{spec.key}.json"
            if target.fetch_if_there(file, folder / file):
                try:
                    return dict(json.loads((folder / file).read_bytes()))
                except ValueError:
                    pass  # it is damaged, and replaced below
            row = {**spec.row, **_figures(spec, folder, run, node)}
            target.write(json.dumps(row).encode(), file)
            return row
    except ClariqError as error:
        raise type(error)(error.status, f"node {address}: {error.message}") from None


def _figures(spec: _Spec, folder: Path, run: str, node: str) -> Row:
    name = str(spec.row["name"])
    if spec.config is not None:
        name = str(folder / "config.toml")
        Path(name).write_text(spec.config, encoding="utf-8")
    if spec.row["job"] == "tune":
        # The models that a system needs are trained once on a node, and not by every job.
        warm = ["--quiet", "rank", name, *spec.common, "--batch", "--requests", "-"]
        mark = hashlib.sha256((spec.config or name).encode()).hexdigest()[:12]
        _node.warm_up(f"{run}-{mark}", node, warm)
    words = [str(spec.row["job"]), name, *spec.common, *spec.words]
    done = _node.call([*words, "--no-progress", "--format", "json"], folder)
    best, *others = json.loads(done.stdout)
    if spec.row["job"] == "tune":
        # The last row is what the choice reaches in cross-validation. A recall is shown among its
        # like, any other measure alone and by its usual name.
        figures = {key: value for key, value in others[-1].items() if key != "parameters"}
        measure = words[words.index("--measure") + 1]
        return {**best, "held-out": float(figures.get(measure, next(iter(figures.values()))))}
    figures = {key: best[key] for key in best if key.startswith(("steps", "loss"))}
    return {**figures, "held-out": float(best["held-out R@30"])}
