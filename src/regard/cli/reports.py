"""What a command found, written as a page or as JSON, by the suffix of the file's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from .options import require_suffix

__all__ = ["REPORTS", "write_report"]

REPORTS = (".html", ".json")


class _Record(Protocol):
    def to_json(self, *, indent: int | None = None) -> str: ...


R = TypeVar("R", bound=_Record)


def write_report(found: R, path: Path, render: Callable[[R], str]) -> None:
    """Write a record as ``render`` draws it, or as JSON."""
    if require_suffix(path, REPORTS) == ".html":
        content = render(found)
    else:
        content = found.to_json(indent=2) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
