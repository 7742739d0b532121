"""``regard explain`` on a translator: what it writes, and where it looked."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..files import write_file
from .inputs import TextsToExplain
from .output import show_drawn
from .progress import say

if TYPE_CHECKING:
    from ..records.alignment import Alignment

__all__ = ["TranslationsToExplain", "explain_translator"]


@dataclass(frozen=True)
class TranslationsToExplain:
    """The texts to translate, how often each, and whether whole words or pieces are shown."""

    texts: TextsToExplain
    n_best: int
    whole_words: bool


def explain_translator(
    model: Path, job: TranslationsToExplain, *, out: Path | None, device: str, quiet: bool
) -> None:
    """Translate, and show or write where each written piece looked."""
    from ..estimators.translator import Translator

    translator = Translator.load(model, device=device)
    if job.n_best > 1:
        translator.set_params(generation__method="beam")
    texts = job.texts.read(translator.facts_, quiet=quiet)
    found = translator.explain_candidates(texts, job.n_best)
    if job.whole_words:
        found = [[one.by_words() for one in candidates] for candidates in found]
    if out is None:
        _show(found)
    else:
        _write(found, out)
        say(f"written to {out}", quiet=quiet)


def _show(found: Sequence[Sequence[Alignment]]) -> None:
    from ..views.alignment.terminal import Terminal, render

    width = shutil.get_terminal_size().columns
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    terminal = Terminal.detect(os.environ, is_terminal, width=width)
    show_drawn("\n\n".join(render(candidates, terminal) for candidates in found))


def _write(found: Sequence[Sequence[Alignment]], path: Path) -> None:
    """Write a page, a picture of the only alignment, or JSON: one alignment after the other."""
    suffix, every = path.suffix.lower(), [one for candidates in found for one in candidates]
    if suffix in (".png", ".svg") and len(every) > 1:
        raise ConfigError(
            f"{path} can hold one alignment, got {len(every)}; use --limit 1 and --n-best 1"
        )
    if suffix == ".html":
        from ..views.alignment.page import render

        write_file(path, render(found))
    elif suffix in (".json", ".jsonl"):
        lines = [one.to_json() for one in every]
        whole = f"[{', '.join(lines)}]" if suffix == ".json" else "\n".join(lines)
        write_file(path, whole + "\n")
    else:
        every[0].write_image(path)
