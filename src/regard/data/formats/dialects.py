"""How a file of rows and columns is written, so that an answer can be given in the same hand."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, replace
from typing import Literal

from .lines import Lines

__all__ = ["Dialect", "Quoting", "in_encoding_of"]

Quoting = Literal["needed", "texts", "all"]
"""Which fields stand in quotes: those that must, all but numbers, or all."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What CSV leaves open, as the file has it that was read; by default as we write it."""

    delimiter: str | None = None  # None: as the suffix says
    encoding: str = "utf-8"
    mark: bool = False  # whether a byte order mark begins the file
    line_end: str = "\r\n"
    quoting: Quoting = "needed"
    separator_line: bool = False  # whether Excel's ``sep=;`` stands above the header
    protects: bool = False  # whether what a spreadsheet would compute is made text


def in_encoding_of(lines: Lines, dialect: Dialect) -> Dialect:
    """The dialect with the encoding, and the byte order mark, that lines were read with."""
    encoding = codecs.lookup(lines.encoding).name
    if encoding == "utf-8-sig":
        encoding = "utf-8"
    if encoding in ("utf-16", "utf-32"):
        # Its parts are written one by one, and only the first may have a mark.
        encoding += "-be" if lines.mark in (codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE) else "-le"
    return replace(dialect, encoding=encoding, mark=bool(lines.mark))
