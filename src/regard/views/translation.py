"""How good a translator is, as one page: its scores in plain words, its worst and best pairs."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.translation import TranslationScores, WrittenPair
from .drawing.page import TableCell, asset, definitions, escape, report, summarise, table
from .drawing.words import percent, plural

__all__ = ["render"]

_STYLES = """.scroll td:not(.bar) { text-align: start; vertical-align: top; min-width: 10rem; }
.scroll thead th:not(:last-child) { text-align: start; }
"""


def render(scores: TranslationScores) -> str:
    """Return the whole page, which makes no requests."""
    sections = {
        "Scores": _scores(scores),
        "Worst translations": _pairs(scores.worst, "Farthest from their references first"),
        "Best translations": _pairs(scores.best, "Nearest to their references first"),
        "How it was counted": definitions(
            [("BLEU", scores.bleu_signature), ("chrF", scores.chrf_signature)], "facts"
        ),
    }
    title = f"Translations: {scores.title}" if scores.title else "Translations"
    styles, scripts = asset("report.css") + _STYLES, asset("report.js")
    return report(title, summarise(_headline(scores)), sections, styles=styles, scripts=scripts)


def _headline(scores: TranslationScores) -> list[str]:
    """Say in a few sentences how near the translations come."""
    said = [
        f"BLEU {scores.bleu:.1f} and chrF {scores.chrf:.1f} on {plural(scores.pairs, 'pair')}.",
        f"{percent(scores.exact)} are written exactly like their references.",
    ]
    if scores.unended:
        said.append(f"{scores.unended:,} came to the limit of their length before their end.")
    return said


def _scores(scores: TranslationScores) -> str:
    tiles = [("BLEU", f"{scores.bleu:.2f}"), ("chrF", f"{scores.chrf:.2f}")]
    tiles.append(("Exactly like the reference", percent(scores.exact)))
    if scores.character_error_rate is not None:
        tiles.append(("Character error rate", percent(scores.character_error_rate)))
    if scores.effective_count is not None:
        tiles.append(("Source pieces a piece looked at", f"{scores.effective_count:.1f}"))
    if scores.alignment is not None:
        tiles.append(("Alignment error rate", f"{scores.alignment.error_rate:.3f}"))
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in tiles
    )
    note = (
        "BLEU counts runs of one to four words that a translation shares with its reference, chrF "
        "runs of letters; 100 is the reference itself. Both compare systems on the same pairs; by "
        "themselves they do not say how good a translation is: read some below."
    )
    return f'<dl class="tiles">{cells}</dl><p class="note">{note}</p>'


def _pairs(pairs: Sequence[WrittenPair], caption: str) -> str:
    if not pairs:
        return ""
    rows = [
        [
            TableCell(f"{pair.index + 1:,}", pair.index + 1),
            TableCell(pair.source),
            TableCell(pair.written),
            TableCell(pair.reference),
            TableCell(f"{pair.chrf:.0f}", pair.chrf, pair.chrf / 100),
        ]
        for pair in pairs
    ]
    heads = ("Pair", "Source", "Written", "Reference", "chrF")
    return table(heads, rows, caption=f"{caption}; choose a heading to sort")
