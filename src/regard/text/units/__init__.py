"""The pieces that a text is read or written in: words, characters or parts of words."""

from __future__ import annotations

from .kinds import build_units, load_units, save_units
from .pieces import END, KINDS, RESERVED, START, CutText, Units, UnitsConfig, spelled

__all__ = [
    "END",
    "KINDS",
    "RESERVED",
    "START",
    "CutText",
    "Units",
    "UnitsConfig",
    "build_units",
    "load_units",
    "save_units",
    "spelled",
]
