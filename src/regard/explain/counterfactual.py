"""Explain by a counterfactual: a small set of sentences without which the decision flips.

Sentences are taken away one at a time, each time the one that moves the probability furthest;
once the decision flips, those that turn out not to be needed are put back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torch import Tensor

from ..records.explanation import Change, Explanation
from ..records.weights import Span, Weights
from .answers import Answers, explanations
from .erasing import Eraser, Mask, erasers
from .erasure import POLICY, without_each_sentence

__all__ = ["explain"]

CANDIDATES = 100
"""How many sentences of a document are tried: those that by themselves move it most."""

RANDOM_SETS = 50
SEED = 0


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: what to take away to change the decision.

    For a class that is an answer, the search is for what makes it none, and the other way round.
    The score of a sentence is the probability that was lost with it in its turn.
    """
    found = []
    for place, eraser in enumerate(erasers(answers.model, answers.batch, POLICY)):
        spans = answers.batch.texts[place].sentence_spans()
        decisions = []
        for number in answers.chosen[place]:
            search = _Search(answers, eraser, number)
            removed = search.needed(search.greedy())
            weights = Weights.from_scores(
                "sentence", spans, search.drops(removed), unit="probability"
            )
            decision = answers.decision(place, number, (weights,))
            decisions.append(replace(decision, change=search.change(removed, spans)))
        found.append(decisions)
    return explanations(answers, "counterfactual", found, erasure=POLICY)


class _Search:
    """Looks for sentences without which the decision about one class is another."""

    def __init__(self, answers: Answers, eraser: Eraser, number: int) -> None:
        self._answers, self._eraser, self._number = answers, eraser, number
        whole = self._likely([[]])
        self._held = bool(answers.decided(whole, number)[0])
        self._start = float(whole[0, number])

    def greedy(self) -> list[int]:
        """Take sentences away until the decision flips, or nothing moves it further."""
        probability, removed = self._start, list[int]()
        left = self._candidates()
        while left:
            likely = self._likely([[*removed, place] for place in left])
            lost = self._toward(probability - likely[:, self._number])
            best = int(lost.argmax())
            if lost[best] <= 0:
                break
            removed.append(left.pop(best))
            probability = float(likely[best, self._number])
            if self._flips(likely[best : best + 1]):
                break
        return removed

    def needed(self, removed: list[int]) -> list[int]:
        """Put back what the flip does not need, the first taken first."""
        if not self._flips(self._likely([removed])):
            return removed
        for place in removed[:-1]:
            others = [other for other in removed if other != place]
            if self._flips(self._likely([others])):
                removed = others
        return removed

    def drops(self, removed: list[int]) -> list[float]:
        """The probability lost with each sentence in its turn; zero for those that stay."""
        steps = [removed[:count] for count in range(len(removed) + 1)]
        falls = -self._likely(steps)[:, self._number].diff()
        found = [0.0] * self._eraser.sentence_count
        for place, fall in zip(removed, falls.tolist(), strict=True):
            found[place] = fall
        return found

    def change(self, removed: list[int], spans: list[Span]) -> Change:
        """Say what becomes of the decision without the sentences."""
        likely = self._likely([removed])
        label = None if self._answers.multilabel else self._answers.classes[int(likely.argmax())]
        return Change(
            removed=tuple(spans[place] for place in removed),
            probability=float(likely[0, self._number]),
            flips=self._flips(likely),
            label=label,
            random_flips=self._random_flips(len(removed)),
        )

    def _random_flips(self, size: int) -> float:
        """The share of random sets of so many sentences without which the decision flips."""
        draw = np.random.default_rng(SEED)
        sets = [draw.permutation(self._eraser.sentence_count)[:size] for _ in range(RANDOM_SETS)]
        decided = self._answers.decided(self._likely([one.tolist() for one in sets]), self._number)
        return float((decided != self._held).double().mean())

    def _candidates(self) -> list[int]:
        left = without_each_sentence(self._eraser, self._answers.likely)
        lost = self._toward(self._start - left.values[:, self._number])
        return lost.argsort(descending=True, stable=True)[:CANDIDATES].tolist()

    def _toward(self, lost: Tensor) -> Tensor:
        """How far each loss goes the way that the search goes."""
        return lost if self._held else -lost

    def _flips(self, likely: Tensor) -> bool:
        return bool(self._answers.decided(likely, self._number)[0]) != self._held

    def _likely(self, removed: list[list[int]]) -> Tensor:
        kept: Mask = np.ones((len(removed), self._eraser.sentence_count), dtype=bool)
        for version, places in enumerate(removed):
            kept[version, places] = False
        return self._answers.likely(self._eraser.with_sentences(kept))
