"""``regard info``: what a model is, or what this machine computes with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json
from .output import show

__all__ = ["info"]


def info(
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="A folder that train wrote.")
    ] = None,
    json: Json = False,
) -> None:
    """Describe a model, or this installation."""
    facts = _installation() if model is None else _model(model)
    if json:
        import json as writer

        show(*writer.dumps(facts, indent=2, default=str).split("\n"))
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        # A setting is written as --set takes it.
        shown = name if "." in name else name.replace("_", " ")
        show(f"{shown:<{width}}  {_shown(value)}")


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


def _model(folder: Path) -> dict[str, object]:
    from ..estimators.folder import task_of
    from ..estimators.saved import Saved, SavedTranslator

    found: dict[str, object]
    saved: Saved | SavedTranslator
    if task_of(folder) == "translate":
        saved = SavedTranslator.read(folder)
        found = {"model": saved.settings.network.name, "task": "translate", **saved.facts}
    else:
        saved = Saved.read(folder)
        found = {
            "model": saved.settings.network.name,
            "classes": list(saved.labels.classes),
            "several_labels": saved.labels.multilabel,
            **saved.facts,
            "temperature": saved.temperature,
        }
    settings = {
        f"{part}.{name}": value
        for part, values in saved.settings.to_dict().items()
        for name, value in values.items()
    }
    return {**found, "bytes_on_disk": _bytes(folder), **settings}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        shown = ", ".join(map(str, value[:20]))
        return shown + (f", ... ({len(value)} in all)" if len(value) > 20 else "")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
