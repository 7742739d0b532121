"""``regard translate``: what a trained translator writes about new texts."""

from __future__ import annotations

from typing import Annotated

import typer

from ..data.formats.lines import STANDARD_INPUT
from .inputs import is_there
from .options import Device, Encoding, ModelFolder, Quiet
from .output import require_output
from .tasks import find_task
from .tasks.task import TextsToTranslate

__all__ = ["translate"]


def translate(
    context: typer.Context,
    model: ModelFolder,
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="The text itself, a file of texts, or - for one text a line."
        ),
    ],
    n_best: Annotated[int, typer.Option(min=1, help="How many translations of each text.")] = 1,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Translations followed side by side; 1 is greedy.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Write at random, by the probabilities of the model.")
    ] = False,
    temperature: Annotated[
        float | None,
        typer.Option(help="With --sample: a value below 1 makes likely words likelier."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="With --sample: same seed, same texts.")] = None,
    out: Annotated[
        str,
        typer.Option(help="Where to write: .txt, {written}, or - for standard output."),
    ] = "-",
    source_column: Annotated[
        str | None, typer.Option(help="The column of a file that holds the text.")
    ] = None,
    encoding: Encoding = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Translate new texts with a model that was trained on pairs.

    On standard output one line a text; several of a text with their rank and score.
    """
    from ..data.formats.table import written_suffixes

    if out != STANDARD_INPUT:
        read = text if is_there(text) else None  # or it is the text itself
        require_output(out, (".txt", *written_suffixes()), inputs=(read,))
    find_task(model, context).translate(
        TextsToTranslate(
            model=model,
            text=text,
            n_best=n_best,
            beam=beam,
            sample=sample,
            temperature=temperature,
            seed=seed,
            out=out,
            source_column=source_column,
            encoding=encoding,
            device=device,
            quiet=quiet,
        )
    )
