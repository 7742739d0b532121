"""``regard info``: what a model is, or what this machine computes with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json
from .output import show
from .tasks import find_task

__all__ = ["info"]


def info(
    context: typer.Context,
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="A folder that train wrote.")
    ] = None,
    json: Json = False,
) -> None:
    """Describe a model, or this installation."""
    facts = _installation() if model is None else find_task(model, context).describe(model)
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


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        shown = ", ".join(map(str, value[:20]))
        return shown + (f", ... ({len(value)} in all)" if len(value) > 20 else "")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
