"""What a command says while it works: lines for a person, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from .output import say

__all__ = ["counted", "say"]

T = TypeVar("T")


def counted(items: Iterable[T], what: str, *, quiet: bool = False) -> Iterator[T]:
    """Pass the items on, showing how many there were, and how many are left where that is known."""
    if quiet:
        yield from items
        return
    from ..training.progress import Progress
    from ..training.progress import counted as watched

    with Progress() as progress:
        yield from watched(items, what, (progress,))
