"""``regard explain``: on your own words, what decided."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ConfigError, DataError
from .options import Device, Encoding, ModelFolder, Quiet, TextColumn, existing, require_suffix
from .progress import say

if TYPE_CHECKING:
    from ..records.explanation import Explanation

__all__ = ["explain"]

SUFFIXES = (".html", ".json", ".jsonl", ".png", ".svg")
PICTURES = (".png", ".svg")


def explain(
    model: ModelFolder,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="A file of texts, in place of --text.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="The text itself.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write .html, .json, .jsonl, .png or .svg instead of showing it."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="How many documents of a file to explain.")
    ] = 20,
    method: Annotated[str, typer.Option(help="How to explain.")] = "default",
    label: Annotated[
        str | None, typer.Option(help="The label to explain, in place of the model's answer.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="The label to contrast it with, for --method contrast.")
    ] = None,
    receipt: Annotated[
        bool | None,
        typer.Option(help="Measure how faithful the explanation is; usual for --text."),
    ] = None,
    text_column: TextColumn = "text",
    encoding: Encoding = None,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Show which sentences and words decided.

    On the terminal, or with --out as a page, a picture or JSON.
    """
    from ..estimators.classifier import DocumentClassifier

    if (data is None) == (text is None):
        raise typer.BadParameter("give either --text or a file of texts")
    if out is not None:
        require_suffix(out, SUFFIXES)
    texts = [text] if text is not None else _texts(str(data), text_column, encoding, limit + 1)
    if len(texts) > limit:
        texts = texts[:limit]
        say(f"explaining the first {limit:,} documents; --limit explains more", quiet=quiet)
    found = DocumentClassifier.load(model, device=device).explain(
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


def _texts(data: str, text_column: str, encoding: str | None, count: int) -> list[str]:
    from ..data.columns import Columns
    from ..data.readers import read_documents

    columns = Columns(text=text_column, label=None, encoding=encoding)
    reader = read_documents(existing(data), columns)
    texts = [document.text for document in itertools.islice(reader, count)]
    if not texts:
        raise DataError(f"{reader.name} has no texts to explain")
    return texts


def _show(explanations: Sequence[Explanation]) -> None:
    from ..views.terminal import Terminal, render

    width = shutil.get_terminal_size().columns
    terminal = Terminal.detect(os.environ, sys.stdout.isatty(), width=width)
    typer.echo("\n\n".join(render(explanation, terminal) for explanation in explanations))


def _write(explanations: Sequence[Explanation], path: Path) -> None:
    suffix = require_suffix(path, SUFFIXES)
    if suffix in PICTURES and len(explanations) > 1:
        raise ConfigError(
            f"{path} can hold one explanation, got {len(explanations)}; use --limit 1"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    if suffix == ".html":
        from ..views.html import render

        path.write_text(render(explanations, title="What decided"), encoding="utf-8")
    elif suffix in (".json", ".jsonl"):
        lines = [explanation.to_json() for explanation in explanations]
        whole = f"[{', '.join(lines)}]" if suffix == ".json" else "\n".join(lines)
        path.write_text(whole + "\n", encoding="utf-8")
    else:
        explanations[0].write_image(path)
