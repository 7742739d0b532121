"""Names of earlier versions: each keeps working for one version, and says where it is now."""

from __future__ import annotations

import importlib
import warnings

__all__ = ["find_former_name"]


def find_former_name(module: str, name: str, now: dict[str, str]) -> object:
    """Return what a name of an older version stands for, with a warning that says where it is."""
    if name not in now:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    said = f"{module}.{name} is now {now[name]}"
    warnings.warn(said, DeprecationWarning, stacklevel=3)
    home, _, attribute = now[name].rpartition(".")
    return getattr(importlib.import_module(home), attribute)
