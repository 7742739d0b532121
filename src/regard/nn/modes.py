"""Whether a network is learning, and draws dropout, or is being asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn

__all__ = ["in_evaluation"]


@contextmanager
def in_evaluation(module: nn.Module) -> Iterator[None]:
    """Switch dropout off for a while; nothing is written on a module where it is off already.

    Many threads may therefore ask one fitted network at once.
    """
    learning = [part for part in module.modules() if part.training]
    for part in learning:
        part.training = False
    try:
        yield
    finally:
        for part in learning:
            part.training = True
