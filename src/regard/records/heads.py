"""Where the words of a text looked inside a network, head by head, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .encoding import Record
from .explanation import Explanation

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["AttentionHeads", "Head"]


@dataclass(frozen=True, slots=True)
class Head:
    """What each word looked at most: by one head of one layer, or by all of them in a row.

    ``targets`` and ``shares`` have as many numbers for each word as the others, the heaviest
    first: the places of words, and thousandths of all that the word looked at. What is missing
    from a thousand lies on lighter words and on marks that are no words. A share of 0 is none.
    """

    layer: int  # from 1; 0: all layers together
    head: int  # from 1; 0: all heads together
    targets: tuple[int, ...]
    shares: tuple[int, ...]
    explanation: Explanation | None = None  # the words by what it looked at, with a receipt

    @property
    def name(self) -> str:
        """What a person calls it."""
        if not self.layer:
            return "rollout"
        return f"layer {self.layer}, " + (f"head {self.head}" if self.head else "all heads")


@dataclass(frozen=True, slots=True)
class AttentionHeads(Record):
    """Heads of a network and what they looked at in one text; the first is the rollout.

    The rollout (Abnar and Zuidema, 2020) follows attention through all layers, half of each step
    staying where it is: how much of each word is left in each other at the top.
    """

    source: str
    words: tuple[tuple[int, int], ...]  # (start, end) in the text
    heads: tuple[Head, ...]
    layer_count: int
    head_count: int

    @property
    def few(self) -> int:
        """How many targets each word has."""
        return len(self.heads[0].targets) // max(1, len(self.words))

    @property
    def explanation(self) -> Explanation | None:
        """The words by the rollout, with its receipt."""
        return self.heads[0].explanation

    def write_image(self, path: Path) -> None:
        """Draw the explanation by the rollout as a picture."""
        assert self.explanation is not None  # where a text was explained
        self.explanation.write_image(path)
