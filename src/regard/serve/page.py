"""The page at ``/``: read, argue, compare and send, with no asset from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib import resources

from ..views.drawing.page import escape

__all__ = ["POLICY", "page", "script", "style"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing from elsewhere, nothing written into the page."""


@cache
def page(*, marks: bool) -> str:
    """Return the page; with ``marks`` its readers can argue with the model."""
    return _asset("page.html").replace("{marks}", escape("yes" if marks else "no"))


@cache
def style() -> str:
    """Return the style sheet of the page."""
    return _asset("page.css")


@cache
def script() -> str:
    """Return the script of the page."""
    return _asset("page.js")


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")
