"""What a terminal can show, and the codes that make it do so."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .colours import DARK, LIGHT, Colour, Theme

__all__ = ["Depth", "Terminal", "printable", "printable_line", "table_lines"]

Depth = Literal["truecolor", "256", "bold", "none"]

# A text must not steer the terminal: control codes become pictures of themselves.
_PICTURES = {code: 0x2400 + code for code in range(32) if code not in (9, 10)} | {0x7F: 0x2421}
_BIDIRECTIONAL = [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]  # they reorder what follows
_UNPRINTABLE = [*range(0x80, 0xA0), *range(0xD800, 0xE000)]
_PICTURES |= dict.fromkeys([*_BIDIRECTIONAL, *_UNPRINTABLE], 0xFFFD)


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a terminal can show: its width in cells, its colours, and whether it is dark."""

    width: int = 80
    depth: Depth = "truecolor"
    dark: bool = True

    @classmethod
    def detect(
        cls, environment: Mapping[str, str], is_terminal: bool, *, width: int = 80
    ) -> Terminal:
        """Read off the environment what the terminal can do; ``NO_COLOR`` is honoured."""
        return cls(width, _depth(environment, is_terminal), _is_dark(environment))

    @classmethod
    def here(cls) -> Terminal:
        """Read off this process what the terminal that it prints to can do."""
        is_terminal = sys.stdout is not None and sys.stdout.isatty()
        width = shutil.get_terminal_size().columns
        return cls.detect(os.environ, is_terminal, width=width)

    @property
    def theme(self) -> Theme:
        """The colours that suit the terminal's background."""
        return DARK if self.dark else LIGHT

    def coloured(self, text: str, colour: Colour) -> str:
        """The text in a colour, where there are colours."""
        if self.depth in ("bold", "none"):
            return text
        return self._wrapped(text, self._code(38, colour))

    def bold(self, text: str) -> str:
        """The text in bold."""
        return self._wrapped(text, "1")

    def dim(self, text: str) -> str:
        """The text paler than usual."""
        return self._wrapped(text, "2")

    def word(self, text: str, level: int, *, against: bool = False, unknown: bool = False) -> str:
        """A word shaded by its level; without colours bold, without anything between asterisks.

        One that speaks against the label has another colour, italics, or tildes.
        """
        if self.depth == "none":
            text, mark = text + "°" * unknown, "~" if against else "*"
            return f"{mark}{text}{mark}" if level >= 3 else text
        codes = ["4"] * unknown
        if self.depth == "bold":
            codes += ["3" if against else "1"] * (level >= 3) + ["7"] * (level >= 7)
        elif level:
            shade = self.theme.shade(level, against=against)
            codes += [self._code(48, shade), self._code(38, self.theme.ink_on(shade))]
        return self._wrapped(text, ";".join(codes)) if codes else text

    def _wrapped(self, text: str, codes: str) -> str:
        return text if self.depth == "none" else f"\x1b[{codes}m{text}\x1b[0m"

    def _code(self, ground: int, colour: Colour) -> str:
        if self.depth == "truecolor":
            return f"{ground};2;" + ";".join(map(str, colour))
        # The cube of 256-colour terminals has the levels 0, 95, 135, 175, 215, 255.
        red, green, blue = (0 if part < 48 else max(1, (part - 35) // 40) for part in colour)
        return f"{ground};5;{16 + 36 * red + 6 * green + blue}"


def printable(text: str) -> str:
    """The text with nothing left in it that a terminal would obey."""
    lines = "\n".join(text.replace("\r\n", "\n").splitlines()) + "\n" * text.endswith("\n")
    return lines.translate(_PICTURES)


def printable_line(text: object) -> str:
    """A label, word or sentence that a terminal may show, on one line, its spaces single."""
    return " ".join(printable(str(text)).split())


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines: the first column begins at the left, the others end at the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = []
    for cells in (heads, *rows):
        first, *rest = zip(cells, widths, strict=True)
        padded = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]
        lines.append("  ".join(padded).rstrip())
    return lines


def _depth(environment: Mapping[str, str], is_terminal: bool) -> Depth:
    name = environment.get("TERM", "")
    forced = environment.get("FORCE_COLOR", "") not in ("", "0")
    if not (is_terminal or forced) or name == "dumb":
        return "none"
    if environment.get("NO_COLOR"):
        return "bold"
    if environment.get("COLORTERM") in ("truecolor", "24bit") or "WT_SESSION" in environment:
        return "truecolor"
    if name.endswith("-direct"):
        return "truecolor"
    return "256" if "256color" in name else "bold"


def _is_dark(environment: Mapping[str, str]) -> bool:
    """By ``COLORFGBG``, whose last number is the background; dark where it says nothing."""
    return environment.get("COLORFGBG", "").rpartition(";")[2] not in {"7", *map(str, range(9, 16))}
