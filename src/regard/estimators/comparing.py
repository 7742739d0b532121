"""Where ``compare`` of ``regard.look.difference`` was; kept for one version."""

from __future__ import annotations

import warnings

__all__: list[str] = []


def __getattr__(name: str) -> object:
    from ..look import difference

    if name not in ("Comparison", "compare"):
        raise AttributeError(f"module 'regard.estimators.comparing' has no attribute {name!r}")
    said = f"regard.estimators.comparing.{name} is now regard.look.difference.{name}"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return getattr(difference, name)
