"""The matrix of an alignment as a table: a row for each written piece, greys for weights."""

from __future__ import annotations

from ..records.alignment import Alignment
from .alignment_summary import SCALE, names
from .drawing.page import escaped
from .drawing.scale import LEGEND_LEVELS
from .drawing.words import two_digits
from .drawing.wrapping import is_right_to_left

__all__ = ["legend", "matrix"]


def matrix(alignment: Alignment) -> str:
    """Return the table, which scrolls in its own box; nothing where there are no weights.

    Each cell holds its weight in per cent where it is drawn at all; the last column says how
    many pieces of the source counted for the row.
    """
    if not alignment.weights.size:
        return ""
    heads = "".join(
        f'<th scope="col" title="{escaped(name)}"><bdi>{escaped(name)}</bdi></th>'
        for name in names(alignment.source_pieces)
    )
    # A source that is read from the right has its first column at the right.
    direction = "rtl" if is_right_to_left(alignment.source) else "ltr"
    return (
        '<div class="rg-scroll" role="region" aria-label="Weights" tabindex="0">'
        f'<table class="rg-matrix" dir="{direction}"><thead><tr><td></td>{heads}'
        '<th scope="col" class="rg-count" title="the exponential of the entropy of the row">'
        f"pieces that counted</th></tr></thead><tbody>{_rows(alignment)}</tbody></table></div>"
    )


def legend() -> str:
    """What the greys mean."""
    swatches = "".join(
        f'<span class="rg-swatch g{level}">{escaped(two_digits(SCALE.value_at(level)))}</span>'
        for level in LEGEND_LEVELS
    )
    return (
        f'<div class="rg-legend"><span><span class="rg-swatches">{swatches}</span>'
        "weight of a source piece, above it, for a written piece, beside it; each row is "
        "100 %</span></div>"
    )


def _rows(alignment: Alignment) -> str:
    counts, columns = alignment.effective_counts, alignment.weights.shape[1]
    return "".join(
        f'<tr><th scope="row" title="{escaped(name)}"><bdi>{escaped(name)}</bdi></th>'
        f"{''.join(map(_cell, row))}"
        f'<td class="rg-count" style="--v:{count / columns:.3f}">{count:.1f}</td></tr>'
        for name, row, count in zip(
            names(alignment.target_pieces),
            alignment.weights.tolist(),
            counts.tolist(),
            strict=True,
        )
    )


def _cell(weight: float) -> str:
    level = SCALE.level(weight)
    return f'<td class="g{level}">{100 * weight:.0f}</td>' if level else "<td></td>"
