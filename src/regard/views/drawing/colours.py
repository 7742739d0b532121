"""The colours of every view, and how strongly a weight is drawn with them.

Words are orange and sentences blue: a pair that all kinds of colour-blindness tell apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ...records.weights import Weights
from .words import two_digits, write_signed

__all__ = [
    "DARK",
    "LEGEND_LEVELS",
    "LEVELS",
    "LIGHT",
    "PRINT",
    "SERIES",
    "Colour",
    "Scale",
    "Theme",
    "contrast",
    "hexadecimal",
    "mix",
]

Colour = tuple[int, ...]
"""Red, green and blue, 0 to 255."""

LEVELS = 10
"""How many shades there are above none."""
LEGEND_LEVELS = (1, 3, 5, 7, 10)
"""The shades that a legend shows."""

# Within its own sentence a word that has half of the weight is drawn at full strength.
_IN_SENTENCE = (0.06, 0.5)


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of a light or a dark picture."""

    paper: Colour
    panel: Colour
    ink: Colour
    muted: Colour
    line: Colour
    word: Colour  # what a word for the label is shaded with
    against: Colour  # what a word against the label is shaded with
    sentence: Colour
    mark: Colour  # thin lines and marks of a chart, where the orange of words is too pale

    def shade(self, level: int, *, against: bool = False) -> Colour:
        """The background of a word at a level from 0 to ``LEVELS``."""
        # A little more than in proportion, so that the palest shade is seen on dark paper too.
        share = (level / LEVELS) ** 0.8
        return mix(self.paper, self.against if against else self.word, share)

    def grey(self, level: int) -> Colour:
        """The colour of a cell of a matrix at a level from 0, the paper, to ``LEVELS``, the ink."""
        return mix(self.paper, self.ink, (level / LEVELS) ** 0.8)

    def ink_on(self, background: Colour) -> Colour:
        """An ink that can be read on such a background: the theme's own where it will do."""
        own = [ink for ink in (self.ink, self.paper) if contrast(ink, background) >= 4.5]
        # Black or white can be read on anything.
        return max(own or [(0, 0, 0), (255, 255, 255)], key=lambda ink: contrast(ink, background))


LIGHT = Theme(
    paper=(255, 255, 255),
    panel=(244, 246, 249),
    ink=(28, 35, 48),
    muted=(93, 102, 117),
    line=(223, 227, 233),
    word=(247, 144, 40),
    against=(150, 140, 240),
    sentence=(0, 114, 178),
    mark=(213, 94, 0),
)
DARK = Theme(
    paper=(20, 24, 31),
    panel=(30, 36, 46),
    ink=(228, 232, 238),
    muted=(154, 165, 180),
    line=(48, 56, 68),
    word=(250, 150, 50),
    against=(150, 140, 240),
    sentence=(86, 180, 233),
    mark=(240, 144, 77),
)
PRINT = replace(
    LIGHT, panel=(255, 255, 255), ink=(0, 0, 0), muted=(68, 68, 68), line=(187, 187, 187)
)
SERIES = (
    (31, 111, 180),
    (217, 115, 26),
    (59, 143, 74),
    (166, 61, 87),
    (113, 86, 168),
    (107, 107, 107),
    (181, 155, 0),
    (42, 161, 152),
)
"""The colours of the lines of one chart, where there are many of equal standing."""


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """The colour that lies ``share`` of the way from the first to the second."""
    return tuple(round(a + (b - a) * share) for a, b in zip(first, second, strict=True))


def hexadecimal(colour: Colour) -> str:
    """The colour as ``#rrggbb``."""
    return "#" + "".join(f"{part:02x}" for part in colour)


def contrast(first: Colour, second: Colour) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21; text needs 4.5."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Colour) -> float:
    linear = [
        part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in colour
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@dataclass(frozen=True, slots=True)
class Scale:
    """How weights of one kind are drawn: not at all up to ``quiet``, in full from ``full`` on."""

    quiet: float
    full: float
    signed: bool = False
    power: float = 0.5  # shades grow with the square root: a quarter of the weight still matters

    @classmethod
    def of(cls, weights: Weights | None) -> Scale:
        """The scale that suits words: fixed within sentences, else from an even share upwards.

        Weights that are spread evenly so get no shade at all, as they give no reason at all.
        """
        if weights is None or not len(weights):
            return cls(0.0, 0.0)
        signed = _is_signed(weights)
        if weights.by == "sentence" and not signed:
            # Every word has some share of its sentence; with the root they would all be loud.
            return cls(*_IN_SENTENCE, power=1.0)
        peak, mean = _peak_and_mean(weights)
        full = max(peak, min(6, len(weights)) * mean)
        return cls(min(max(1.25 * mean, 0.015 * full), full / 4), full, signed)

    @classmethod
    def of_sentences(cls, weights: Weights | None) -> Scale:
        """The scale for bars beside sentences; where none stands out, all are short."""
        if weights is None or not len(weights):
            return cls(0.0, 0.0)
        peak, mean = _peak_and_mean(weights)
        signed = _is_signed(weights)
        return cls(0.0, max(peak, min(3, len(weights)) * mean), signed)

    def length(self, value: float) -> float:
        """How long a bar is, from 0 to 1."""
        return min(1.0, abs(value) / self.full) if self.full else 0.0

    def level(self, value: float) -> int:
        """How strong a shade is, from 0 for none to ``LEVELS``."""
        if not self.full:
            return 0
        low, high = self.quiet**self.power, self.full**self.power
        strength = (min(abs(value), self.full) ** self.power - low) / (high - low)
        return max(0, round(LEVELS * strength))

    def value_at(self, level: int) -> float:
        """The weight that is drawn at such a level."""
        low, high = self.quiet**self.power, self.full**self.power
        return (low + (high - low) * level / LEVELS) ** (1 / self.power)

    def swatches(self) -> list[tuple[int, int]]:
        """The shades that a legend shows, a level and a sign each, from against to for."""
        shown = [(level, 1) for level in LEGEND_LEVELS]
        return [(level, -1) for level in LEGEND_LEVELS[:2:-1]] + shown[1:] if self.signed else shown

    def text(self, value: float) -> str:
        """The weight as it is written for people."""
        return write_signed(value) if self.signed else two_digits(value)


def _is_signed(weights: Weights) -> bool:
    return weights.scores is not None or any(value < 0 for value in weights.values)


def _peak_and_mean(weights: Weights) -> tuple[float, float]:
    sizes = [abs(value) for value in weights.amounts]
    return max(sizes), math.fsum(sizes) / len(sizes)
