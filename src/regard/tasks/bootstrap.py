"""How sure a score is: intervals from drawing the same documents again, with replacement.

Accuracy and F1 depend only on how many documents had each combination of true label and answers.
So the combinations are counted once and the counts are redrawn, which is the same lottery as
redrawing documents and takes a moment for any number of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..records.evaluation import Interval
from .predictions import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Outcomes", "Scores", "percentiles", "proportion_interval", "resampled_scores"]

DRAW_COUNT = 1000
_DRAWS_AT_ONCE = 50  # bounds the memory: draws x combinations


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The same scores of many draws, each (draws,)."""

    accuracy: Floats
    macro_f1: Floats
    micro_f1: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """The distinct combinations of true label and answers, and how many documents had each."""

    truth: Integers  # (combinations,), or (combinations, classes)
    answers: tuple[Integers, ...]  # one for each method, in the form of truth
    counts: Integers  # (combinations,)
    class_count: int

    @classmethod
    def of(cls, labels: Integers, decisions: Sequence[Integers], class_count: int) -> Outcomes:
        """Count the combinations that occur; everything is in the form of ``labels``."""
        columns = [np.reshape(part, (len(labels), -1)) for part in (labels, *decisions)]
        combinations, counts = np.unique(np.hstack(columns), axis=0, return_counts=True)
        parts = np.split(combinations, len(columns), axis=1)
        truth, *answers = parts if labels.ndim == 2 else [part[:, 0] for part in parts]
        return cls(truth, tuple(answers), counts, class_count)

    def draws(self, seed: int, draw_count: int) -> Iterator[Integers]:
        """Give redrawn counts, (at most fifty draws, combinations) at a time."""
        generator = np.random.default_rng(seed)
        total = int(self.counts.sum())
        for start in range(0, draw_count, _DRAWS_AT_ONCE):
            size = min(_DRAWS_AT_ONCE, draw_count - start)
            yield generator.multinomial(total, self.counts / total, size=size)


def resampled_scores(
    outcomes: Outcomes, *, seed: int, draw_count: int = DRAW_COUNT
) -> tuple[Scores, ...]:
    """Return the scores of each method over redrawn documents, the same draws for all of them."""
    methods = [_Counter(outcomes, answer) for answer in outcomes.answers]
    rounds = [
        [count.scores(drawn) for count in methods] for drawn in outcomes.draws(seed, draw_count)
    ]
    return tuple(
        Scores(
            accuracy=np.concatenate([part[place].accuracy for part in rounds]),
            macro_f1=np.concatenate([part[place].macro_f1 for part in rounds]),
            micro_f1=np.concatenate([part[place].micro_f1 for part in rounds]),
        )
        for place in range(len(methods))
    )


def percentiles(values: Floats) -> Interval:
    """Return the middle 95 % of the values."""
    low, high = np.percentile(values, [2.5, 97.5])
    return Interval(float(low), float(high))


def proportion_interval(right: int, count: int) -> Interval:
    """Return Wilson's 95 % interval of a share, honest for few documents and for all right too."""
    if count == 0:
        return Interval(0.0, 1.0)
    z = 1.959964
    share, spread = right / count, z * z / count
    centre = (share + spread / 2) / (1 + spread)
    half = np.sqrt(spread * share * (1 - share) + spread * spread / 4) / (1 + spread)
    return Interval(float(max(0.0, centre - half)), float(min(1.0, centre + half)))


class _Counter:
    """Counts what one method got right, class by class, for many draws at once."""

    def __init__(self, outcomes: Outcomes, answer: Integers) -> None:
        self.multilabel = outcomes.truth.ndim == 2
        self.truth = _indicators(outcomes.truth, outcomes.class_count)
        self.answer = _indicators(answer, outcomes.class_count)
        self.both = self.truth.multiply(self.answer).tocsr()
        same = outcomes.truth == answer
        self.correct = same.all(axis=1) if self.multilabel else same

    def scores(self, drawn: Integers) -> Scores:
        found = drawn @ self.both  # (draws, classes)
        wanted, given = drawn @ self.truth, drawn @ self.answer
        f1 = np.divide(
            2.0 * found, wanted + given, out=np.zeros(found.shape), where=wanted + given > 0
        )
        # As scikit-learn has it: a class that neither occurs nor is answered counts only
        # for multi-label data.
        counted = np.ones_like(f1) if self.multilabel else wanted + given > 0
        total = np.maximum((wanted + given).sum(axis=1), 1)
        return Scores(
            accuracy=drawn @ self.correct / drawn.sum(axis=1),
            macro_f1=f1.sum(axis=1) / counted.sum(axis=1),
            micro_f1=2.0 * found.sum(axis=1) / total,
        )


def _indicators(labels: Integers, class_count: int) -> csr_array:
    """Zeros and ones, (combinations, classes), of which few are ones."""
    from scipy.sparse import csr_array

    if labels.ndim == 2:
        return csr_array(labels)
    rows = np.arange(len(labels) + 1)
    return csr_array(
        (np.ones(len(labels), np.int64), labels, rows), shape=(len(labels), class_count)
    )
