"""``regard evaluate`` on a translator: BLEU and chrF on pairs it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DataError
from .inputs import existing, open_documents, pair_columns
from .output import Remarks
from .progress import counted

if TYPE_CHECKING:
    from ..data.pairs import Pair
    from ..estimators.translator import Translator
    from ..records.links import AlignmentScores, GoldLinks
    from .output import Delivery

__all__ = ["SCORES", "PairsToScore", "evaluate_translator"]

SCORES = (".json",)
"""How the scores of a translator can be written: a few numbers need no page."""


@dataclass(frozen=True)
class PairsToScore:
    """Where the pairs lie; without names the columns are those of the training."""

    data: str
    source_column: str | None
    target_column: str | None
    encoding: str | None
    on_bad_row: str
    links: str | None = None  # a file that says which words of each pair belong together


def evaluate_translator(
    model: Path, pairs: PairsToScore, delivery: Delivery, *, device: str
) -> None:
    """Score a translator, print the scores, and write them if asked."""
    from ..data.pairs import read_pairs
    from ..estimators.translator import Translator
    from ..records.translation import TranslationScores

    existing(pairs.data)
    translator = Translator.load(model, device=device)
    remarks = Remarks(quiet=delivery.quiet)
    columns = pair_columns(
        translator.facts_,
        source=pairs.source_column,
        target=pairs.target_column,
        encoding=pairs.encoding,
        tell=remarks.add,
    )
    reader = open_documents(pairs.data, columns, pairs.on_bad_row, tell=remarks.add)
    read = list(counted(read_pairs(reader), "read", quiet=delivery.quiet))
    gold = None if pairs.links is None else _gold(pairs.links, len(read))
    found = translator.evaluate(read, title=Path(pairs.data).name)
    if gold is not None:
        found = replace(found, alignment=_linked(translator, read, gold))
    for line in reader.counts.describe() if reader.counts.skipped else ():
        remarks.add(line)
    remarks.say()
    delivery.give(found, lines=TranslationScores.describe)


def _gold(path: str, pairs: int) -> list[GoldLinks]:
    """Read which words belong together, a line for each pair; before any work is done."""
    from ..data.links import read_links

    gold = list(read_links(existing(path)))
    if len(gold) != pairs:
        raise DataError(f"{path} has links of {len(gold):,} pairs, but there are {pairs:,} pairs")
    return gold


def _linked(
    translator: Translator, pairs: Sequence[Pair], gold: list[GoldLinks]
) -> AlignmentScores:
    """Score where the translator looks while it is told to write the references."""
    from ..tasks.alignment import links_of, score_links

    aligned = translator.align([pair.source for pair in pairs], [pair.target for pair in pairs])
    return score_links([links_of(one) for one in aligned], gold)
