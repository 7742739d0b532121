"""What a command says while it works: lines for a person, and counts on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from .output import say

__all__ = ["counted", "say"]

T = TypeVar("T")


def counted(items: Iterable[T], what: str, *, quiet: bool = False) -> Iterator[T]:
    """Pass the items on, counting them on the terminal."""
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description} {task.completed:,.0f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        for item in items:
            yield item
            progress.advance(task)
