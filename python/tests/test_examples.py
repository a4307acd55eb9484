"""The notebook of the documentation runs from top to bottom, and prints what it shows.

`CLARIQ_UPDATE=1 scripts/test-python target/debug -k notebook` writes its outputs anew.
"""

import doctest
import importlib
import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "first-steps.ipynb"


def texts(notebook):
    """What each cell prints, then what it shows; charts and tables of HTML are left out."""
    shown = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        assert all(output.output_type != "error" for output in outputs)
        # One print may come in pieces, as the kernel sends them.
        shown.append("".join(output.text for output in outputs if output.output_type == "stream"))
        for output in outputs:
            if data := output.get("data"):
                shown.append("a chart" if "image/png" in data else data.get("text/plain", ""))
    return shown


def test_the_notebook_prints_what_it_shows(tmp_path):
    kept = nbformat.read(NOTEBOOK, as_version=4)
    fresh = nbformat.read(NOTEBOOK, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(fresh, timeout=900, resources=where).execute()
    if os.environ.get("CLARIQ_UPDATE"):
        for cell in fresh.cells:
            # Times of execution.
            cell.metadata.pop("execution", None)
        fresh.metadata["language_info"] = {"name": "python"}
        nbformat.write(fresh, NOTEBOOK)
        return
    assert "a chart" in texts(kept)
    assert texts(fresh) == texts(kept)


@pytest.mark.parametrize("name", ["", "._compare", "._evaluate", "._ranker", ".irds"])
def test_the_examples_of_the_reference_are_true(name):
    if name == ".irds":
        pytest.importorskip("ir_datasets")
    found = doctest.testmod(importlib.import_module(f"clariq{name}"))
    assert found.attempted > 0 and found.failed == 0
