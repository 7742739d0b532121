"""Draw where a captioner looked as HTML that needs nothing else: the picture once for each word.

Cells that a word did not look at lie under a veil. Without its script, which shows a word large
when one points at it, a page can be read just as well.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache

from ...records.caption import Caption, CaptionEvaluation
from ..alignment.page import draw_verdict
from ..alignment.words import stretches
from ..drawing.page import asset, definitions, escape, link_documents, page
from ..drawing.words import plural, two_digits
from ..explanation.page import styles as explanation_styles
from .words import (
    LEVELS,
    levels,
    name_place,
    remark,
    tell_looks,
    tell_loss,
    tell_verdict,
    write_need,
)

__all__ = ["fragment", "notebook", "render", "render_errors", "scripts", "styles"]

_DARKEST = 0.8  # how much of a cell the veil hides that was not looked at


def render(captions: Sequence[Caption], *, title: str = "Where it looked") -> str:
    """Return a whole page: what was written about each picture, and where each word looked."""
    parts = [f"<h1>{escape(title)}</h1>", _index(captions), *_articles(captions)]
    return page(title, "\n".join(parts), styles=styles(), scripts=scripts())


def render_errors(found: CaptionEvaluation, *, title: str = "What went worst") -> str:
    """Return a page of the pictures that went worst, worst first, with where the model looked."""
    scores = found.scores
    bleu = (scores.bleu_1, scores.bleu_2, scores.bleu_3, scores.bleu_4)
    tiles = [(f"BLEU-{order}", f"{value:.1f}") for order, value in enumerate(bleu, 1)]
    tiles.append(("exactly like a reference", f"{100 * scores.exact:.1f} %"))
    if scores.loss is not None:
        tiles.append(("loss of a word", f"{scores.loss:.2f}"))
    said = (
        f"{plural(scores.pictures, 'picture')}. Below, the {len(found.worst):,} whose references "
        "cost the model most, a word on average, the worst first: what it wrote, what people "
        "wrote, and where it looked."
    )
    left_out = "".join(f"<li>{escape(one)}</li>" for one in scores.left_out)
    parts = [
        f"<h1>{escape(title)}</h1>",
        definitions(tiles, "tiles"),
        f'<p class="note">{escape(said)}</p>',
        f"<p>Pictures that could not be read:</p><ul>{left_out}</ul>" if left_out else "",
        _index(found.worst),
        *_articles(found.worst),
    ]
    style = asset("report.css") + styles()
    return page(title, "\n".join(parts), styles=style, scripts=scripts())


def notebook(captions: Sequence[Caption]) -> str:
    """Return captions with all that they need, as a notebook shows them."""
    parts = "".join(map(fragment, captions))
    return f"<style>{styles()}</style>{parts}<script>{scripts()}</script>"


def fragment(caption: Caption) -> str:
    """Return one picture and its words as HTML to stand in a page that has ``styles()``."""
    shown = levels(caption.weights)
    veils = [_veil(caption, row, shown[row].tolist()) for row in range(len(shown))]
    told = "".join(
        escape(part.text)
        if part.piece is None
        else f'<span data-n="{part.piece}" tabindex="0">{escape(part.text)}</span>'
        for part in stretches(caption.text, caption.spans)
    )
    looks = "".join(
        f'<li data-n="{row}"><div class="rg-pic">{veil}</div>{_name(caption, row)}</li>'
        for row, veil in enumerate(veils)
    )
    notes = remark(caption)
    return (
        f'<article class="regard rg-captioned" style="{_style(caption)}">'
        f'<div class="rg-stage"><div class="rg-pic"></div><div>'
        f'<p class="rg-caption">{escape(caption.name)}</p>'
        f'<p class="rg-sentence" dir="auto">{told}</p>{_references(caption)}'
        f'<p class="rg-said" aria-live="polite">{escape(tell_looks(caption))}</p>'
        + (f'<p class="rg-notes">{escape(notes)}</p>' if notes else "")
        + f'</div></div><ol class="rg-looks">{looks}</ol>{draw_verdict(tell_verdict(caption))}'
        '<div class="rg-legend"><span>Clear cells were looked at most for the word below, dark '
        "ones hardly or not at all; the heaviest is outlined, and its weight stands beside the "
        "word. Point at a word to see it large.</span></div></article>"
    )


@cache
def scripts() -> str:
    """Return the script of ``fragment``, for any number of them on a page."""
    return asset("caption.js")


@cache
def styles() -> str:
    """Return the style sheet of ``fragment``."""
    veils = "".join(
        f".rg-veil .v{level}{{--o:{_DARKEST * (1 - level / LEVELS):.2f}}}"
        for level in range(LEVELS + 1)
    )
    return f"{explanation_styles()}{veils}\n{asset('caption.css')}"


def _style(caption: Caption) -> str:
    picture = base64.b64encode(caption.picture).decode("ascii")
    width, height = max(1, caption.width), max(1, caption.height)
    return (
        f"--pic:url(data:image/jpeg;base64,{picture});--ratio:{width}/{height};"
        f"--rows:{caption.rows};--columns:{caption.columns}"
    )


def _veil(caption: Caption, row: int, shades: list[int]) -> str:
    """The cells of the picture, each as dark as it was not looked at."""
    heaviest = int(caption.weights[row].argmax())
    cells = "".join(
        f'<i class="v{shade}{" rg-peak" * (place == heaviest)}"></i>'
        for place, shade in enumerate(shades)
    )
    return f'<div class="rg-veil">{cells}</div>'


def _name(caption: Caption, row: int) -> str:
    """The word below its picture, how much its heaviest cell has, and what it loses without."""
    peak = two_digits(float(caption.weights[row].max()))
    place = name_place(caption, row)
    lost = ""
    if caption.receipt is not None and caption.receipt.written:
        receipt = caption.receipt.written[row]
        lost = (
            f'<small class="rg-lost" title="{escape(tell_loss(receipt))}">'
            f"{escape(write_need(receipt))}</small>"
        )
    return (
        f"<p><b>{escape(caption.words[row])}</b> "
        f'<small title="weight of the heaviest cell, and where it is">{escape(peak)} '
        f"{escape(place)}</small>{lost}</p>"
    )


def _references(caption: Caption) -> str:
    if not caption.references:
        return ""
    lines = "".join(f'<li dir="auto">{escape(one)}</li>' for one in caption.references)
    cost = "" if caption.loss is None else f" <small>loss {caption.loss:.2f}</small>"
    return f'<p class="rg-caption">People wrote{cost}</p><ul class="rg-people">{lines}</ul>'


def _index(captions: Sequence[Caption]) -> str:
    """A list of contents, where there is more than one picture."""
    return link_documents(
        [
            (escape(one.text), "" if one.loss is None else f" <small>{one.loss:.2f}</small>")
            for one in captions
        ]
    )


def _articles(captions: Sequence[Caption]) -> list[str]:
    return [
        f'<div id="document-{number}">{fragment(caption)}</div>'
        for number, caption in enumerate(captions, start=1)
    ]
