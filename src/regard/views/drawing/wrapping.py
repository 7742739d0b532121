"""Styled text broken into lines, in cells of a terminal or in points of a picture."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.cells import cell_len

__all__ = ["Styled", "break_lines", "is_right_to_left", "letters"]

# Letters that a line may be broken before: Chinese and Japanese, which have no spaces.
_LETTER = "[\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\U00020000-\U0003ffff]"
_CLOSING = frozenset("、。，．！？；：）」』】〉》”’…\u00a0")
_PARTS = re.compile(rf"\n|[^\S\n\u00a0]+|{_LETTER}|(?:(?!{_LETTER})[\S\u00a0])+")
_IS_LETTER = re.compile(_LETTER)

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Styled(Generic[S]):
    """A text with its style."""

    text: str
    style: S


def break_lines(
    stretches: Iterable[Styled[S]], width: float, measure: Callable[[str], float] = cell_len
) -> list[list[Styled[S]]]:
    """Break the text into lines of at most ``width``, at spaces and between Chinese letters.

    The line breaks of the text stay; spaces are dropped where a line is broken, kept elsewhere.
    """
    lines: list[list[Styled[S]]] = []
    line: list[Styled[S]] = []
    used = 0.0
    for unit in _units(stretches):
        if unit[0].text == "\n":
            lines.append(line)
            line, used = [], 0.0
            continue
        size = sum(measure(part.text) for part in unit)
        if line and used + size > width:
            lines.append(_without_end_space(line))
            line, used = [], 0.0
            if unit[0].text.isspace():
                continue
        if size > width:
            *full, unit = list(_chop(unit, width, measure))
            lines += full
            size = sum(measure(part.text) for part in unit)
        line = line + unit if line else unit
        used += size
    return [*lines, _without_end_space(line)] if any(part.text.strip() for part in line) else lines


def _without_end_space(line: list[Styled[S]]) -> list[Styled[S]]:
    return line[:-1] if line and line[-1].text.isspace() else line


def _units(stretches: Iterable[Styled[S]]) -> Iterator[list[Styled[S]]]:
    """Join what must stay on one line: a word with the marks that touch it."""
    unit: list[Styled[S]] = []
    after_letter = False
    for stretch in stretches:
        for match in _PARTS.finditer(stretch.text.expandtabs(4)):
            part = Styled(match.group(), stretch.style)
            is_space = part.text.isspace() and part.text != "\u00a0"
            is_letter = _IS_LETTER.match(part.text) is not None
            breaks = is_space or ((is_letter or after_letter) and part.text[0] not in _CLOSING)
            if breaks and unit:
                yield unit
                unit = []
            after_letter = is_letter
            if is_space:
                yield [part]
            else:
                unit.append(part)
    if unit:
        yield unit


def _chop(
    unit: list[Styled[S]], width: float, measure: Callable[[str], float]
) -> Iterator[list[Styled[S]]]:
    """Break a word that is longer than a line."""
    row: list[Styled[S]] = []
    used = 0.0
    for part in unit:
        for letter in letters(part.text):
            size = measure(letter)
            if row and used + size > width:
                yield row
                row, used = [], 0.0
            row.append(Styled(letter, part.style))
            used += size
    yield row


def letters(text: str) -> list[str]:
    """The letters of a word, each with the accents and joiners that follow it."""
    found: list[str] = []
    for letter in text:
        if found and not cell_len(letter):
            found[-1] += letter
        else:
            found.append(letter)
    return found


def is_right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction is written from right to left."""
    for letter in text:
        direction = unicodedata.bidirectional(letter)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False
