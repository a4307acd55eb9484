"""Fine-tuning."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Sequence

from ._command import data_arguments, run_command


@dataclass(frozen=True)
class Trained:
    """A fine-tuned model.

    Attributes:
        name: The name of its recipe.
        folder: Its folder, which transformers and sentence-transformers load, and which a system
            takes, for example by ``arguments=["--set", f"rerank.model={folder}"]``.
        steps: The number of steps; like the losses, ``None`` for a model that was trained before.
        first_loss: The mean loss of the first ten steps.
        last_loss: That of the last ten.
        held_out: R@30 on held-out topics, if the recipe holds some out. A cross-encoder reorders
            the first 30 of BM25: its R@30 is that of BM25, and ``held_out_at_5`` shows its work.
        held_out_at_5: R@5 on held-out topics.
    """

    name: str
    folder: Path
    steps: Optional[int]
    first_loss: Optional[float]
    last_loss: Optional[float]
    held_out: Optional[float]
    held_out_at_5: Optional[float]


def train(
    config: "os.PathLike[str] | str",
    *,
    split: Optional[str] = None,
    data: "os.PathLike[str] | str | None" = None,
    output: "os.PathLike[str] | str | None" = None,
    arguments: Sequence[str] = (),
) -> Trained:
    """Fine-tunes the model of a recipe on the labels of a collection.

    A model of the same recipe, base and data is trained once and found again. Needs the package
    ``clariq-learned``.

    Args:
        config: The name of a built-in recipe or of a system with one, such as ``bert-reranker``;
            or a TOML file.
        split: The split that the model will be used for; the default is ``dev``.
        data: The folder of the collection. The default is ``data/clariq`` if it exists, and
            otherwise the built-in sample.
        output: A folder for a copy of the model.
        arguments: Further arguments of the command, for example ``["--set", "epochs=3"]``.

    Raises:
        ClariqError: If the recipe or the data are refused.
        FileNotFoundError: If there is no command.
    """
    words = ["--quiet", "train", "--format=json", *data_arguments(data)]
    words += [] if split is None else [f"--split={split}"]
    words += [] if output is None else [f"--output={os.fspath(output)}"]
    row = json.loads(run_command([*words, *arguments, "--", os.fspath(config)]))[0]
    return Trained(
        row["model"],
        Path(row["folder"]),
        row["steps"],
        row["loss, first 10"],
        row["loss, last 10"],
        row["held-out R@30"],
        row["held-out R@5"],
    )
