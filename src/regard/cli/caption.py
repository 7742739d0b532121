"""``regard caption``: what a trained captioner writes about pictures, and where it looked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Device, JsonLines, ModelFolder, Quiet
from .output import DRAWINGS, require_output
from .tasks import find_task
from .tasks.task import PicturesToCaption

__all__ = ["caption"]


def caption(
    context: typer.Context,
    model: ModelFolder,
    pictures: Annotated[
        list[Path],
        typer.Argument(metavar="PICTURE...", help="Files of pictures, or folders of them."),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Write {drawings} instead of showing it.")
    ] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Captions followed side by side; 1 is greedy.")
    ] = None,
    receipt: Annotated[
        bool, typer.Option(help="Measure whether words need the cells they looked at.")
    ] = True,
    json: JsonLines = False,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Write about pictures, and show which cells of them each word looked at.

    On the terminal, as JSON, or with --out as a page, a picture or JSON.
    """
    if out is not None:
        require_output(out, DRAWINGS, inputs=pictures)
    find_task(model, context).caption(
        PicturesToCaption(
            model=model,
            pictures=tuple(pictures),
            out=out,
            beam=beam,
            receipt=receipt,
            json=json,
            device=device,
            quiet=quiet,
        )
    )
