"""The parts that pages of several sections share: headings, links to them, kept style sheets."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from .page import escaped

__all__ = ["asset", "contents", "section"]


def asset(name: str) -> str:
    """Return the text of a style sheet or script that comes with the package."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def contents(names: Sequence[str]) -> str:
    """Return links to the sections of a page, by their names."""
    links = "".join(f'<a href="#{_anchor(name)}">{escaped(name)}</a>' for name in names)
    return f'<nav aria-label="Sections">{links}</nav>'


def section(name: str, body: str) -> str:
    """Return ``body``, which is HTML already, under a heading that can be linked to."""
    anchor = _anchor(name)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-head">'
        f'<h2 id="{anchor}-head">{escaped(name)}</h2>{body}</section>'
    )


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")
