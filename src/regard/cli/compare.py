"""``regard compare``: models of many kinds trained on the same documents, in one picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import require, require_seed
from ..data.formats.lines import STANDARD_INPUT
from ..errors import MissingExtra
from .inputs import existing, open_documents
from .options import (
    Data,
    Device,
    Encoding,
    Json,
    LabelsSeparator,
    OnBadRow,
    Quiet,
)
from .output import Delivery, counted, require_output, say

if TYPE_CHECKING:
    from ..arena.run import Sides
    from ..records.comparison import Comparison

__all__ = ["compare"]

Test = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="The documents to test on; by default a fifth of the data."),
]
Models = Annotated[
    str | None,
    typer.Option(metavar="NAME,NAME", help="Which to train: {contenders}; by default all."),
]
Against = Annotated[
    str | None, typer.Option(metavar="NAME", help="The model that the others are compared with.")
]
Seeds = Annotated[
    int, typer.Option(min=1, help="How often to train each model, with different draws.")
]
Budget = Annotated[
    float | None,
    typer.Option(min=0, metavar="MINUTES", help="Start no further training after so many minutes."),
]
Limit = Annotated[
    int | None, typer.Option(min=2, help="Learn from so many documents at most, drawn at random.")
]
Again = Annotated[bool, typer.Option("--again", help="Throw away what was trained before.")]
Picture = Annotated[bool, typer.Option(help="Also draw a PNG beside the page.")]
TimedOn = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE", help="Where speed and memory of answers are measured; else --device."
    ),
]


def compare(
    data: Data,
    test: Test = None,
    out: Annotated[Path, typer.Option(help="Write the page, or the numbers as .json.")] = Path(
        "comparison.html"
    ),
    models: Models = None,
    against: Against = None,
    seeds: Seeds = 3,
    seed: Annotated[int, typer.Option(help="The first of the seeds.")] = 0,
    budget: Budget = None,
    limit: Limit = None,
    again: Again = False,
    picture: Picture = True,
    json: Json = False,
    text_column: Annotated[
        str, typer.Option(help="The column that holds the text, or several: title,body.")
    ] = "text",
    label_column: Annotated[str, typer.Option(help="The column that holds the label.")] = "label",
    labels_separator: LabelsSeparator = None,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    timed_on: TimedOn = None,
    quiet: Quiet = False,
) -> None:
    """Train models of many kinds on the same documents and compare them.

    Draws accuracy, faithfulness, speed and memory in one picture. What is trained is kept beside
    the page: started again, it goes on where it was.
    """
    import shutil

    from ..arena.contenders import CONTENDERS
    from ..arena.run import Arena, sides
    from ..data.columns import Columns
    from ..training.devices import choose_device
    from ..training.observers import Progress, Stage
    from ..views.comparison.page import render
    from ..views.comparison.terminal import summary

    require_seed(seed)
    delivery = Delivery(out, json, quiet, (data, test), "comparison")
    names = list(CONTENDERS) if models is None else [name.strip() for name in models.split(",")]
    columns = Columns(
        text=text_column,
        label=label_column,
        labels_separator=labels_separator,
        encoding=encoding,
        carry=False,
    )
    for path in filter(None, (data, test)):
        existing(path)
    same = test is not None and STANDARD_INPUT not in (data, test) and Path(data).samefile(test)
    require(not same, "--test is the data to learn from; give other documents")
    drawn = out.with_suffix(".png")
    if picture:
        require_output(drawn, (".png",), inputs=(data, test))
    documents = counted(open_documents(data, columns, on_bad_row), "read", quiet=quiet)
    asked = None if test is None else open_documents(test, columns, on_bad_row)
    both = sides(documents, asked, seed=seed, limit=limit)
    for doubt in _doubts(both):
        say(f"! {doubt}", quiet=quiet)
    tested = Path(test).name if test else "a fifth held out"
    folder = out.with_name(f"{out.stem}.trainings")
    if again:
        shutil.rmtree(folder, ignore_errors=True)
    with Progress(quiet=quiet, lines=False) as progress:
        arena = Arena(
            replace(both, data=Path(data).name, tested_on=tested),
            names,
            range(seed, seed + seeds),
            folder=folder,
            against=against,
            device=str(choose_device(device)),
            timed_on=None if timed_on is None else str(choose_device(timed_on)),
            budget=None if budget is None else 60 * budget,
            tell=lambda line: say(line, quiet=quiet),
            watch=lambda done, total, what: progress.on_stage(
                Stage("comparing", done, total, what)
            ),
        )
        found = arena.run()
    if picture:
        _draw(found, drawn, quiet=quiet)
    delivery.give(found, page=render, lines=summary)


def _doubts(both: Sides) -> Iterator[str]:
    """Say what there is to doubt in the documents to learn from and those to test on."""
    from ..data.fingerprints import fingerprints, shared
    from ..views.drawing.words import plural

    if both.unanswerable:
        yield f"left out: {plural(both.unanswerable, 'test document')} whose label nobody learns"
    both_have = shared(fingerprints(both.test), fingerprints(both.training))
    if both_have:
        yield f"{both_have:,} test texts are training texts too: scores may flatter"


def _draw(comparison: Comparison, path: Path, *, quiet: bool) -> None:
    """Draw the picture beside the page, where there is what draws it."""
    from ..views.comparison.picture import write_picture

    try:
        write_picture(comparison, path)
        say(f"picture written to {path}", quiet=quiet)
    except MissingExtra as problem:
        say(f"no picture: {problem}", quiet=quiet)
