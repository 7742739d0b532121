"""Where ``render_beside`` of ``regard.views.explanation.page`` was; kept for one version."""

from __future__ import annotations

import warnings

__all__: list[str] = []


def __getattr__(name: str) -> object:
    from .explanation import page

    if name != "render":
        raise AttributeError(f"module 'regard.views.beside' has no attribute {name!r}")
    said = "regard.views.beside.render is now regard.views.explanation.page.render_beside"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return page.render_beside
