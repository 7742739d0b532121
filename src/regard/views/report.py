"""Where ``render`` of ``regard.views.evaluation`` was; kept for one version."""

from __future__ import annotations

import warnings

__all__: list[str] = []


def __getattr__(name: str) -> object:
    from .evaluation import page

    if name != "render":
        raise AttributeError(f"module 'regard.views.report' has no attribute {name!r}")
    said = "regard.views.report.render is now regard.views.evaluation.render"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return page.render
