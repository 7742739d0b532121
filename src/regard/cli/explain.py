"""``regard explain``: on your own words, what decided."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ConfigError
from ..files import write_file
from .explain_translator import TranslationsToExplain, explain_translator
from .inputs import TextsToExplain
from .options import Device, Encoding, ModelFolder, Quiet
from .output import require_output, show_drawn
from .progress import say

if TYPE_CHECKING:
    from ..records.explanation import Explanation

__all__ = ["explain"]

SUFFIXES = (".html", ".json", ".jsonl", ".png", ".svg")
PICTURES = (".png", ".svg")


SomeTexts = Annotated[
    str | None, typer.Argument(metavar="[DATA]", help="A file of texts, in place of --text.")
]
Text = Annotated[str | None, typer.Option(help="The text itself.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Write .html, .json, .jsonl, .png or .svg instead of showing it."),
]
Limit = Annotated[int, typer.Option(min=1, help="How many documents of a file to explain.")]
Method = Annotated[str, typer.Option(help="How to explain.")]
Label = Annotated[
    str | None, typer.Option(help="The label to explain, in place of the model's answer.")
]
Against = Annotated[
    str | None, typer.Option(help="The label to contrast it with, for --method contrast.")
]
Receipt = Annotated[
    bool | None,
    typer.Option(help="Measure how faithful the explanation is; usual for --text."),
]
Candidates = Annotated[
    int, typer.Option(min=1, help="How many translations of each text, by a translator.")
]
WholeWords = Annotated[
    bool, typer.Option("--whole-words", help="Show words in place of pieces, of a translator.")
]
UsualTextColumn = Annotated[str | None, typer.Option(help="The column that holds the text.")]


def explain(
    model: ModelFolder,
    data: SomeTexts = None,
    text: Text = None,
    out: Out = None,
    limit: Limit = 20,
    method: Method = "default",
    label: Label = None,
    against: Against = None,
    receipt: Receipt = None,
    n_best: Candidates = 1,
    whole_words: WholeWords = False,
    text_column: UsualTextColumn = None,
    encoding: Encoding = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Show which sentences and words decided, or where a translator looked.

    On the terminal, or with --out as a page, a picture or JSON.
    """
    from ..estimators.classifier import DocumentClassifier
    from ..estimators.folder import task_of

    asked = TextsToExplain(text, data, text_column, encoding, limit)
    if out is not None:
        require_output(out, SUFFIXES, inputs=(data,))
    if task_of(model) == "translate":
        if label or against or receipt or method != "default":
            raise ConfigError(
                "--method, --label, --against and --receipt are for classifiers; "
                f"{model} holds a translator"
            )
        job = TranslationsToExplain(asked, n_best, whole_words)
        explain_translator(model, job, out=out, device=device, quiet=quiet)
        return
    if n_best > 1 or whole_words:
        raise ConfigError(
            f"--n-best and --whole-words are for translators; {model} holds a classifier"
        )
    classifier = DocumentClassifier.load(model, device=device)
    texts = asked.read(classifier.facts_, quiet=quiet)
    found = classifier.explain(
        texts,
        method=method,
        label=label,
        against=against,
        receipt=text is not None if receipt is None else receipt,
    )
    if out is None:
        _show(found)
    else:
        _write(found, out)
        say(f"written to {out}", quiet=quiet)


def _show(explanations: Sequence[Explanation]) -> None:
    from ..views.explanation.terminal import Terminal, render

    width = shutil.get_terminal_size().columns
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    terminal = Terminal.detect(os.environ, is_terminal, width=width)
    show_drawn("\n\n".join(render(explanation, terminal) for explanation in explanations))


def _write(explanations: Sequence[Explanation], path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix in PICTURES and len(explanations) > 1:
        raise ConfigError(
            f"{path} can hold one explanation, got {len(explanations)}; use --limit 1"
        )
    if suffix == ".html":
        from ..views.explanation.page import render

        write_file(path, render(explanations, title="What decided"))
    elif suffix in (".json", ".jsonl"):
        lines = [explanation.to_json() for explanation in explanations]
        whole = f"[{', '.join(lines)}]" if suffix == ".json" else "\n".join(lines)
        write_file(path, whole + "\n")
    else:
        explanations[0].write_image(path)
