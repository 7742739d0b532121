"""Adding numbers digit by digit: attention, a state passed on, and neither.

The three systems of the notes: "123+45" is read and "168" is written. All have the same encoder
and the same cell. One looks at the digits at every step; one is handed the encoder's last state to
start from; one starts from nothing, and reads a summary of the sum at every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..config import checked_settings, require
from ..data.pairs import EncodedPairs
from ..models.seq2seq import PRESETS, Seq2SeqConfig
from ..records.experiment import Chart, Finding, ResultRow
from ..text.units import RESERVED
from ..training.seeds import derived_seed
from .running import Stopwatch, Tell, training_of, under
from .teaching import Lesson, Milestone, build, curve, first_over, study

__all__ = ["SYSTEMS", "Addition", "draw_sums"]

SYSTEMS: dict[str, Seq2SeqConfig] = {
    "attention": PRESETS["addition"],
    "state passed": replace(PRESETS["addition"], decoder="sutskever"),
    "no state passed": replace(PRESETS["addition"], decoder="cho", bridge="none"),
}
"""The three systems, by their names in the table."""

_IDS = {sign: len(RESERVED) + place for place, sign in enumerate("0123456789+")}


@dataclass(frozen=True)
@checked_settings
class Addition:
    """How many sums there are, and how long each system may learn from them.

    All systems learn alike. What is asked is how soon they reach the target: one that is over it
    is not trained on.
    """

    name: ClassVar[str] = "addition"
    title: ClassVar[str] = "Adding numbers: sums never seen before that are right in every digit"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "epochs", "first epoch over target")

    digits: int = 3
    examples: int = 50_000
    held_out: int = 5_000
    hidden_size: int = 128
    epochs: int = 50  # at most; the learning rate falls to nothing over all of them
    batch_size: int = 32
    learning_rate: float = 2e-3
    target: float = 0.98
    reverse_source: bool = False  # read the digits from the last one, as the Keras example does

    def __post_init__(self) -> None:
        require(1 <= self.digits <= 9, f"digits must be from 1 to 9, got {self.digits}")
        require(
            0 < self.held_out < self.examples,
            f"held_out must lie between 0 and {self.examples} examples, got {self.held_out}",
        )
        numbers = 10**self.digits
        pairs = numbers * (numbers + 1) // 2
        require(
            self.examples <= pairs // 2,
            f"numbers of {self.digits} digits make {pairs:,} sums, of which half at most can be "
            f"drawn; examples is {self.examples:,}",
        )

    @classmethod
    def quick(cls) -> Addition:
        """A few sums of two digits, looked at once or twice."""
        return cls(digits=2, examples=300, held_out=50, hidden_size=12, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Train the three systems beside one another on the same sums."""
        lesson = draw_sums(self, seed)
        config = training_of(self, derived_seed(seed, "training"))
        rows, curves = [], []
        for name, network in SYSTEMS.items():
            clock = Stopwatch()
            sized = replace(
                network, hidden_size=self.hidden_size, reverse_source=self.reverse_source
            )
            model = build(sized, lesson, seed)
            history = study(model, lesson, config, under(name, tell), done=self._reached)
            first = first_over(history, self.target)
            rows.append(ResultRow(name, (history[-1].exact, len(history), first), clock.seconds))
            curves.append(curve(name, history))
        chart = Chart("lines", "epoch", "exact match", tuple(curves), level=self.target)
        return Finding(seed, tuple(rows), chart)

    def _reached(self, history: Sequence[Milestone]) -> bool:
        return history[-1].exact > self.target


def draw_sums(config: Addition, seed: int) -> Lesson:
    """Draw different pairs of numbers of up to so many digits; 12+7 and 7+12 are the same pair."""
    random = np.random.default_rng(derived_seed(seed, "sums"))
    found = np.zeros((0, 2), np.int64)
    while len(found) < config.examples:
        # As many short numbers as long ones, until all short ones are there.
        digits = random.integers(1, config.digits + 1, (config.examples, 2))
        found = _distinct(np.concatenate([found, random.integers(0, 10**digits)]))
    chosen = found[random.permutation(config.examples)]
    sources = [_ids(f"{left}+{right}") for left, right in chosen.tolist()]
    targets = [_ids(str(total)) for total in chosen.sum(1).tolist()]
    held = config.held_out
    return Lesson(
        EncodedPairs(sources[held:], targets[held:]),
        EncodedPairs(sources[:held], targets[:held]),
        len(RESERVED) + len(_IDS),
    )


def _distinct(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first of every pair of numbers, in whichever order they stand."""
    _, first = np.unique(np.sort(pairs, 1), axis=0, return_index=True)
    return pairs[np.sort(first)]


def _ids(text: str) -> list[int]:
    return [_IDS[sign] for sign in text]
