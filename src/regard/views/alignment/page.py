"""Draw where a translator looked as HTML that needs nothing else.

Without its script, which lights up what belongs together, a page can be read just as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...records.alignment import Alignment
from ..drawing.colours import DARK, LEGEND_LEVELS, LEVELS, LIGHT, Theme, hexadecimal
from ..drawing.page import asset, escape, link_documents, page, themed
from ..drawing.words import plural, two_digits
from ..drawing.wrapping import is_right_to_left
from ..explanation.page import styles as explanation_styles
from .words import (
    SCALE,
    names,
    remark,
    score,
    stretches,
    tell_looks,
    tell_loss,
    tell_verdict,
    write_need,
)

__all__ = [
    "draw_verdict",
    "fragment",
    "legend",
    "matrix",
    "notebook",
    "render",
    "scripts",
    "styles",
]


def render(sources: Sequence[Sequence[Alignment]], *, title: str = "Where it looked") -> str:
    """Return a whole page: for each source what was written about it, the best first."""
    parts = [f"<h1>{escape(title)}</h1>", _index(sources)]
    for number, candidates in enumerate(sources, start=1):
        parts.append(f'<div id="document-{number}">{fragment(candidates)}</div>')
    style = styles(most=max(map(len, sources), default=0))
    return page(title, "\n".join(parts), styles=style, scripts=scripts())


def fragment(candidates: Sequence[Alignment]) -> str:
    """Return what was written about one source as HTML to stand in a page that has ``styles()``."""
    parts = "".join(_candidate(one, rank) for rank, one in enumerate(candidates, start=1))
    return f'<article class="regard rg-aligned">{_choice(candidates)}{parts}{legend()}</article>'


def notebook(candidates: Sequence[Alignment]) -> str:
    """Return what was written about one source with all that it needs, as a notebook shows it."""
    style = styles(most=len(candidates))
    return f"<style>{style}</style>{fragment(candidates)}<script>{scripts()}</script>"


@cache
def scripts() -> str:
    """Return the script of ``fragment``, for any number of them on a page."""
    return asset("alignment.js")


@cache
def styles(*, most: int = 1) -> str:
    """Return the style sheet of ``fragment``, for at most so many candidates."""
    shades = "".join(
        f".rg-aligned .g{level}{{background:var(--k{level});color:var(--l{level})}}"
        for level in range(1, LEVELS + 1)
    )
    chosen = "".join(
        f".regard:has([value=n{rank}]:checked) .rg-wrote:not(.n{rank}){{display:none}}"
        for rank in range(1, most + 1)
    )
    return (
        f"{explanation_styles()}{themed('.rg-aligned', _greys(LIGHT), _greys(DARK))}"
        f"{shades}{chosen}\n{asset('alignment.css')}"
    )


def _greys(theme: Theme) -> str:
    greys = {level: theme.grey(level) for level in range(1, LEVELS + 1)}
    return ";".join(
        f"--k{level}:{hexadecimal(grey)};--l{level}:{hexadecimal(theme.ink_on(grey))}"
        for level, grey in greys.items()
    )


def _index(sources: Sequence[Sequence[Alignment]]) -> str:
    """A list of contents, where there is more than one source."""
    return link_documents([(escape(candidates[0].source), "") for candidates in sources])


def _choice(candidates: Sequence[Alignment]) -> str:
    """Which of several candidates is shown; the style sheet does it, without a script."""
    if len(candidates) < 2:
        return ""
    rows = "".join(
        f'<li><label><input type="radio" name="best" value="n{rank}"{" checked" * (rank == 1)}>'
        f"<bdi>{escape(one.target)}</bdi> <small>{escape(score(one))}</small></label></li>"
        for rank, one in enumerate(candidates, start=1)
    )
    # A dialog form outside a dialog is never sent; a form at all keeps the choices of several
    # sources on one page apart.
    return (
        '<form class="rg-best" method="dialog" autocomplete="off"><fieldset>'
        f"<legend>{plural(len(candidates), 'translation')}, best first</legend>"
        f"<ol>{rows}</ol></fieldset></form>"
    )


def _candidate(alignment: Alignment, rank: int) -> str:
    chosen_by = f" <small>{escape(score(alignment))}</small>" if alignment.score else ""
    notes = remark(alignment)
    return (
        f'<section class="rg-wrote n{rank}">'
        f'<p class="rg-caption">Source</p>{_sentence(alignment, "from")}'
        f'<p class="rg-caption">Written{chosen_by}</p>{_sentence(alignment, "to")}'
        f'<p class="rg-said" aria-live="polite">{escape(tell_looks(alignment))}</p>'
        + (f'<p class="rg-notes">{escape(notes)}</p>' if notes else "")
        + f"{matrix(alignment)}{draw_verdict(tell_verdict(alignment))}</section>"
    )


def draw_verdict(lines: Sequence[str]) -> str:
    """Draw whether what was looked at matters: what to conclude first; nothing without lines."""
    if not lines:
        return ""
    conclusion, *others = map(escape, lines)
    told = "".join(f"<p>{line}</p>" for line in others)
    return f'<section class="rg-receipt"><p class="rg-verdict">{conclusion}</p>{told}</section>'


def _sentence(alignment: Alignment, side: str) -> str:
    """One of the two texts as it is written, its pieces numbered."""
    text, spans = (
        (alignment.source, alignment.source_spans)
        if side == "from"
        else (alignment.target, alignment.target_spans)
    )
    copied = alignment.copied if side == "to" else ()
    marks = dict.fromkeys(copied, ' class="rg-copied" title="copied from the source"')
    drawn = "".join(
        escape(part.text)
        if part.piece is None
        else f'<span data-n="{part.piece}"{marks.get(part.piece, "")}>{escape(part.text)}</span>'
        for part in stretches(text, spans)
    )
    return f'<p class="rg-sentence rg-{side}" dir="auto">{drawn}</p>'


def matrix(alignment: Alignment) -> str:
    """Return the table, which scrolls in its own box; nothing where there are no weights.

    Each cell holds its weight in per cent where it is drawn at all; the last column says how
    many pieces of the source counted for the row.
    """
    if not alignment.weights.size:
        return ""
    heads = "".join(
        f'<th scope="col" title="{escape(name)}"><bdi>{escape(name)}</bdi></th>'
        for name in names(alignment.source_pieces)
    )
    # A source that is read from the right has its first column at the right.
    direction = "rtl" if is_right_to_left(alignment.source) else "ltr"
    return (
        '<div class="rg-scroll" role="region" aria-label="Weights" tabindex="0">'
        f'<table class="rg-matrix" dir="{direction}"><thead><tr><td></td>{heads}'
        '<th scope="col" class="rg-count" title="the exponential of the entropy of the row">'
        f"pieces that counted</th>{_draw_loss_head(alignment)}</tr></thead>"
        f"<tbody>{_rows(alignment)}</tbody></table></div>"
    )


def legend() -> str:
    """What the greys mean."""
    swatches = "".join(
        f'<span class="rg-swatch g{level}">{escape(two_digits(SCALE.value_at(level)))}</span>'
        for level in LEGEND_LEVELS
    )
    return (
        f'<div class="rg-legend"><span><span class="rg-swatches">{swatches}</span>'
        "weight of a source piece, above it, for a written piece, beside it; each row is "
        "100 %</span></div>"
    )


def _draw_loss_head(alignment: Alignment) -> str:
    if alignment.receipt is None or not alignment.receipt.written:
        return ""
    meant = "percentage points that its probability loses, and in brackets without random pieces"
    return f'<th scope="col" class="rg-count" title="{meant}">lost without it (random)</th>'


def _draw_loss_cells(alignment: Alignment) -> list[str]:
    """What each row loses without what it looked at; nothing where it was not measured."""
    written = alignment.receipt.written if alignment.receipt else ()
    found = [
        f'<td class="rg-lost" title="{escape(tell_loss(one))}">{escape(write_need(one))}</td>'
        for one in written
    ]
    return found or [""] * len(alignment.weights)


def _rows(alignment: Alignment) -> str:
    counts, columns = alignment.effective_counts, alignment.weights.shape[1]
    return "".join(
        f'<tr><th scope="row" title="{escape(name)}"><bdi>{escape(name)}</bdi></th>'
        f"{''.join(map(_cell, row))}"
        f'<td class="rg-count" style="--v:{count / columns:.3f}">{count:.1f}</td>{lost_cell}</tr>'
        for name, row, count, lost_cell in zip(
            names(alignment.target_pieces),
            alignment.weights.tolist(),
            counts.tolist(),
            _draw_loss_cells(alignment),
            strict=True,
        )
    )


def _cell(weight: float) -> str:
    level = SCALE.level(weight)
    return f'<td class="g{level}">{100 * weight:.0f}</td>' if level else "<td></td>"
