"""Draw explanations as HTML that needs nothing else: no script, no request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

from ..records.explanation import Decision, Explanation
from ..records.weights import Weights
from .charts import STYLES
from .colours import DARK, LEVELS, LIGHT, Theme, hexadecimal
from .page import escaped, page
from .panels import LETTERS, index, legend, probability_bars, switches, word_bars
from .passages import Passage, Stretch, is_right_to_left, passages
from .receipts import panel
from .scale import Scale, chance
from .shadings import shadings
from .summary import groups, heavy_words, is_right, method_name, notes, question, told

__all__ = ["fragment", "notebook", "render", "styles"]

# Words that can be reached with the tab key; more would be a burden, not a help.
_FOCUSABLE = 10


def render(explanations: Sequence[Explanation], *, title: str = "Explanations") -> str:
    """Return a whole page with every explanation, one below the other."""
    parts = [f"<h1>{escaped(title)}</h1>", index(explanations)]
    for number, explanation in enumerate(explanations, start=1):
        parts.append(f'<div id="document-{number}">{fragment(explanation)}</div>')
    return page(title, "\n".join(parts), styles=styles())


def fragment(explanation: Explanation) -> str:
    """Return one explanation as HTML to stand in a page that has ``styles()``."""
    return "".join(_article(explanation, decisions) for decisions in groups(explanation))


def notebook(explanation: Explanation) -> str:
    """Return one explanation with the styles it needs, as a notebook shows it."""
    return f"<style>{styles()}</style>{fragment(explanation)}"


@cache
def styles() -> str:
    """Return the style sheet of ``fragment``."""
    sheet = resources.files(__package__).joinpath("assets", "explanation.css")
    levels = "".join(
        f".{letter}{level}{{--{letter}-bg:var(--b{level});--{letter}-fg:var(--f{level})}}"
        f".rg-minus.{letter}{level}{{--{letter}-bg:var(--n{level});--{letter}-fg:var(--g{level})}}"
        for level in range(1, LEVELS + 1)
        for letter in LETTERS
    )
    return (
        f".regard{{{_variables(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{.regard{{{_variables(DARK)}}}}}"
        f"{levels}\n{STYLES}\n{sheet.read_text(encoding='utf-8')}"
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
    heavy = heavy_words(explanation, decision)
    facts = probability_bars(explanation, decisions) + word_bars(heavy, decision)
    remarks = " ".join(notes(explanation, decision))
    return (
        '<article class="regard">'
        f"{_head(explanation, decisions)}"
        f'<div class="rg-facts">{facts}</div>'
        f"{switches(decision)}{_text(explanation, decision)}"
        f"{legend(explanation, decision)}"
        + (f'<p class="rg-notes">{escaped(remarks)}</p>' if remarks else "")
        + "".join(map(panel, decisions))
        + "</article>"
    )


def _head(explanation: Explanation, decisions: Sequence[Decision]) -> str:
    answers = "".join(
        f'<p class="rg-answer"><bdi>{escaped(decision.label)}</bdi>'
        f"<small>{escaped(chance(decision.probability))}</small></p>"
        for decision in decisions
    )
    truth = ""
    if explanation.true_labels is not None:
        right = is_right(explanation, decisions[0])
        sign = {True: "✓ ", False: "✗ ", None: ""}[right]
        names = ", ".join(str(label) for label in explanation.true_labels) or "none"
        truth = f'<p class="rg-truth">{sign}true label <b><bdi>{escaped(names)}</bdi></b></p>'
    asked = question(decisions[0])
    rival = f'<p class="rg-rival">{escaped(asked)}</p>' if asked else ""
    method = f'<p class="rg-method">explained by {escaped(method_name(explanation))}</p>'
    said = told(decisions[0])
    return f'<div class="rg-head">{answers}{rival}{truth}{method}</div>' + (
        f'<p class="rg-spread">{escaped(said)}</p>' if said else ""
    )


def _text(explanation: Explanation, decision: Decision) -> str:
    sentences = decision.level("sentence")
    direction = "rtl" if is_right_to_left(explanation.source) else "ltr"
    plain = " rg-plain" if sentences is None else ""
    ink = _WordInk(decision)
    scale = Scale.of_sentences(sentences)
    lines = "".join(
        _line(passage, sentences, scale, ink=ink) for passage in passages(explanation, decision)
    )
    return f'<div class="rg-text{plain}" dir="{direction}">{lines}</div>'


def _line(passage: Passage, sentences: Weights | None, scale: Scale, *, ink: _WordInk) -> str:
    words = "".join(map(ink.draw, passage.stretches))
    if sentences is None:
        return f'<div class="rg-line"><p dir="auto">{words}</p></div>'
    length, gutter = 0.0, '<span class="rg-gutter rg-none">not read</span>'
    if passage.sentence is not None:
        value = sentences.amounts[passage.sentence]
        length = scale.length(value)
        kinds = "rg-gutter" + " rg-quiet" * (length < 0.2) + " rg-minus" * (value < 0)
        said = f'title="sentence {passage.sentence + 1}">{escaped(scale.text(value))}'
        gutter = f'<span class="{kinds}" {said}</span>'
    return (
        f'<div class="rg-line" style="--v:{length:.2f}">{gutter}'
        f'<p dir="auto"><span>{words}</span></p></div>'
    )


class _WordInk:
    """Draws the stretches of a text; a word that hardly counts gets no markup of its own."""

    def __init__(self, decision: Decision) -> None:
        found = shadings(decision)
        self._columns = [
            (shading.scale, shading.weights.amounts, shading.said) for shading in found
        ]
        first = found[0].weights.amounts if found else ()
        order = sorted(range(len(first)), key=lambda place: -abs(first[place]))
        self._focusable = frozenset(order[:_FOCUSABLE])

    def draw(self, stretch: Stretch) -> str:
        text = escaped(stretch.text)
        if stretch.kind in ("tag", "unread"):
            return f'<span class="rg-{stretch.kind}">{text}</span>'
        if stretch.kind == "word" and stretch.word is not None:
            return self._word(stretch.word, text, stretch.unknown)
        return f"<u>{text}</u>" if stretch.unknown else text

    def _word(self, place: int, text: str, unknown: bool) -> str:
        kinds: list[str] = []
        for letter, (scale, values, _) in zip(LETTERS, self._columns, strict=False):
            level = scale.level(values[place])
            kinds += [f"{letter}{level}"] * (level > 0) + ["rg-minus"] * (values[place] < 0)
        if not kinds:
            return f"<u>{text}</u>" if unknown else text
        kinds += ["rg-unknown"] * unknown
        focus = " tabindex=0" if place in self._focusable else ""
        told = [
            f"{escaped(scale.text(values[place]))} {said}"
            for scale, values, said in self._columns
            if said
        ]
        told += ["not in the vocabulary"] * unknown
        return f'<mark class="{" ".join(kinds)}" data-w="{"&#10;".join(told)}"{focus}>{text}</mark>'
