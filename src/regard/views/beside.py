"""Two explanations of the same text, side by side."""

from __future__ import annotations

from ..records.explanation import Explanation
from .drawing.page import escaped, page
from .html import fragment, scripts_for, styles_for

__all__ = ["STYLES", "beside", "render"]

STYLES = """
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


def render(left: Named, right: Named, *, title: str = "Side by side") -> str:
    """Return a whole page with both."""
    both = [left[1], right[1]]
    body = f"<h1>{escaped(title)}</h1>{beside(left, right)}"
    return page(title, body, styles=styles_for(both) + STYLES, scripts=scripts_for(both))


def _column(name: str, explanation: Explanation) -> str:
    return f'<section><h3 dir="auto">{escaped(name)}</h3>{fragment(explanation)}</section>'
