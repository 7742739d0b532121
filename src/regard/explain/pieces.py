"""The words or the sentences of one document, and what the model says without some of them."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from .answers import Answers
from .erasing import Eraser, Mask
from .rankings import Erased, Floats, erased, kendall, random_ranks, ranks_of

__all__ = ["RANDOM_RANKINGS", "Pieces"]

RANDOM_RANKINGS = 20
"""How many random rankings an explanation is compared with."""
WORDS_LEFT_OUT = 500
"""Of a longer document so many words, drawn at random, are left out one by one."""


class Pieces:
    """The pieces of one level, erased at random and one by one: what all explanations share.

    ``drops`` are the probabilities lost without each piece at ``places``, (places, classes).
    """

    def __init__(self, level: str, answers: Answers, eraser: Eraser, seed: int) -> None:
        words = level == "word"
        self.level = level
        self.count = eraser.word_count if words else eraser.sentence_count
        self.seed = seed
        self._answers, self._ask = answers, eraser.asking(level)
        draw = np.random.default_rng([seed, words])
        self._ranks = random_ranks(self.count, RANDOM_RANKINGS, draw)
        self.random = erased(self._ranks, self._likely)
        self.places = np.arange(self.count)
        if words and self.count > WORDS_LEFT_OUT:
            self.places = np.sort(draw.choice(self.count, WORDS_LEFT_OUT, replace=False))
        one_by_one = (
            eraser.without_each_word(self.places) if words else eraser.without_each_sentence()
        )
        self.drops = answers.likely(eraser.whole()) - answers.likely(one_by_one)
        self._best: dict[int, float] = {}

    def erased_by(self, amounts: Floats) -> Erased:
        """Take the pieces away in the order of their amounts, the largest first."""
        draw = np.random.default_rng([self.seed, self.count])
        return erased(ranks_of(amounts, draw), self._likely)

    def best_gain(self, number: int) -> float | None:
        """The gain of ranking by leave-one-out; None where not every piece was left out."""
        if len(self.places) < self.count:
            return None
        if number not in self._best:
            found = self.erased_by(self.drops[:, number].numpy())
            self._best[number] = float(found.gains(number)[0])
        return self._best[number]

    def agreement(self, amounts: Floats, number: int) -> tuple[float, float] | None:
        """Kendall's tau between amounts and leave-one-out drops, beside that of random rankings."""
        drops = self.drops[:, number].numpy()
        own = kendall(amounts[self.places], drops)
        if own is None:
            return None
        others = [kendall(-row[self.places].astype(float), drops) for row in self._ranks]
        return own, float(np.mean([other or 0.0 for other in others]))

    def _likely(self, kept: Mask) -> Tensor:
        return self._answers.likely(self._ask(kept))
