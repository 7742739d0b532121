"""Draw explanations as HTML that needs nothing else: no request; a script for long texts alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..records.explanation import Decision, Explanation
from .drawing.charts import STYLES
from .drawing.colours import DARK, LEVELS, LIGHT, Theme, hexadecimal
from .drawing.page import asset, escaped, page
from .drawing.words import percent
from .lines import is_long, text
from .overview import overview
from .panels import index, legend, probability_bars, switches, word_bars
from .receipts import panel
from .shadings import HOP_KEY, KEYS, hop_count
from .summary import groups, is_right, method_name, notes, question, told

__all__ = ["fragment", "notebook", "render", "scripts_for", "styles", "styles_for"]


def render(explanations: Sequence[Explanation], *, title: str = "Explanations") -> str:
    """Return a whole page with every explanation, one below the other."""
    parts = [f"<h1>{escaped(title)}</h1>", index(explanations)]
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
        f".regard{{{_variables(LIGHT)}}}"
        f"@media screen and (prefers-color-scheme:dark){{.regard{{{_variables(DARK)}}}}}"
        f"{''.join(map(_shades, keys))}\n{STYLES}\n{asset('explanation.css')}"
        f"{''.join(map(_chosen, keys[1:]))}{''.join(map(_chosen_bars, range(1, hops + 1)))}"
    )


def _shades(key: str) -> str:
    """What each level of one shading looks like, for the label and against it."""
    return "".join(
        f".{key}{level}{{--{key}bg:var(--b{level});--{key}fg:var(--f{level})}}"
        f".rg-minus.{key}{level}{{--{key}bg:var(--n{level});--{key}fg:var(--g{level})}}"
        for level in range(1, LEVELS + 1)
    )


def _chosen(key: str) -> str:
    """What a page looks like while its reader has chosen one shading."""
    chosen = f".regard:has([value={key}]:checked)"
    return (
        f"{chosen} mark{{background:var(--{key}bg,none);color:var(--{key}fg,inherit)}}"
        f"{chosen} .rg-in-x{{display:none}}"
        f".rg-legend>.rg-in-{key}{{display:none}}"
        f"{chosen} .rg-legend>.rg-in-{key}{{display:inline-flex}}"
    )


def _chosen_bars(hop: int) -> str:
    """What the bars look like while their reader has chosen one hop."""
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
    remarks = " ".join(notes(explanation, decision))
    return (
        '<article class="regard">'
        f"{_head(explanation, decisions)}"
        f'<div class="rg-facts">{facts}</div>'
        f"{switches(decision)}{overview(explanation, decision)}{text(explanation, decision)}"
        f"{legend(explanation, decision)}"
        + (f'<p class="rg-notes">{escaped(remarks)}</p>' if remarks else "")
        + "".join(map(panel, decisions))
        + "</article>"
    )


def _head(explanation: Explanation, decisions: Sequence[Decision]) -> str:
    answers = "".join(
        f'<p class="rg-answer"><bdi>{escaped(decision.label)}</bdi>'
        f"<small>{escaped(percent(decision.probability))}</small></p>"
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
