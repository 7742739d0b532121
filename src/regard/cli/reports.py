"""What a command found: written to a file by the suffix of its name, and printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import typer

from ..files import write_file
from .options import require_suffix
from .progress import say

__all__ = ["REPORTS", "Delivery", "write_report"]

REPORTS = (".html", ".json")


class _Record(Protocol):
    def to_json(self, *, indent: int | None = None) -> str: ...


R = TypeVar("R", bound=_Record)


@dataclass(frozen=True)
class Delivery:
    """Where a finding goes; a file that cannot be written is refused before any work is done."""

    out: Path | None
    json: bool
    quiet: bool
    name: str = ""  # what the file is called once it is written
    formats: tuple[str, ...] = REPORTS

    def __post_init__(self) -> None:
        if self.out is not None:
            require_suffix(self.out, self.formats)

    def give(
        self,
        found: R,
        *,
        lines: Callable[[R], Sequence[str]],
        page: Callable[[R], str] | None = None,
    ) -> None:
        """Write the finding if asked, and print it as JSON or as lines for a person."""
        if self.out is not None:
            write_report(found, self.out, page)
            say(f"{self.name} written to {self.out}".lstrip(), quiet=self.quiet)
        if self.json:
            typer.echo(found.to_json())
        elif not self.quiet:
            typer.echo("\n".join(lines(found)))


def write_report(found: R, path: Path, page: Callable[[R], str] | None) -> None:
    """Write a record as the page that is drawn of it, or as JSON; without a page JSON alone."""
    suffix = require_suffix(path, REPORTS if page else (".json",))
    content = page(found) if page and suffix == ".html" else found.to_json(indent=2) + "\n"
    write_file(path, content)
