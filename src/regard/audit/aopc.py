"""Comprehensiveness and sufficiency over many documents, by two protocols that do not compare.

ERASER (DeYoung et al., 2020) takes away the heaviest 1, 5, 10, 20 and 50 % of the words. ferret
(Attanasio et al., 2023) takes away 10 to 100 % in steps of ten, only words that speak for the
class, and counts an amount that adds no further word once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch import Tensor

from ..explain.erasing import Mask
from ..explain.rankings import Floats
from ..records.receipt import Receipt
from .tally import Measured

__all__ = ["FerretErasure", "ferret_masks", "from_receipt"]


SHARES = tuple(share / 10 for share in range(1, 11))
SHUFFLES = 5


def from_receipt(receipt: Receipt, whole_loss: float) -> dict[str, Measured]:
    """Take the ERASER measures off a receipt; ``whole_loss`` is what the empty document loses."""
    found: dict[str, Measured] = {}
    for name in ("comprehensiveness", "sufficiency"):
        for level, ending in (("word", ""), ("sentence", "_sentence")):
            measure = receipt.measure(name, level)
            if measure is not None and measure.random is not None:
                found[name + ending] = Measured(measure.value, measure.random)
        if name in found:
            one = found[name]
            found[f"normalised_{name}"] = Measured(one.value, one.baseline, whole_loss)
    return found


def ferret_masks(scores: Floats) -> Mask:
    """Which words each amount takes, (distinct amounts, words): the heaviest positive ones."""
    order = np.argsort(-scores, kind="stable")
    places = np.argsort(order)
    taken: list[Mask] = []
    for share in SHARES:
        mask = (places < round(share * len(scores))) & (scores > 0)
        if mask.any() and not (taken and np.array_equal(mask, taken[-1])):
            taken.append(mask)
    return np.array(taken, dtype=bool).reshape(len(taken), len(scores))


class FerretErasure:
    """ferret's measures of one document: asks about it without some words, and of them alone."""

    def __init__(self, likely: Callable[[Mask], Tensor], whole: Tensor, seed: int) -> None:
        self._likely, self._whole, self._seed = likely, whole, seed

    def measure(self, scores: Floats, number: int) -> dict[str, Measured]:
        """Return both measures of a class beside those of the same scores on other words."""
        draw = np.random.default_rng([self._seed, len(scores)])
        rows = [scores, *(draw.permutation(scores) for _ in range(SHUFFLES))]
        losses = np.array([self._losses(row, number) for row in rows])
        chance = losses[1:].mean(0)
        return {
            "comprehensiveness_ferret": Measured(losses[0, 0], chance[0]),
            "sufficiency_ferret": Measured(losses[0, 1], chance[1]),
        }

    def _losses(self, scores: Floats, number: int) -> tuple[float, float]:
        """What is lost without the words, and with them alone; nothing where none is positive."""
        taken = ferret_masks(scores)
        start = float(self._whole[0, number])
        if not len(taken):
            nothing = float(self._likely(np.zeros((1, len(scores)), dtype=bool))[0, number])
            return 0.0, start - nothing
        left = self._likely(np.concatenate([~taken, taken]))[:, number].numpy()
        return start - left[: len(taken)].mean(), start - left[len(taken) :].mean()
