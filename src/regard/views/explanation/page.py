"""Draw explanations as HTML that needs nothing else: no request; a script for long texts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from ...records.explanation import ClassName, Decision, Explanation
from ...records.weights import Weights
from ..drawing.charts import STYLES
from ..drawing.colours import DARK, LEVELS, LIGHT, Scale, Theme, hexadecimal
from ..drawing.page import asset, escape, link_documents, page, themed
from ..drawing.words import percent, write_signed
from .folding import is_long
from .passages import HOP_KEY, KEYS, hop_count, other_bars, shadings, unit_of
from .receipt import panel
from .stop_words import says_little
from .text import overview, text
from .words import (
    Heavy,
    groups,
    heavy_words,
    how_to_read,
    is_right,
    method_name,
    notes,
    opposing_words,
    question,
    tell_answer,
    tell_finding,
)

__all__ = [
    "BESIDE_STYLES",
    "beside",
    "fragment",
    "index",
    "legend",
    "notebook",
    "probability_bars",
    "render",
    "render_beside",
    "scripts_for",
    "share_bars",
    "styles",
    "styles_for",
    "switches",
    "word_bars",
]


def render(explanations: Sequence[Explanation], *, title: str = "Explanations") -> str:
    """Return a whole page with every explanation, one below the other."""
    parts = [f"<h1>{escape(title)}</h1>", index(explanations)]
    for number, explanation in enumerate(explanations, start=1):
        parts.append(f'<div id="document-{number}">{fragment(explanation)}</div>')
    style, script = styles_for(explanations), scripts_for(explanations)
    return page(title, "\n".join(parts), styles=style, scripts=script)


def fragment(explanation: Explanation) -> str:
    """Return one explanation as HTML to stand in a page that has ``styles()``."""
    return "".join(_article(explanation, decisions) for decisions in groups(explanation))


def notebook(explanation: Explanation) -> str:
    """Return one explanation with the styles it needs, as a notebook shows it."""
    return f"<style>{styles_for([explanation])}</style>{fragment(explanation)}"


def scripts_for(explanations: Sequence[Explanation]) -> str:
    """Return the script that these explanations need: none where no text is long."""
    decisions = [decision for one in explanations for decision in one.decisions]
    return asset("explanation.js") if any(map(is_long, decisions)) else ""


def styles_for(explanations: Sequence[Explanation]) -> str:
    """Return the style sheet that these explanations need."""
    levels = [
        weights
        for one in explanations
        for decision in one.decisions
        for weights in decision.weights
    ]
    return styles(hops=max(map(hop_count, levels), default=0))


@cache
def styles(*, hops: int = 0) -> str:
    """Return the style sheet of ``fragment``, for weights of at most so many hops."""
    keys = [*KEYS, *(HOP_KEY.format(hop + 1) for hop in range(hops))]
    return (
        f"{themed('.regard', _variables(LIGHT), _variables(DARK))}"
        f"{''.join(map(_shades, keys))}\n{STYLES}\n{asset('explanation.css')}"
        f"{''.join(map(_style_choice, keys[1:]))}"
        f"{''.join(map(_style_bars, range(1, max(hops, 1) + 1)))}"
    )


def _shades(key: str) -> str:
    """What each level of one shading looks like, for the label and against it."""
    return "".join(
        f".{key}{level}{{--{key}bg:var(--b{level});--{key}fg:var(--f{level})}}"
        f".{key}-minus.{key}{level}{{--{key}bg:var(--n{level});--{key}fg:var(--g{level})}}"
        for level in range(1, LEVELS + 1)
    )


def _style_choice(key: str) -> str:
    """What a page looks like while its reader has chosen one shading."""
    chosen = f".regard:has([value={key}]:checked)"
    return (
        f"{chosen} mark{{background:var(--{key}bg,none);color:var(--{key}fg,inherit)}}"
        f"{chosen} .rg-in-x{{display:none}}"
        f".rg-legend>.rg-in-{key}{{display:none}}"
        f"{chosen} .rg-legend>.rg-in-{key}{{display:inline-flex}}"
    )


def _style_bars(hop: int) -> str:
    """What the bars look like while their reader has chosen another of them."""
    chosen = f".regard:has([value=b{hop}]:checked)"
    return (
        f"{chosen} .rg-line{{--shown:var(--v{hop})}}"
        f"{chosen} .rg-gutter[data-b{hop}]{{font-size:0}}"
        f"{chosen} .rg-gutter[data-b{hop}]::before{{content:attr(data-b{hop});font-size:.75rem}}"
    )


def _variables(theme: Theme) -> str:
    names = ("paper", "panel", "ink", "muted", "line", "word", "against", "sentence")
    found = [f"--rg-{name}:{hexadecimal(getattr(theme, name))}" for name in names]
    for level in range(1, LEVELS + 1):
        for back, front, against in (("b", "f", False), ("n", "g", True)):
            shade = theme.shade(level, against=against)
            found.append(f"--{back}{level}:{hexadecimal(shade)}")
            found.append(f"--{front}{level}:{hexadecimal(theme.ink_on(shade))}")
    return ";".join(found)


def _article(explanation: Explanation, decisions: Sequence[Decision]) -> str:
    decision = decisions[0]
    facts = probability_bars(explanation, decisions) + word_bars(explanation, decision)
    facts += "".join(map(share_bars, decisions))
    remarks = " ".join(notes(explanation, decision))
    return (
        '<article class="regard">'
        f"{_head(explanation, decisions)}"
        f'<div class="rg-facts">{facts}</div>'
        f"{_how(decision)}{legend(explanation, decision)}"
        f"{switches(decision, explanation)}{overview(explanation, decision)}"
        f"{text(explanation, decision)}"
        + (f'<p class="rg-notes">{escape(remarks)}</p>' if remarks else "")
        + "".join(panel(explanation, one) for one in decisions)
        + "</article>"
    )


def _head(explanation: Explanation, decisions: Sequence[Decision]) -> str:
    answers = "".join(
        f'<p class="rg-answer"><bdi>{escape(decision.label)}</bdi>'
        f"<small>{escape(percent(decision.probability))}</small></p>"
        for decision in decisions
    )
    truth = ""
    if explanation.true_labels is not None:
        right = is_right(explanation, decisions)
        sign = {True: "✓ ", False: "✗ ", None: ""}[right]
        names = ", ".join(str(label) for label in explanation.true_labels) or "none"
        truth = f'<p class="rg-truth">{sign}true label <b><bdi>{escape(names)}</bdi></b></p>'
    asked = question(decisions[0])
    rival = f'<p class="rg-rival">{escape(asked)}</p>' if asked else ""
    method = f'<p class="rg-method">explained by {escape(method_name(explanation))}</p>'
    said = tell_finding(explanation, decisions[0])
    return f'<div class="rg-head">{answers}{rival}{truth}{method}</div>' + (
        f'<p class="rg-spread">{escape(said)}</p>' if said else ""
    )


def _how(decision: Decision) -> str:
    told = how_to_read(decision)
    return f'<p class="rg-how">{escape(told)}</p>' if told else ""


_SHOWN_LABELS = 8


def index(explanations: Sequence[Explanation]) -> str:
    """A list of contents, where there is more than one document."""
    return link_documents([_entry(one) for one in explanations])


def _entry(explanation: Explanation) -> tuple[str, str]:
    """What a list of contents has of a document: its labels, then how likely and how it begins."""
    shown = () if tell_answer(explanation) else explanation.decisions
    labels = ", ".join(str(decision.label) for decision in shown) or "no label"
    shares = ", ".join(percent(decision.probability) for decision in shown)
    beginning = f" <span><bdi>{escape(_beginning(explanation.source))}</bdi></span>"
    return escape(labels), (f" {escape(shares)}" if shares else "") + beginning


def probability_bars(explanation: Explanation, decisions: Sequence[Decision]) -> str:
    """The probability of every label as a bar, the likeliest first, the tail folded away."""
    if not explanation.probabilities:
        return ""
    chosen = {decision.label for decision in decisions}
    truth = set(explanation.true_labels or ())
    ranked = sorted(explanation.probabilities, key=lambda pair: -pair[1])
    rows = [
        _probability_row(label, share, label in chosen, label in truth) for label, share in ranked
    ]
    shown = f'<ol class="rg-bars">{"".join(rows[:_SHOWN_LABELS])}</ol>'
    if len(rows) > _SHOWN_LABELS:
        shown += (
            f'<details class="rg-more"><summary>{len(rows) - _SHOWN_LABELS} more</summary>'
            f'<ol class="rg-bars">{"".join(rows[_SHOWN_LABELS:])}</ol></details>'
        )
    return f'<section><p class="rg-caption">Probability of each label</p>{shown}</section>'


def word_bars(explanation: Explanation, decision: Decision) -> str:
    """The words that speak most for the label as bars, and those that speak against it."""
    every = _word_lists(explanation, decision, telling=False)
    if not _has_stop_words(explanation, decision):
        return every
    telling = _word_lists(explanation, decision, telling=True)
    return f'<div class="rg-all">{every}</div><div class="rg-telling">{telling}</div>'


def share_bars(decision: Decision) -> str:
    """What network and n-grams put into the answer, as bars that add up; nothing of one alone."""
    shares = decision.shares
    if shares is None:
        return ""
    parts = [
        Heavy("network", shares.network),
        Heavy("n-grams of the text", math.fsum(shares.ngrams.amounts)),
        Heavy("n-grams of any text", shares.start),
    ]
    scale = Scale.of(Weights.from_scores("part", [(0, 0)] * 3, [p.weight for p in parts], unit=""))
    longest = max(abs(part.weight) for part in parts) or 1.0
    rival = "" if shares.against is None else f" against {shares.against}"
    title = f"Log-odds of {decision.label}{rival}, {write_signed(shares.total)}"
    return _word_list(escape(title), parts, scale, longest)


def _has_stop_words(explanation: Explanation, decision: Decision) -> bool:
    """Whether some of the heaviest words say little by themselves."""
    words = heavy_words(explanation, decision) + opposing_words(explanation, decision)
    return any(says_little(word.text) for word in words)


def _word_lists(explanation: Explanation, decision: Decision, *, telling: bool) -> str:
    lists = {
        "Heaviest words": heavy_words(explanation, decision, telling=telling),
        "Speaks against it": opposing_words(explanation, decision, telling=telling),
    }
    scale = Scale.of(decision.words)
    # One length for both, so that a small objection looks small.
    longest = max((abs(word.weight) for words in lists.values() for word in words), default=1.0)
    return "".join(_word_list(title, lists[title], scale, longest) for title in lists)


def _word_list(title: str, words: Sequence[Heavy], scale: Scale, longest: float) -> str:
    if not words:
        return ""
    rows = "".join(
        f'<li><span class="rg-name"><bdi>{escape(word.text)}</bdi></span>'
        f'<span class="rg-track"><i{" class=rg-minus" * (word.weight < 0)}'
        f' style="width:{100 * abs(word.weight) / longest:.1f}%"></i></span>'
        f'<span class="rg-number">{escape(scale.text(word.weight))}</span></li>'
        for word in words
    )
    return (
        f'<section><p class="rg-caption">{title}</p>'
        f'<ol class="rg-bars rg-words">{rows}</ol></section>'
    )


def switches(decision: Decision, explanation: Explanation) -> str:
    """What the reader can change about the picture; the style sheet does it, without a script."""
    choices = {shading.key: shading.title for shading in shadings(decision)}
    usual = {key: title for key, title in choices.items() if key in KEYS}
    hops = {key: title for key, title in choices.items() if key not in KEYS}
    # A hop is one more way to shade: choosing it lets go of the others, so they share a name.
    found = _switch("Shade words by", "shade", usual) if len(choices) > 1 else ""
    found += _switch("or one hop", "shade", hops, chosen=False) if hops else ""
    sentences = decision.level("sentence")
    if others := other_bars(decision):
        usual_bars = {"mean": "mean of hops" if hop_count(sentences) else "whole"}
        numbered = {f"b{number}": title for number, title in enumerate(others, start=1)}
        found += _switch("Bars of sentences", "bars", usual_bars | numbered)
    if sentences is not None:
        found += _switch(
            "Text", "layout", {"lines": "one sentence a line", "written": "as written"}
        )
    if _has_stop_words(explanation, decision):
        words = {"every": "all", "telling": "without stop words"}
        found += _switch("Heaviest words", "words", words)
    if is_long(decision):
        found += _switch("Quiet parts", "quiet", {"folded": "folded", "unfolded": "shown"})
    if not found:
        return ""
    # A dialog form outside a dialog is never sent; a form at all keeps the choices of several
    # explanations on one page apart.
    return f'<form class="rg-switches" method="dialog" autocomplete="off">{found}</form>'


def legend(explanation: Explanation, decision: Decision) -> str:
    """What the colours and marks mean, with their scale."""
    parts = [
        f'<span class="rg-in-{shading.key}">{_swatches(shading.scale)}word, {shading.legend}</span>'
        for shading in shadings(decision)
        if len(shading.weights)
    ]
    if decision.level("sentence") is not None:
        said = unit_of(decision.level("sentence"))
        parts.append(f'<span><span class="rg-key"></span>sentence, {escape(said)}</span>')
    if any(weights.opposing(1) for weights in decision.weights):
        parts.append('<span><span class="rg-key rg-minus"></span>speaks against it</span>')
    if explanation.unknown:
        parts.append("<span><u>word</u> not in the vocabulary</span>")
    if explanation.unread:
        parts.append('<span><span class="rg-unread">text</span> not read by the model</span>')
    return f'<div class="rg-legend">{"".join(parts)}</div>' if parts else ""


def _beginning(text: str, size: int = 60) -> str:
    words = " ".join(text[: 4 * size].split())
    return words if len(words) <= size else words[: size - 1] + "…"


def _probability_row(label: ClassName, share: float, chosen: bool, true: bool) -> str:
    return (
        f"<li{' class=rg-chosen' * chosen}>"
        f'<span class="rg-name" title="{escape(label)}"><bdi>{escape(label)}</bdi>'
        f"{' <small>true</small>' * true}</span>"
        f'<span class="rg-track"><i style="width:{100 * share:.1f}%"></i></span>'
        f'<span class="rg-number">{escape(percent(share))}</span></li>'
    )


def _switch(title: str, name: str, choices: dict[str, str], *, chosen: bool = True) -> str:
    first = next(iter(choices)) if chosen else None
    labels = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" * (value == first)}>'
        f"{text}</label>"
        for value, text in choices.items()
    )
    return f"<fieldset><legend>{title}</legend>{labels}</fieldset>"


def _swatches(scale: Scale) -> str:
    swatches = "".join(
        f'<span class="rg-swatch x{level}{" x-minus" * (sign < 0)}">'
        f"{escape(scale.text(sign * scale.value_at(level)))}</span>"
        for level, sign in scale.swatches()
    )
    return f'<span class="rg-swatches">{swatches}</span>'


BESIDE_STYLES = """
main:has(.rg-beside) { max-width: 92rem; }
.rg-beside { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 1.25rem;
  align-items: start; }
.rg-beside > section > h3 { margin: .5rem 0 -.5rem; overflow-wrap: anywhere; }
.rg-beside .rg-line { grid-template-columns: 5rem minmax(0, 1fr); column-gap: .6rem; }
.rg-beside .rg-gutter::after { width: 1.6rem; }
.rg-beside .rg-fold > summary { padding-inline-start: 5.6rem; }
@media (max-width: 60rem) { .rg-beside { grid-template-columns: minmax(0, 1fr); } }
"""

Named = tuple[str, Explanation]
"""An explanation and what to call it."""


def beside(left: Named, right: Named) -> str:
    """Return both as HTML, in two columns where there is room."""
    return f'<div class="rg-beside">{_column(*left)}{_column(*right)}</div>'


def render_beside(left: Named, right: Named, *, title: str = "Side by side") -> str:
    """Return a whole page with both."""
    both = [left[1], right[1]]
    body = f"<h1>{escape(title)}</h1>{beside(left, right)}"
    return page(title, body, styles=styles_for(both) + BESIDE_STYLES, scripts=scripts_for(both))


def _column(name: str, explanation: Explanation) -> str:
    return f'<section><h3 dir="auto">{escape(name)}</h3>{fragment(explanation)}</section>'
