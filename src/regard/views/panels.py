"""The parts of an explanation's page around the text: bars, switches, legend, list of contents."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.explanation import ClassName, Decision, Explanation
from .page import escaped
from .scale import Scale, percent
from .summary import Heavy

__all__ = ["index", "legend", "probability_bars", "switches", "word_bars"]

_SHOWN_LABELS = 8
_LEGEND_LEVELS = (1, 3, 5, 7, 10)


def index(explanations: Sequence[Explanation]) -> str:
    """A list of contents, where there is more than one document."""
    if len(explanations) < 2:
        return ""
    links = "".join(
        f'<li><a href="#document-{number}"><bdi>{escaped(explanation.label)}</bdi></a> '
        f"{percent(explanation.probability)} "
        f"<span><bdi>{escaped(_beginning(explanation.source))}</bdi></span></li>"
        for number, explanation in enumerate(explanations, start=1)
    )
    return f'<ol class="rg-index">{links}</ol>'


def probability_bars(explanation: Explanation, decisions: Sequence[Decision]) -> str:
    """The probability of every label as a bar, the likeliest first, the tail folded away."""
    if not explanation.probabilities:
        return ""
    chosen = {decision.label for decision in decisions}
    truth = set(explanation.true_labels or ())
    ranked = sorted(explanation.probabilities, key=lambda pair: -pair[1])
    rows = [_probability_row(label, share, label in chosen, label in truth) for label, share in ranked]
    shown = f'<ol class="rg-bars">{"".join(rows[:_SHOWN_LABELS])}</ol>'
    if len(rows) > _SHOWN_LABELS:
        shown += (
            f'<details class="rg-more"><summary>{len(rows) - _SHOWN_LABELS} more</summary>'
            f'<ol class="rg-bars">{"".join(rows[_SHOWN_LABELS:])}</ol></details>'
        )
    return f'<section><p class="rg-caption">Probability of each label</p>{shown}</section>'


def word_bars(words: Sequence[Heavy], decision: Decision) -> str:
    """The heaviest words as bars."""
    weights = decision.importance() or decision.level("word")
    if not words or weights is None:
        return ""
    scale = Scale.of(weights)
    longest = max(abs(word.weight) for word in words) or 1.0
    rows = "".join(
        f'<li><span class="rg-name"><bdi>{escaped(word.text)}</bdi>'
        + (f" <small>×{word.count}</small>" if word.count > 1 else "")
        + '</span><span class="rg-track">'
        f'<i{" class=rg-minus" * (word.weight < 0)} style="width:{100 * abs(word.weight) / longest:.1f}%"></i></span>'
        f'<span class="rg-number">{escaped(scale.text(word.weight))}</span></li>'
        for word in words
    )
    return (
        '<section><p class="rg-caption">Heaviest words</p>'
        f'<ol class="rg-bars rg-words">{rows}</ol></section>'
    )


def switches(decision: Decision) -> str:
    """What the reader can change about the picture; it works without a script, by the style sheet."""
    words, sentences = decision.level("word"), decision.level("sentence")
    found = ""
    if words is not None and words.by == "sentence" and sentences is not None:
        found += _switch(
            "Shade words by",
            "shade",
            {"document": "word × sentence", "sentence": "word alone"},
        )
    if sentences is not None:
        found += _switch("Text", "layout", {"lines": "one sentence a line", "written": "as written"})
    # A dialog form outside a dialog is never sent; a form at all keeps the choices of several
    # explanations on one page apart.
    return f'<form class="rg-switches" method="dialog" autocomplete="off">{found}</form>' if found else ""


def legend(explanation: Explanation, decision: Decision) -> str:
    """What the colours and marks mean, with their scale."""
    words, shares = decision.level("word"), decision.importance()
    parts: list[str] = []
    if shares is not None:
        parts.append(_swatches("word, share of the document", Scale.of(shares), "rg-in-document"))
    if words is not None and words.by == "sentence":
        hidden = "rg-in-sentence" if shares is not None else ""
        parts.append(_swatches("word, share of its sentence", Scale.of(words), hidden))
    if decision.level("sentence") is not None:
        parts.append('<span><span class="rg-key"></span>sentence, share of the document</span>')
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
        f'<span class="rg-name" title="{escaped(label)}"><bdi>{escaped(label)}</bdi>'
        f"{' <small>true</small>' * true}</span>"
        f'<span class="rg-track"><i style="width:{100 * share:.1f}%"></i></span>'
        f'<span class="rg-number">{100 * share:.1f} %</span></li>'
    )


def _switch(title: str, name: str, choices: dict[str, str]) -> str:
    first = next(iter(choices))
    labels = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"{" checked" * (value == first)}>'
        f"{text}</label>"
        for value, text in choices.items()
    )
    return f"<fieldset><legend>{title}</legend>{labels}</fieldset>"


def _swatches(title: str, scale: Scale, kind: str) -> str:
    swatches = "".join(
        f'<span class="rg-swatch d{level}">{escaped(scale.text(scale.value_at(level)))}</span>'
        for level in _LEGEND_LEVELS
    )
    return f'<span class="{kind}"><span class="rg-swatches">{swatches}</span>{title}</span>'
