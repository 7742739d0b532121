"""Translators from the shell: how good they are, where they look, what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import DataError
from ..inputs import existing, open_documents, pair_columns
from ..output import Delivery, Drawn, Remarks
from ..progress import counted
from .task import ModelToEvaluate, Task, TextsToShow, describe_saved

if TYPE_CHECKING:
    from ...data.pairs import Pair
    from ...estimators.translator import Translator
    from ...records.alignment import Alignment
    from ...records.links import AlignmentScores, GoldLinks
    from ...views.drawing.terminal import Terminal

__all__ = ["TRANSLATE"]

SCORES = (".json",)
"""How the scores of a translator can be written: a few numbers need no page."""


def _evaluate(asked: ModelToEvaluate) -> None:
    """Score a translator by BLEU and chrF, and where it looks by links that people gave."""
    from ...data.pairs import read_pairs
    from ...estimators.translator import Translator
    from ...records.translation import TranslationScores

    inputs = (asked.data, asked.links)
    delivery = Delivery(asked.out, asked.json, asked.quiet, inputs, "scores", SCORES)
    existing(asked.data)
    translator = Translator.load(asked.model, device=asked.device)
    remarks = Remarks(quiet=asked.quiet)
    columns = pair_columns(
        translator.facts_,
        source=asked.source_column,
        target=asked.target_column,
        encoding=asked.encoding,
        tell=remarks.add,
    )
    reader = open_documents(asked.data, columns, asked.on_bad_row, tell=remarks.add)
    pairs = list(counted(read_pairs(reader), "read", quiet=asked.quiet))
    gold = None if asked.links is None else _gold(asked.links, len(pairs))
    found = translator.evaluate(pairs, title=Path(asked.data).name)
    if gold is not None:
        found = replace(found, alignment=_linked(translator, pairs, gold))
    for line in reader.counts.describe() if reader.counts.skipped else ():
        remarks.add(line)
    remarks.say()
    delivery.give(found, lines=TranslationScores.describe)


def _gold(path: str, pairs: int) -> list[GoldLinks]:
    """Read which words belong together, a line for each pair; before any work is done."""
    from ...data.formats.links import read_links

    gold = list(read_links(existing(path)))
    if len(gold) != pairs:
        raise DataError(f"{path} has links of {len(gold):,} pairs, but there are {pairs:,} pairs")
    return gold


def _linked(
    translator: Translator, pairs: Sequence[Pair], gold: list[GoldLinks]
) -> AlignmentScores:
    """Score where the translator looks while it is told to write the references."""
    from ...tasks.alignment import links_of, score_links

    aligned = translator.align([pair.source for pair in pairs], [pair.target for pair in pairs])
    return score_links([links_of(one) for one in aligned], gold)


def _explain(asked: TextsToShow) -> None:
    """Translate, and show where each written piece looked."""
    from ...estimators.translator import Translator

    translator = Translator.load(asked.model, device=asked.device)
    if asked.n_best > 1:
        translator.set_params(generation__method="beam")
    texts = asked.texts.read(translator.facts_, quiet=asked.quiet)
    found = translator.explain_candidates(texts, asked.n_best)
    if asked.whole_words:
        found = [[one.by_words() for one in candidates] for candidates in found]
    every = [one for candidates in found for one in candidates]
    Drawn(
        every,
        lambda _: _page(found),
        lambda _, terminal: _lines(found, terminal),
        one="alignment",
        fewer="--limit 1 and --n-best 1",
    ).give(asked.out, quiet=asked.quiet)


def _page(found: Sequence[Sequence[Alignment]]) -> str:
    from ...views.alignment.page import render

    return render(found)


def _lines(found: Sequence[Sequence[Alignment]], terminal: Terminal) -> list[str]:
    from ...views.alignment.terminal import render

    return [render(candidates, terminal) for candidates in found]


def _describe(folder: Path) -> dict[str, object]:
    from ...estimators.saved import SavedTranslator

    saved = SavedTranslator.read(folder)
    facts = {"model": saved.settings.network.name, "task": "translate", **saved.facts}
    return describe_saved(folder, facts, saved.settings.to_dict())


_LOOK = "use regard explain to see where it looks"
TRANSLATE = Task(
    noun="translator",
    options={
        "evaluate": ("source_column", "target_column", "links"),
        "explain": ("n_best", "whole_words"),
    },
    instead={
        "predict": "use regard translate to translate texts",
        "look": _LOOK,
        "audit": _LOOK,
        "diff": "use regard evaluate on both models to compare their scores",
    },
    evaluate=_evaluate,
    explain=_explain,
    describe=_describe,
)
