"""What makes a command start sooner; nothing in it changes a result."""

from __future__ import annotations

import gc
import sys
from types import ModuleType

__all__ = ["collect_seldom", "import_torch"]

OBJECTS_TO_COLLECT = 50_000
"""New objects after which Python looks for lost cycles; at its 700 that is a tenth of a start."""
SPARED = "torch._meta_registrations"
"""Shapes of results for torch's compiler and for tensors without data: a fifth of its import."""


def collect_seldom() -> None:
    """Let Python look for lost cycles less often: importing makes many objects and loses none."""
    gc.set_threshold(OBJECTS_TO_COLLECT)


def import_torch() -> None:
    """Import torch without what a prediction never asks for.

    Whoever imports that part by its name later gets it as ever. Its objects live as long as the
    process, so Python is not to look at them for lost cycles, now or later.
    """
    if "torch" in sys.modules:
        return
    sys.modules[SPARED] = ModuleType(SPARED)
    gc.disable()
    try:
        import torch
    finally:
        del sys.modules[SPARED]
        gc.enable()
    gc.freeze()
    vars(torch).pop(SPARED.rpartition(".")[2], None)
