"""Which classes are taken for which: a heat map that works for two classes and for fifty."""

from __future__ import annotations

import math
import re

from ..records.evaluation import Evaluation
from .drawing.charts import figure
from .drawing.page import escaped
from .drawing.words import percent, plural

__all__ = ["confusion_map", "mix_ups"]

_TABLE_UP_TO = 12  # classes; a larger matrix has no room for its numbers
_PICTURE_UP_TO = 120  # classes; beyond, only the commonest mix-ups can be read
_LONGEST_NAME = 18  # characters in the picture; the whole name shows on pointing
_DARKEST = 0.55  # so that ink stays readable on it


def confusion_map(evaluation: Evaluation) -> str:
    """Draw true against predicted classes: a table for few, a picture for many, else nothing."""
    count = len(evaluation.classes)
    if not evaluation.confusion or count > _PICTURE_UP_TO:
        return ""
    return _as_table(evaluation) if count <= _TABLE_UP_TO else _as_picture(evaluation)


def mix_ups(evaluation: Evaluation, count: int = 8) -> str:
    """List the commonest mistakes: which class is taken for which, and how often."""
    found = evaluation.mix_ups()
    if not found:
        return ""
    items = "".join(
        f"<li><span><bdi>{escaped(part.true)}</bdi> <span class='arrow'>taken for</span> "
        f"<bdi>{escaped(part.predicted)}</bdi></span> <b>{part.count:,}</b> "
        f"<small>{percent(part.share)}</small></li>"
        for part in found[:count]
    )
    first = f"; the first {count} of {len(found):,} pairs" if len(found) > count else ""
    return (
        f"<div><h3>Commonest mix-ups</h3><ol class='mixups'>{items}</ol>"
        f"<p class='note'>Count, and share of the true class{first}.</p></div>"
    )


def _name(evaluation: Evaluation, number: int) -> str:
    # Long names such as rec.sport.hockey may be broken where their parts meet.
    parts = re.split(r"(?<=[._/-])(?=\w)", evaluation.classes[number])
    return f"<bdi>{'<wbr>'.join(map(escaped, parts))}</bdi>"


def _strength(number: int, total: int) -> float:
    """How dark a cell is: by the root of its share, so that rare mistakes show too."""
    return _DARKEST * math.sqrt(number / total) if total else 0.0


def _tip(evaluation: Evaluation, true: int, predicted: int) -> str:
    number, total = evaluation.confusion[true][predicted], sum(evaluation.confusion[true])
    share = f", {percent(number / total)} of {plural(total, 'document')}" if total else ""
    return escaped(
        f"{evaluation.classes[true]} taken for {evaluation.classes[predicted]}: {number:,}{share}"
        if true != predicted
        else f"{evaluation.classes[true]} found: {number:,}{share}"
    )


def _as_table(evaluation: Evaluation) -> str:
    heads = "".join(
        f'<th scope="col">{_name(evaluation, number)}</th>'
        for number in range(len(evaluation.classes))
    )
    rows = []
    for true, row in enumerate(evaluation.confusion):
        total = sum(row)
        cells = "".join(
            f'<td class="{"hit" if true == predicted else "miss"}" '
            f'style="--strength:{_strength(number, total):.3f}" '
            f'title="{_tip(evaluation, true, predicted)}">{number:,}'
            f"<small>{percent(number / total) if total else '–'}</small></td>"
            for predicted, number in enumerate(row)
        )
        rows.append(f'<tr><th scope="row">{_name(evaluation, true)}</th>{cells}</tr>')
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix">'
        '<table class="confusion"><caption>True class down the side, '
        f"predicted class across</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _as_picture(evaluation: Evaluation) -> str:
    # Large classes first, so that the picture is not a diagonal of near-empty rows.
    order = sorted(
        range(len(evaluation.classes)), key=lambda number: -sum(evaluation.confusion[number])
    )
    cell, left, top = max(9, min(26, 780 // len(order))), 130, 130
    size = left + cell * len(order) + 8
    parts = []
    for place, number in enumerate(order):
        middle = cell * place + cell / 2
        name = evaluation.classes[number]
        short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
        small = f'font-size="{min(12, cell)}"'
        parts.append(
            f'<text {small} x="{left - 8}" y="{top + middle + 4:.1f}" text-anchor="end">'
            f"{escaped(short)}<title>{escaped(name)}</title></text>"
            f'<text {small} text-anchor="start" '
            f'transform="translate({left + middle + 4:.1f} {top - 8}) rotate(-90)">'
            f"{escaped(short)}<title>{escaped(name)}</title></text>"
            f'<rect class="row" x="{left}" y="{top + cell * place}" '
            f'width="{cell * len(order)}" height="{cell}"/>'
        )
    for down, true in enumerate(order):
        for across, predicted in enumerate(order):
            number = evaluation.confusion[true][predicted]
            if number:
                strength = _strength(number, sum(evaluation.confusion[true])) / _DARKEST
                parts.append(
                    f'<rect class="{"hit" if true == predicted else "miss"}" '
                    f'fill-opacity="{0.12 + 0.88 * strength:.3f}" '
                    f'x="{left + cell * across + 0.5}" y="{top + cell * down + 0.5}" '
                    f'width="{cell - 1}" height="{cell - 1}">'
                    f"<title>{_tip(evaluation, true, predicted)}</title></rect>"
                )
    description = "True classes down the side, predicted across, large classes first"
    drawn = figure(
        "".join(parts),
        size=(size, top + size - left),
        title="Confusion matrix",
        description=description,
    )
    return f'<figure class="matrix">{drawn}<figcaption>{description}.</figcaption></figure>'
