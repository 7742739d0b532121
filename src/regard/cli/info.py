"""``regard info``: what a model is, or what this machine computes with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .inputs import is_there
from .options import Device, Json
from .output import show
from .settings_file import toml
from .tasks import find_task
from .tasks.task import Answering, Task

__all__ = ["info"]

HEAD = "# regard train --config this-file.toml DATA --out MODEL"
LEAVES_OPEN = (
    "# Recipe and data choose what stands behind a #; to choose it yourself, remove the #."
)
REMEMBERED = (
    "task",
    "text_column",
    "label_column",
    "labels_separator",
    "source_column",
    "target_column",
    "group_column",
    "time_column",
    "recipe",
    "model",
    "seeds",
)
"""What a model remembers that is an option of ``regard train``."""


def info(
    context: typer.Context,
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="A folder that train wrote.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(metavar="TEXT|FILE", help="The text to time it on; by default a review."),
    ] = None,
    measure: Annotated[
        bool, typer.Option(help="Measure time and memory by letting the model answer texts.")
    ] = True,
    json: Json = False,
    config: Annotated[
        bool,
        typer.Option(
            "--config", help="Print the settings for regard train --config: usual, or the model's."
        ),
    ] = False,
    device: Device = "auto",
) -> None:
    """Describe a model and measure what it takes, or describe this installation."""
    if config:
        show(*(_usual_settings() if model is None else _settings(find_task(model, context), model)))
        return
    if model is None:
        facts = _installation()
    else:
        task = find_task(model, context)
        facts = task.describe(model)
        if measure and task.load is not None:
            facts |= _footprint(partial(task.load, model, device), _read(text), task.timed_on)
    if json:
        import json as writer

        show(writer.dumps(facts, default=str))
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        # A setting is written as --set takes it.
        shown = name if "." in name else name.replace("_", " ")
        show(f"{shown:<{width}}  {_shown(value)}")


def _read(text: str | None) -> str | None:
    """The text itself, or that of a file of this name."""
    if text is None or not is_there(text) or not Path(text).is_file():
        return text
    return Path(text).read_text(encoding="utf-8", errors="replace")


def _footprint(load: Callable[[], Answering], text: str | None, timed_on: str) -> dict[str, object]:
    """What answering takes, on texts as long as the given one; the model is loaded twice.

    The first time brings the libraries with it, whose memory is not the model's.
    """
    from ..estimators.footprint import SAMPLE, measure_footprint, reordered

    load()
    given = text is not None and bool(text.split())
    texts = reordered(str(text) if given else SAMPLE)
    found = measure_footprint(load, lambda answer, asked: answer(asked), texts)
    what = f"{'the given text' if given else 'a review'} of {found.words:.0f} words"
    what = timed_on.format(text=f"{what}, in {found.documents} orders of its words")
    return {
        "milliseconds_per_document": found.milliseconds,
        "documents_per_second": found.documents_per_second,
        "peak_memory_bytes": found.peak_bytes,
        "measured_on": f"{what}, by {found.device} with {found.threads} "
        f"thread{'s' * (found.threads > 1)}",
    }


def _usual_settings() -> list[str]:
    """The usual settings as a file for ``regard train``.

    Those are comments that a training would choose by itself.
    """
    from ..config import to_dict
    from ..estimators.classifier import DocumentClassifier
    from ..estimators.named import CLASSIFIER_PARTS
    from ..estimators.recipes import LEFT_OPEN

    usual = DocumentClassifier()
    options = {"text-column": "text", "label-column": "label", "validation": "0.1"}
    options |= {"recipe": "balanced", "model": usual.network.name}
    parts = {name: dict(to_dict(getattr(usual, name))) for name in CLASSIFIER_PARTS}
    return [HEAD, LEAVES_OPEN, *toml(options, parts, left_open=LEFT_OPEN)]


def _settings(task: Task, model: Path) -> list[str]:
    """The settings of a model as a file for ``regard train``."""
    facts, choices = task.describe(model), task.choices()
    remembered = {name: facts[name] for name in REMEMBERED if name in facts}
    if "--model" not in choices:
        remembered.pop("model", None)
    parts: dict[str, dict[str, object]] = {}
    for name, value in facts.items():
        part, dot, setting = name.partition(".")
        if dot:
            parts.setdefault(part, {})[setting] = value
    if "wide" in choices["--set"] and "wide" not in parts:
        remembered["wide"] = "off"
    options = {name.replace("_", "-"): value for name, value in remembered.items()}
    return [HEAD, *toml(options, parts)]


def _installation() -> dict[str, object]:
    import platform

    import torch

    from .. import __version__
    from ..kernels import describe

    cuda = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {
        "regard": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "threads": torch.get_num_threads(),
        "gpu": cuda,
        **describe(),
    }


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        shown = ", ".join(map(str, value[:20]))
        return shown + (f", ... ({len(value)} in all)" if len(value) > 20 else "")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
