"""How faithful explanations are: the model is asked again, without what they point at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ..records.explanation import Decision, Explanation
from ..records.receipt import Curve, Measure, Receipt
from .answers import Answers
from .comprehensiveness import ranked_levels
from .erasing import Eraser, documents
from .pieces import RANDOM_RANKINGS, Pieces
from .rankings import BINS, Erased, Floats, taken
from .verdicts import Gains, margin, rivals, verdict

__all__ = ["Inquiry", "inquiries", "with_receipts"]

SEED = 0


def with_receipts(
    answers: Answers, explanations: Sequence[Explanation], policy: str = "delete"
) -> list[Explanation]:
    """Return the explanations with a receipt for each of their decisions.

    The receipt of a document does not depend on the others: each draws anew from the same seed.
    """
    found = []
    for inquiry, explanation in zip(inquiries(answers, policy), explanations, strict=True):
        decisions = tuple(
            # A counterfactual ranks nothing: what it says was measured when it was found.
            decision if decision.change else replace(decision, receipt=inquiry.receipt(decision))
            for decision in explanation.decisions
        )
        found.append(replace(explanation, decisions=decisions))
    return found


def inquiries(answers: Answers, policy: str = "delete", seed: int = SEED) -> list[Inquiry]:
    """Open an inquiry into each document; nothing is asked yet."""
    return [
        Inquiry(answers, Eraser(answers.model, ids, policy), policy=policy, seed=seed)
        for ids in documents(answers.batch)
    ]


class Inquiry:
    """What is asked about one document; what several explanations need is asked once.

    ``whole`` holds the probabilities of the document as it is, (1, classes).
    """

    def __init__(self, answers: Answers, eraser: Eraser, *, policy: str, seed: int) -> None:
        self._answers, self.eraser, self._policy, self._seed = answers, eraser, policy, seed
        self.whole = answers.likely(eraser.whole())  # (1, classes)
        self._pieces: dict[str, Pieces] = {}

    def receipt(self, decision: Decision) -> Receipt:
        """Measure the ranking of the words and of the sentences behind a decision."""
        number = self._answers.classes.index(decision.label)
        findings = [
            self._finding(self.pieces(level), np.array(weights.amounts), number)
            for level, weights in ranked_levels(decision).items()
        ]
        gains = [finding.gains for finding in findings]
        return Receipt(
            verdict=verdict(gains),
            measures=tuple(measure for finding in findings for measure in finding.measures),
            bins=BINS,
            curves=tuple(finding.curve for finding in findings),
            random_rankings=RANDOM_RANKINGS,
            margin=margin(gains),
            rivals=rivals(gains),
            erasure=self._policy,
        )

    def pieces(self, level: str) -> Pieces:
        """The words or the sentences of the document, and what was asked about them."""
        if level not in self._pieces:
            self._pieces[level] = Pieces(level, self._answers, self.eraser, self._seed)
        return self._pieces[level]

    def _finding(self, pieces: Pieces, amounts: Floats, number: int) -> _Finding:
        own, level = pieces.erased_by(amounts), pieces.level
        both = Erased(
            torch.cat([own.without, pieces.random.without]),  # (1 + rankings, bins, classes)
            torch.cat([own.alone, pieces.random.alone]),
        )
        start = float(self.whole[0, number])
        measures = [
            _measure("comprehensiveness", start - _mean_of_bins(both.without, number), level),
            _measure("sufficiency", start - _mean_of_bins(both.alone, number), level),
            _measure("flip", self._flips(both.without, number), level),
        ]
        agreement = pieces.agreement(amounts, number)
        if agreement is not None:
            measures.append(Measure("tau", *agreement, level=level))
        gains = both.gains(number)
        return _Finding(
            measures,
            _curve(pieces, both, number),
            Gains(float(gains[0]), gains[1:], pieces.best_gain(number)),
        )

    def _flips(self, without: Tensor, number: int) -> Floats:
        """The smallest bin without which the decision is another, 1 if none is, (rankings,)."""
        held = self._answers.decided(self.whole, number)
        same = self._answers.decided(without.flatten(0, 1), number) == held
        bins = torch.tensor(BINS, dtype=torch.float64)
        return torch.where(same.view(without.shape[:2]), 1.0, bins).min(1).values.numpy()


@dataclass(frozen=True, slots=True, eq=False)
class _Finding:
    """What was found about the pieces of one level."""

    measures: list[Measure]
    curve: Curve
    gains: Gains


def _mean_of_bins(likely: Tensor, number: int) -> Floats:
    return likely[..., number].mean(1).numpy()


def _measure(name: str, values: Floats, level: str) -> Measure:
    """The first value is the explanation's, the rest are those of random rankings."""
    return Measure(name, float(values[0]), float(values[1:].mean()), level)


def _curve(pieces: Pieces, both: Erased, number: int) -> Curve:
    def points(likely: Tensor) -> tuple[float, ...]:
        return tuple(likely[..., number].mean(0).tolist())

    return Curve(
        level=pieces.level,
        piece_count=pieces.count,
        taken=tuple(taken(pieces.count)),
        without=points(both.without[:1]),
        alone=points(both.alone[:1]),
        random_without=points(both.without[1:]),
        random_alone=points(both.alone[1:]),
    )
