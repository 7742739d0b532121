"""The parts of an explanation's page around the text: bars, switches, legend, list of contents."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.explanation import ClassName, Decision, Explanation
from .drawing.page import escaped
from .drawing.scale import Scale
from .drawing.words import percent
from .lines import is_long
from .shadings import KEYS, hop_count, shadings, unit_of
from .summary import Heavy, heavy_words, opposing_words

__all__ = ["index", "legend", "probability_bars", "switches", "word_bars"]

_SHOWN_LABELS = 8


def index(explanations: Sequence[Explanation]) -> str:
    """A list of contents, where there is more than one document."""
    if len(explanations) < 2:
        return ""
    links = "".join(
        f'<li><a href="#document-{number}"><bdi>{escaped(explanation.label)}</bdi></a> '
        f"{escaped(percent(explanation.probability))} "
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
    lists = {
        "Heaviest words": heavy_words(explanation, decision),
        "Speaks against it": opposing_words(explanation, decision),
    }
    scale = Scale.of(decision.words)
    # One length for both, so that a small objection looks small.
    longest = max((abs(word.weight) for words in lists.values() for word in words), default=1.0)
    return "".join(_word_list(title, lists[title], scale, longest) for title in lists)


def _word_list(title: str, words: Sequence[Heavy], scale: Scale, longest: float) -> str:
    if not words:
        return ""
    rows = "".join(
        f'<li><span class="rg-name"><bdi>{escaped(word.text)}</bdi></span>'
        f'<span class="rg-track"><i{" class=rg-minus" * (word.weight < 0)}'
        f' style="width:{100 * abs(word.weight) / longest:.1f}%"></i></span>'
        f'<span class="rg-number">{escaped(scale.text(word.weight))}</span></li>'
        for word in words
    )
    return (
        f'<section><p class="rg-caption">{title}</p>'
        f'<ol class="rg-bars rg-words">{rows}</ol></section>'
    )


def switches(decision: Decision) -> str:
    """What the reader can change about the picture; the style sheet does it, without a script."""
    choices = {shading.key: shading.title for shading in shadings(decision)}
    usual = {key: title for key, title in choices.items() if key in KEYS}
    hops = {key: title for key, title in choices.items() if key not in KEYS}
    # A hop is one more way to shade: choosing it lets go of the others, so they share a name.
    found = _switch("Shade words by", "shade", usual) if len(choices) > 1 else ""
    found += _switch("or one hop", "shade", hops, chosen=False) if hops else ""
    sentences = decision.level("sentence")
    if count := hop_count(sentences):
        bars = {"mean": "mean of hops", **{f"b{hop}": f"{hop}" for hop in range(1, count + 1)}}
        found += _switch("Bars of sentences", "bars", bars)
    if sentences is not None:
        found += _switch(
            "Text", "layout", {"lines": "one sentence a line", "written": "as written"}
        )
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
        parts.append(f'<span><span class="rg-key"></span>sentence, {escaped(said)}</span>')
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
        f'<span class="rg-name" title="{escaped(label)}"><bdi>{escaped(label)}</bdi>'
        f"{' <small>true</small>' * true}</span>"
        f'<span class="rg-track"><i style="width:{100 * share:.1f}%"></i></span>'
        f'<span class="rg-number">{escaped(percent(share))}</span></li>'
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
        f'<span class="rg-swatch x{level}{" rg-minus" * (sign < 0)}">'
        f"{escaped(scale.text(sign * scale.value_at(level)))}</span>"
        for level, sign in scale.swatches()
    )
    return f'<span class="rg-swatches">{swatches}</span>'
