"""``regard export``: a trained classifier for those who run it without regard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..config import require_one_of
from ..errors import ConfigError
from .options import ModelFolder, Quiet
from .output import require_output, require_outside_models, say

__all__ = ["export"]

Out = Annotated[
    Path, typer.Argument(metavar="OUT", help="The folder to write, or for html the file.")
]
To = Annotated[str, typer.Option("--to", help="What to write: {targets}.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the export that is there already.")
]


def export(
    model: ModelFolder, out: Out, to: To, overwrite: Overwrite = False, quiet: Quiet = False
) -> None:
    """Write a classifier for ONNX Runtime, or as one page for a browser.

    What is written needs neither regard nor PyTorch. Its answers are compared with the model's
    first, and nothing is written where they differ.
    """
    from ..export import TARGETS

    require_one_of("--to", to, TARGETS)
    target = TARGETS[to]
    target.require()
    _require_out(out, target.suffix, overwrite=overwrite)
    _require_classifier(model)

    from ..estimators.saved import Saved

    told = target.write(Saved.read(model), out)
    say(f"written to {out}, {target.what}: {told}", quiet=quiet)


def _require_out(out: Path, suffix: str, *, overwrite: bool) -> None:
    """Raise ``ConfigError`` where something would be lost, or nothing can be written."""
    from ..export.onnx_folder import is_export, require_free

    if suffix:
        require_output(out, (suffix,), inputs=())
    else:
        require_outside_models(out)
        require_free(out)
    there = out.exists() if suffix else is_export(out)
    if there and not overwrite:
        raise ConfigError(f"{out} is there already; name another, or replace it with --overwrite")


def _require_classifier(model: Path) -> None:
    from ..estimators.folder import task_of
    from .tasks import TASKS

    name = task_of(model)
    if name != "classify":
        noun = TASKS[name].noun if name in TASKS else f"model for the task {name!r}"
        raise ConfigError(
            f"{model} holds a {noun}; regard export takes classifiers of documents, "
            "as regard train makes them"
        )
