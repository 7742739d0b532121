"""``regard demo``: the whole job on texts that this machine already has."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import require_seed
from .options import Device, Quiet
from .output import counted, require_outside_models, say, show, write_report

if TYPE_CHECKING:
    from ..text.document import Document

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write model and report to.")] = Path(
        "demo"
    ),
    seed: Annotated[int, typer.Option(help="Same seed, same report.")] = 0,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Try it all on texts that are already here.

    Learns which library a documentation text is about: trains, evaluates, explains, reports.
    """
    from ..data.columns import Columns
    from ..data.docstrings import collect_docstrings
    from ..estimators.fitting import FitOptions
    from ..estimators.named import classifier_from
    from ..training.observers import Stage, TrainingProgress
    from ..views.evaluation.page import render
    from ..views.evaluation.terminal import summary

    require_outside_models(out)
    require_seed(seed)
    began = time.perf_counter()
    say("reading the documentation of the libraries installed here", quiet=quiet)
    training, test = _sides(collect_docstrings(seed=seed), seed)
    labels = sorted({str(document.label) for document in training})
    say(
        f"{len(training):,} texts to learn from, {len(test):,} to test on: {', '.join(labels)}",
        quiet=quiet,
    )
    classifier = classifier_from("han", [f"training.seed={seed}"], device=device)
    with TrainingProgress(quiet=quiet) as progress:
        options = FitOptions(split="group", columns=Columns(group="file"), observers=(progress,))
        classifier.fit_documents(training, options=options)
        progress.on_stage(Stage("fitting TF-IDF + logistic regression"))
        classifier.fit_baseline(training)
    documents = counted(test, "evaluated", quiet=quiet)
    found = classifier.evaluate(documents, title="Which library does this text document?")
    classifier.save(out / "model")
    write_report(found, out / "report.html", render)
    write_report(found, out / "report.json", None)
    if not quiet:
        seconds = time.perf_counter() - began
        show(
            *summary(found),
            "",
            f"{seconds:.0f} seconds. Look at {out / 'report.html'}, then try:",
            f'  regard explain {out / "model"} --text "Return the sorted list of edges."',
        )


def _sides(documents: list[Document], seed: int) -> tuple[list[Document], list[Document]]:
    """Training and test documents; the texts of one file are on one side."""
    from ..data.splits import split_by_group
    from ..training.seeds import derived_seed

    files = [str(document.fields["file"]) for document in documents]
    split = split_by_group(files, 0.2, seed=derived_seed(seed, "test") % 2**32)
    return (
        [documents[place] for place in split.training],
        [documents[place] for place in split.validation],
    )
