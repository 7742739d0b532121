"""Draw where words looked inside a network: a text to point at, a matrix, and a receipt each."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from functools import cache

from ..records.heads import AttentionHeads, Head
from .drawing.page import asset, escape, link_documents, page
from .drawing.terminal import Terminal
from .explanation.page import legend, probability_bars, scripts_for, styles, styles_for
from .explanation.receipt import panel
from .explanation.terminal import render as render_explanation
from .explanation.text import text as marked_text
from .explanation.words import name_answer

__all__ = ["render", "render_terminal"]

_CLAIM = (
    "What a head looks at is a claim, not a reason: the receipt below says what the answer lost "
    "without the words that the chosen one points at."
)
_MATRIX = "From top to bottom the words that look, from left to right what they look at"
_TITLE = "Where the words looked"


def render(found: Sequence[AttentionHeads], *, title: str = _TITLE) -> str:
    """Return a whole page with every text, one below the other."""
    entries = [(escape(one.source[:60] or "(empty)"), "") for one in found]
    parts = [f"<h1>{escape(title)}</h1>", link_documents(entries)]
    for number, one in enumerate(found, start=1):
        parts.append(f'<div id="document-{number}">{_article(one)}</div>')
    explained = [one.explanation for one in found if one.explanation is not None]
    scripts = scripts_for(explained) + asset("heads.js")
    return page(title, "\n".join(parts), styles=_styles(found), scripts=scripts)


def render_terminal(found: AttentionHeads, terminal: Terminal) -> str:
    """Return the words by the rollout, and for each head the pairs that it joins most."""
    drawn = [render_explanation(found.explanation, terminal)] if found.explanation else []
    lines = [f"{head.name}: {_strongest(found, head)}" for head in found.heads]
    return "\n".join([*drawn, "", *lines])


@cache
def _own_styles() -> str:
    return asset("heads.css")


def _styles(found: Sequence[AttentionHeads]) -> str:
    explained = [one.explanation for one in found if one.explanation is not None]
    return (styles_for(explained) if explained else styles()) + _own_styles()


def _article(found: AttentionHeads) -> str:
    first = found.explanation
    answer = "" if first is None else probability_bars(first, first.decisions[:1])
    counts = (
        f"{found.layer_count} layers of {found.head_count} heads, {len(found.words):,} words. "
        f"Shown are the rollout, which follows attention through all layers, and "
        f"{len(found.heads) - 1} heads; for each word the {found.few} that it looked at most."
    )
    return (
        f'<article class="regard rg-heads" data-few="{found.few}" data-words="{len(found.words)}">'
        f'<div class="rg-facts">{answer}</div>'
        f'<p class="rg-claim">{escape(_CLAIM)}</p><p class="rg-notes">{escape(counts)}</p>'
        f"{_controls(found)}"
        '<p class="rg-said" aria-live="polite">Point at a word, or walk with the arrow keys.</p>'
        f'<div class="rg-looking"><div class="rg-words" tabindex="0" role="application" '
        f'aria-label="The text: arrow keys go from word to word">{_words(found)}</div>'
        f'<figure><canvas width="480" height="480" role="img" aria-label="{_MATRIX}"></canvas>'
        f"<figcaption>{_MATRIX}</figcaption></figure></div>"
        + "".join(_receipt(head, place) for place, head in enumerate(found.heads))
        + "</article>"
    )


def _controls(found: AttentionHeads) -> str:
    options = "".join(
        f'<option value="{place}" data-targets="{_packed("H", head.targets)}" '
        f'data-shares="{_packed("H", head.shares)}">{escape(head.name)}</option>'
        for place, head in enumerate(found.heads)
    )
    return (
        '<div class="rg-choose"><label>Head <select class="rg-head">'
        f"{options}</select></label>"
        '<label><input type="checkbox" class="rg-back"> who looked at the word, instead of what it '
        "looked at</label></div>"
    )


def _packed(kind: str, values: Sequence[int]) -> str:
    """Numbers as a browser unpacks them: two bytes each, the low one first."""
    return base64.b64encode(struct.pack(f"<{len(values)}{kind}", *values)).decode()


def _words(found: AttentionHeads) -> str:
    """The text as it was written, each word of it marked by its number."""
    parts: list[str] = []
    last = 0
    for number, (start, end) in enumerate(found.words):
        parts.append(escape(found.source[last:start]))
        parts.append(f'<b data-n="{number}">{escape(found.source[start:end])}</b>')
        last = end
    parts.append(escape(found.source[last:]))
    return "".join(parts)


def _receipt(head: Head, place: int) -> str:
    explanation = head.explanation
    if explanation is None:
        return ""
    decision = explanation.decisions[0]
    measured = panel(explanation, decision) if decision.receipt else ""
    told = "" if measured else "<p>Not measured: in a long text the rollout alone is.</p>"
    drawn = ""
    if not place:
        drawn = f"{marked_text(explanation, decision)}{legend(explanation, decision)}"
    hidden = " hidden" if place else ""
    answer = name_answer(explanation, decision)
    heading = f"<h3>What {escape(answer)} rests on, by {escape(head.name)}</h3>"
    return (
        f'<section class="rg-of-head" data-head="{place}"{hidden}>'
        f"{heading}{drawn}{measured}{told}</section>"
    )


def _strongest(found: AttentionHeads, head: Head, count: int = 3) -> str:
    """The heaviest looks of a head from one word to another."""
    few = found.few
    pairs = sorted(
        (
            (-share, place // few, target)
            for place, (share, target) in enumerate(zip(head.shares, head.targets, strict=True))
            if share and target != place // few
        )
    )[:count]
    words = [found.source[start:end] for start, end in found.words]
    return ", ".join(
        f"{words[who]} → {words[what]} {-share / 10:.0f} %" for share, who, what in pairs
    )
