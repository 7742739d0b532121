"""``regard explain``: on your own words, what decided."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .inputs import TextsToExplain
from .options import Device, Encoding, JsonLines, ModelFolder, Quiet
from .output import DRAWINGS, require_output
from .tasks import find_task
from .tasks.task import TextsToShow

__all__ = ["explain"]

SomeTexts = Annotated[
    str | None, typer.Argument(metavar="[DATA]", help="A file of texts, in place of --text.")
]
Text = Annotated[str | None, typer.Option(help="The text itself.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Write {drawings} instead of showing it."),
]
Limit = Annotated[int, typer.Option(min=1, help="How many documents of a file to explain.")]
Method = Annotated[
    str, typer.Option(help="How to explain: {methods}; by default the best for this model.")
]
Label = Annotated[
    str | None, typer.Option(help="The label to explain, in place of the model's answer.")
]
Against = Annotated[
    str | None, typer.Option(help="The label to contrast it with, for --method contrast.")
]
Receipt = Annotated[
    bool,
    typer.Option(help="Measure how faithful each explanation is; without, it is quicker."),
]
Candidates = Annotated[
    int, typer.Option(min=1, help="How many translations of each text, by a translator.")
]
WholeWords = Annotated[
    bool, typer.Option("--whole-words", help="Show words in place of pieces, of a translator.")
]
Whole = Annotated[
    bool, typer.Option("--all", help="Print every sentence of a long text, quiet ones too.")
]
Heads = Annotated[
    str | None,
    typer.Option(
        help="Show where words looked inside a transformer or BERT: last, all, layers 5,6 or 4-6, "
        "heads 6.3."
    ),
]
UsualTextColumn = Annotated[
    str | None, typer.Option(help="The column that holds the text, or several: title,body.")
]


def explain(
    context: typer.Context,
    model: ModelFolder,
    data: SomeTexts = None,
    text: Text = None,
    out: Out = None,
    limit: Limit = 20,
    method: Method = "default",
    label: Label = None,
    against: Against = None,
    receipt: Receipt = True,
    n_best: Candidates = 1,
    whole_words: WholeWords = False,
    whole: Whole = False,
    heads: Heads = None,
    text_column: UsualTextColumn = None,
    encoding: Encoding = None,
    json: JsonLines = False,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Show which sentences and words decided, or where a translator looked.

    On the terminal, as JSON, or with --out as a page, a picture or JSON.
    """
    texts = TextsToExplain(text, data, text_column, encoding, limit)
    if out is not None:
        require_output(out, DRAWINGS, inputs=(data,))
    find_task(model, context).explain(
        TextsToShow(
            model=model,
            texts=texts,
            out=out,
            method=method,
            label=label,
            against=against,
            receipt=receipt,
            n_best=n_best,
            whole_words=whole_words,
            whole=whole,
            heads=heads,
            json=json,
            device=device,
            quiet=quiet,
        )
    )
