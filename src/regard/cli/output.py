"""What a command says: how far it has come, and what it found, printed or written to a file.

A file replaces nothing that it must not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from ..data.formats.lines import STANDARD_INPUT
from ..errors import ConfigError
from ..files import standard_output, write_file
from ..views.drawing.terminal import Terminal, printable

if TYPE_CHECKING:
    from ..training.observers import ReadSource

__all__ = [
    "DRAWINGS",
    "REPORTS",
    "Delivery",
    "Drawn",
    "Remarks",
    "counted",
    "require_output",
    "require_outside_models",
    "say",
    "show",
    "show_drawn",
    "write_report",
]

REPORTS = (".html", ".json")
PICTURES = (".png", ".svg")
DRAWINGS = (".html", ".json", ".jsonl", *PICTURES)


def say(message: str = "", *, quiet: bool = False) -> None:
    """Print a line for a person: on standard error, so that standard output stays data."""
    if not quiet:
        print(_line(message), file=sys.stderr, flush=True)


def counted(
    items: Iterable[T], what: str, *, quiet: bool = False, source: ReadSource | None = None
) -> Iterator[T]:
    """Pass the items on, showing how many there were, and the time left where that is known.

    It is where the items are counted already, or come from a ``source`` that knows how much of it
    was read: a reader of a regular file.
    """
    if quiet:
        yield from items
        return
    from ..training.observers import Progress
    from ..training.observers import counted as watched

    with Progress() as progress:
        yield from watched(items, what, (progress,), source)


class Remarks:
    """Lines for a person that wait until the work is done: an error stands alone."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        """Keep a line for later."""
        self._lines.append(line)

    def say(self) -> None:
        """Print the lines, each once."""
        for line in dict.fromkeys(self._lines):
            say(line, quiet=self._quiet)
        self._lines.clear()


def show(*lines: str) -> None:
    """Print lines on standard output; nothing in them can steer a terminal."""
    show_drawn("\n".join(map(_line, lines)))


def show_drawn(text: str) -> None:
    """Print what a view has drawn for a terminal, colours and all."""
    with standard_output() as out:
        out.write(f"{text}\n")
        out.flush()


def _line(text: str) -> str:
    """The text on one line, with nothing in it that a terminal would obey."""
    return " ".join(printable(text).split("\n"))


class _Record(Protocol):
    def to_json(self, *, indent: int | None = None) -> str: ...


class _Drawable(Protocol):
    def to_json(self) -> str: ...

    def write_image(self, path: Path) -> None: ...


R = TypeVar("R", bound=_Record)
D = TypeVar("D", bound=_Drawable)


@dataclass(frozen=True)
class Delivery:
    """Where a finding goes; a file that cannot be written is refused before any work is done."""

    out: Path | None
    json: bool
    quiet: bool
    inputs: Sequence[Path | str | None]  # what the command reads
    name: str = ""  # what the file is called once it is written
    formats: tuple[str, ...] = REPORTS

    def __post_init__(self) -> None:
        if self.out is not None:
            require_output(self.out, self.formats, inputs=self.inputs)

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
            show(found.to_json())
        elif not self.quiet:
            show(*lines(found))


@dataclass(frozen=True)
class Drawn(Generic[D]):
    """Findings that are drawn rather than told, and how: as a page or for a terminal."""

    found: Sequence[D]
    page: Callable[[Sequence[D]], str]
    lines: Callable[[Sequence[D], Terminal], Sequence[str]]
    one: str  # what each of them is
    fewer: str  # the options that ask for one alone

    def give(self, out: Path | None, *, json: bool, quiet: bool) -> None:
        """Show them, or write a page, JSON or the picture of one; or print JSON, a line each."""
        if json:
            show(*(finding.to_json() for finding in self.found))
        elif out is None:
            show_drawn("\n\n".join(self.lines(self.found, Terminal.here())))
        if out is not None:
            self._write(out)
            say(f"written to {out}", quiet=quiet)

    def _write(self, path: Path) -> None:
        suffix = path.suffix.lower()
        if suffix in PICTURES and len(self.found) > 1:
            raise ConfigError(
                f"{path} can hold one {self.one}, got {len(self.found)}; use {self.fewer}"
            )
        if suffix == ".html":
            write_file(path, self.page(self.found))
        elif suffix in (".json", ".jsonl"):
            lines = [finding.to_json() for finding in self.found]
            whole = f"[{', '.join(lines)}]" if suffix == ".json" else "\n".join(lines)
            write_file(path, whole + "\n")
        else:
            self.found[0].write_image(path)


def write_report(found: R, path: Path, page: Callable[[R], str] | None) -> None:
    """Write a record as the page that is drawn of it, or as JSON; without a page JSON alone."""
    suffix = _require_format(path, REPORTS if page else (".json",))
    write_file(path, page(found) if page and suffix == ".html" else found.to_json(indent=2) + "\n")


def require_output(
    out: Path | str, formats: Sequence[str], *, inputs: Sequence[Path | str | None]
) -> None:
    """Raise ``ConfigError`` unless ``out`` can be written and is not among what is needed.

    That is what the command reads, under whatever name, and what lies in a saved model.
    """
    path = Path(out)
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; name a file to write")
    _require_format(path, formats)
    place = Path(os.path.realpath(path))
    if not place.parent.is_dir():
        found = "is a file" if place.parent.exists() else "does not exist; make it first"
        raise ConfigError(f"{path} cannot be written: the folder {path.parent} {found}")
    for needed in (place.parent, place):
        if needed.exists() and not os.access(needed, os.W_OK):
            raise ConfigError(f"{path} cannot be written: {needed} may not be changed")
    for read in inputs:
        if read is not None and str(read) != STANDARD_INPUT and _is_read(place, Path(read)):
            raise ConfigError(f"{path} is what is read from {read}; write to another file")
    require_outside_models(path)


def require_outside_models(path: Path | str) -> None:
    """Raise ``ConfigError`` where a file or folder would be written into a saved model."""
    place = Path(os.path.realpath(path))
    for folder in (place, *place.parents):
        if all((folder / part).is_file() for part in ("config.json", "weights.safetensors")):
            raise ConfigError(f"{path} lies in the saved model {folder}; write elsewhere")


def _is_read(place: Path, read: Path) -> bool:
    """Whether a place is the file that is read, whatever its names."""
    return place.exists() and read.exists() and read.samefile(place)


def _require_format(path: Path, formats: Sequence[str]) -> str:
    suffix = path.suffix.lower()
    if suffix not in formats:
        raise ConfigError(f"{path} cannot be written; its name must end in {' or '.join(formats)}")
    return suffix


T = TypeVar("T")
