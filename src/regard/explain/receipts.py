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
from .erasing import Eraser, Mask, documents
from .rankings import BINS, Floats, erased, kendall, random_ranks, ranks_of, taken
from .verdicts import margin, verdict

__all__ = ["RANDOM_RANKINGS", "with_receipts"]

RANDOM_RANKINGS = 20
"""How many the baseline is the mean of."""
TAU_WORDS = 500
"""Of a longer document so many words, drawn at random, are left out one by one for tau."""
SEED = 0


def with_receipts(
    answers: Answers,
    explanations: Sequence[Explanation],
    *,
    policy: str = "delete",
    seed: int = SEED,
) -> list[Explanation]:
    """Return the explanations with a receipt for each of their decisions.

    The receipt of a document does not depend on the others: each has its own draws from the seed.
    """
    found = []
    for explanation, ids in zip(explanations, documents(answers.batch), strict=True):
        inquiry = _Inquiry(answers, Eraser(answers.model, ids, policy), policy=policy, seed=seed)
        decisions = tuple(
            replace(decision, receipt=inquiry.receipt(decision))
            for decision in explanation.decisions
        )
        erasure = explanation.erasure or policy
        found.append(replace(explanation, decisions=decisions, erasure=erasure))
    return found


class _Inquiry:
    """What is asked about one document; what several decisions need is asked once."""

    def __init__(self, answers: Answers, eraser: Eraser, *, policy: str, seed: int) -> None:
        self._answers, self._eraser, self._policy, self._seed = answers, eraser, policy, seed
        self._whole = answers.likely(eraser.whole())  # (1, classes)
        self._levels: dict[str, _Level] = {}

    def receipt(self, decision: Decision) -> Receipt:
        """Measure the ranking of the words and of the sentences behind a decision."""
        number = self._answers.classes.index(decision.label)
        findings = [
            self._finding(name, np.array(weights.amounts), number)
            for name, weights in ranked_levels(decision).items()
        ]
        gains = np.mean([finding.gains for finding in findings] or [np.zeros(2)], axis=0)
        return Receipt(
            verdict=verdict(gains[0], gains[1:]),
            measures=tuple(measure for finding in findings for measure in finding.measures),
            bins=BINS,
            curves=tuple(finding.curve for finding in findings),
            random_rankings=RANDOM_RANKINGS,
            margin=margin(gains[0], gains[1:]),
            erasure=self._policy,
        )

    def _finding(self, name: str, amounts: Floats, number: int) -> _Finding:
        level = self._level(name)
        draw = np.random.default_rng([self._seed, len(amounts)])
        own = erased(ranks_of(amounts, draw), level.likely)
        without = torch.cat([own.without, level.random.without])  # (1 + rankings, bins, classes)
        alone = torch.cat([own.alone, level.random.alone])
        start = self._whole[0, number]
        lost = (start - without[..., number]).mean(1).numpy()
        missing = (start - alone[..., number]).mean(1).numpy()
        measures = [
            _measure("comprehensiveness", lost, name),
            _measure("sufficiency", missing, name),
            _measure("flip", self._flips(without, number), name),
        ]
        drops = (self._whole - level.left_out)[:, number].numpy()
        agreement = level.agreement(amounts, drops)
        if agreement is not None:
            measures.append(Measure("tau", *agreement, level=name))
        curve = Curve(
            level=name,
            piece_count=len(amounts),
            taken=tuple(taken(len(amounts))),
            without=tuple(without[0, :, number].tolist()),
            alone=tuple(alone[0, :, number].tolist()),
            random_without=tuple(without[1:, :, number].mean(0).tolist()),
            random_alone=tuple(alone[1:, :, number].mean(0).tolist()),
        )
        return _Finding(measures, curve, lost - missing)

    def _level(self, name: str) -> _Level:
        if name not in self._levels:
            self._levels[name] = _Level(name, self._answers, self._eraser, self._seed)
        return self._levels[name]

    def _flips(self, without: Tensor, number: int) -> Floats:
        """The smallest bin without which the decision is another, 1 if none is, (rankings,)."""
        held = self._answers.decided(self._whole, number)
        same = self._answers.decided(without.flatten(0, 1), number) == held
        shares = torch.where(same.view(without.shape[:2]), 1.0, torch.tensor(BINS))
        return shares.min(1).values.numpy()


class _Level:
    """The words or the sentences of a document, and what becomes of it without some of them."""

    def __init__(self, name: str, answers: Answers, eraser: Eraser, seed: int) -> None:
        words = name == "word"
        count = eraser.word_count if words else eraser.sentence_count
        draw = np.random.default_rng([seed, words])
        self._answers = answers
        self._ask = eraser.asking(name)
        self._ranks = random_ranks(count, RANDOM_RANKINGS, draw)
        self.random = erased(self._ranks, self.likely)
        self._places = np.arange(count)
        if words and count > TAU_WORDS:
            self._places = np.sort(draw.choice(count, TAU_WORDS, replace=False))
        self.left_out = answers.likely(  # (places, classes)
            eraser.without_each_word(self._places) if words else eraser.without_each_sentence()
        )

    def likely(self, kept: Mask) -> Tensor:
        """The probabilities of versions that keep some pieces, (versions, classes)."""
        return self._answers.likely(self._ask(kept))

    def agreement(self, amounts: Floats, drops: Floats) -> tuple[float, float] | None:
        """Kendall's tau between the amounts and the leave-one-out drops, beside random rankings."""
        own = kendall(amounts[self._places], drops)
        others = [kendall(-row[self._places].astype(float), drops) for row in self._ranks]
        if own is None:
            return None
        return own, float(np.mean([other or 0.0 for other in others]))


@dataclass(frozen=True, slots=True, eq=False)
class _Finding:
    """What was found at one level; gains are of the explanation, then of each random ranking."""

    measures: list[Measure]
    curve: Curve
    gains: Floats


def _measure(name: str, values: Floats, level: str) -> Measure:
    """The first value is the explanation's, the rest are those of random rankings."""
    return Measure(name, float(values[0]), float(values[1:].mean()), level)
