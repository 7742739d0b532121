"""Whether scores tell what an answer rests on: a test with a stated error rate, then a plain word.

The model is asked without many random sets of pieces. Scores that are true tell which of these
sets the answer misses: what the scores of a set add up to goes with the log-odds that are lost
without it. How well is the correlation, sets of one size compared with each other alone. The same
scores dealt out to the pieces at random tell how well chance does, and the share of such shuffles
that do as well is an exact p-value: where scores have nothing to do with the model, it is
below ``ERROR_RATE`` for at most that share of documents, whatever their length.

Sets are drawn without a look at the scores, and no method of explanation is made of them: a method
that erases one word at a time is not judged by the erasures it was made of.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from ..records.explanation import (
    CHANCE,
    ERROR_RATE,
    FAITHFUL,
    LEAST_LEAD,
    NOT_MEASURED,
    TOO_SHORT,
    WEAK,
    Judgement,
)
from .erasing import Mask
from .rankings import Floats, shuffled

__all__ = ["AGREEMENT", "SHUFFLES", "SetTest", "together"]

SHUFFLES = 199
"""How many orders of the scores are tried; where there are no more than that, all."""
AGREEMENT = 0.6
"""The correlation from which on scores are called faithful: they tell most of what sets do."""

FEW = 30
"""Up to so many pieces a text may be too short: then it is tried whether any scores would do."""
STILL = 1e-6  # log-odds: what a model in single precision moves by rounding alone
SHUFFLED_CELLS = 1 << 22  # of the table of shuffled scores that is held at once


class SetTest:
    """What one class lost without each of some sets of pieces, to hold scores against.

    ``gone`` says which pieces each set takes away, (sets, pieces), and ``lost`` how many log-odds
    go with it, (sets,).
    """

    def __init__(self, gone: Mask, lost: Floats, seed: int = 0) -> None:
        self.set_count, self.piece_count = gone.shape
        self._seed = seed
        _, groups = np.unique(gone.sum(1), return_inverse=True)
        # Larger sets lose more whatever is in them: only sets of one size are compared.
        self._gone = _less_group_means(gone.T.astype(np.float64), groups)  # (pieces, sets)
        self._lost = _less_group_means(lost[None], groups)[0]
        self._size = float(np.linalg.norm(self._lost))

    @property
    def moves(self) -> bool:
        """Whether the answer depends on which pieces are gone at all."""
        return self._size > STILL * math.sqrt(self.set_count)

    def agreement(self, scores: Floats) -> float:
        """The correlation of the scores' sums over the sets with what was lost; 0 for even ones."""
        return float(self._agreements(scores[None])[0])

    def p_value(self, scores: Floats) -> float:
        """The share of the orders of the scores, their own among them, that agree as well."""
        own = self.agreement(scores) - 1e-9  # orders that differ by rounding are alike
        if self.exhaustive:
            orders = np.array(list(itertools.permutations(range(self.piece_count))))
            return float(np.mean(self._agreements(scores[orders]) >= own))
        as_good = 1
        draw = np.random.default_rng([self._seed, self.piece_count])
        step = max(1, SHUFFLED_CELLS // self.piece_count)
        for first in range(0, SHUFFLES, step):
            rows = shuffled(scores, min(step, SHUFFLES - first), draw)
            as_good += int(np.sum(self._agreements(rows) >= own))
        return as_good / (1 + SHUFFLES)

    @property
    def exhaustive(self) -> bool:
        """Whether there are so few orders of the pieces that all of them are tried."""
        return self.piece_count <= 6 and math.factorial(self.piece_count) <= SHUFFLES

    def judge(self, level: str, scores: Floats, lead: float) -> Judgement:
        """Judge scores of every piece; ``lead`` is the probability that they bring over chance."""
        agreement, p_value = self.agreement(scores), self.p_value(scores)
        if p_value <= ERROR_RATE and lead >= LEAST_LEAD:
            verdict = FAITHFUL if agreement >= AGREEMENT else WEAK
        elif p_value > ERROR_RATE and (agreement >= AGREEMENT or self._too_few()):
            # What fits, but by a few pieces of few, may fit by luck.
            verdict = TOO_SHORT
        else:
            verdict = CHANCE
        orders = math.factorial(self.piece_count) if self.exhaustive else SHUFFLES
        return Judgement(level, verdict, p_value, agreement, lead, self.set_count, orders)

    def _too_few(self) -> bool:
        """Whether even the scores that fit these sets best could not be told from chance."""
        if self.piece_count > FEW or not self.moves:
            return False
        best, *_ = np.linalg.lstsq(self._gone.T, self._lost, rcond=1e-9)
        return self.p_value(best) > ERROR_RATE

    def _agreements(self, scores: Floats) -> Floats:
        """The correlation of each row of scores, (rows, pieces), with what was lost, (rows,)."""
        if not self.moves:
            return np.zeros(len(scores))
        sums = scores @ self._gone  # (rows, sets)
        sizes = np.linalg.norm(sums, axis=1) * self._size
        even = sizes <= 1e-12 * self._size * np.abs(scores).max(1)
        return np.where(even, 0.0, sums @ self._lost / np.where(even, 1.0, sizes))


def together(judgements: Sequence[Judgement]) -> str:
    """Say one word about words and sentences: faithful only where nothing that was told is not."""
    told = {one.verdict for one in judgements} & {FAITHFUL, WEAK, CHANCE}
    if len(told) == 1:
        return told.pop()
    if told:
        return WEAK
    short = any(one.verdict == TOO_SHORT for one in judgements)
    return TOO_SHORT if short else NOT_MEASURED


def _less_group_means(rows: Floats, groups: np.ndarray) -> Floats:
    """Take from each column the mean of its row over the columns of the same group."""
    member = np.zeros((rows.shape[1], int(groups.max(initial=-1)) + 1))
    member[np.arange(rows.shape[1]), groups] = 1
    means: Floats = rows @ (member / np.maximum(member.sum(0), 1))
    return rows - means[:, groups]
