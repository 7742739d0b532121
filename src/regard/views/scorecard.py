"""Where ``summary`` of ``regard.views.evaluation`` was; kept for one version."""

from __future__ import annotations

import warnings

__all__: list[str] = []


def __getattr__(name: str) -> object:
    from .evaluation import terminal

    if name != "summary":
        raise AttributeError(f"module 'regard.views.scorecard' has no attribute {name!r}")
    said = "regard.views.scorecard.summary is now regard.views.evaluation.summary"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return terminal.summary
