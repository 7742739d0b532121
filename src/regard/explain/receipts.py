"""How faithful explanations are: the model is asked again, without what they point at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ..records.explanation import (
    NOT_MEASURED,
    TOO_SHORT,
    Decision,
    ErasureCurve,
    Explanation,
    Judgement,
    Receipt,
    ReceiptMeasure,
)
from ..records.weights import Weights
from .answers import Answers
from .erasing import Eraser, Places, Versions, answer, erasers
from .gradients import log_odds_of
from .rankings import (
    BINS,
    Erased,
    Floats,
    Ranks,
    distinct_rows,
    random_sets,
    ranks_of,
    taken,
    tops,
)
from .verdicts import SetTest, together

__all__ = [
    "RANDOM_DRAWS",
    "Inquiry",
    "Pieces",
    "comprehensiveness",
    "measure",
    "open_inquiries",
    "ranked_levels",
    "with_receipts",
]

SEED = 0
RANDOM_DRAWS = range(6, 25)
"""How many random sets as large as each bin are taken away, and how many others are all that stays.

A short text has the most draws: there they cost little, and each of them tells less.
"""
DRAWN_WORDS = 1500  # draws times words of a document, as far as the range above allows
WORDS_LEFT_OUT = 500
"""Of a longer document that many words, drawn at random, are left out one by one."""


def with_receipts(
    answers: Answers, explanations: Sequence[Explanation], policy: str = "delete"
) -> list[Explanation]:
    """Return the explanations with a receipt for each of their decisions.

    The receipt of a document does not depend on the others: each draws anew from the same seed.
    """
    return measure(open_inquiries(answers, policy), explanations)


def measure(inquiries: Sequence[Inquiry], explanations: Sequence[Explanation]) -> list[Explanation]:
    """Add receipts to one explanation a document; what inquiries know is not asked again."""
    rankings = [
        # A counterfactual ranks nothing: what it says was measured when it was found.
        [
            None if decision.change else inquiry.rankings(decision)
            for decision in explanation.decisions
        ]
        for inquiry, explanation in zip(inquiries, explanations, strict=True)
    ]
    _ask_together([level for rows in rankings for levels in rows for level in levels or ()])
    measured = []
    for inquiry, explanation, rows in zip(inquiries, explanations, rankings, strict=True):
        decisions = tuple(
            decision
            if levels is None
            else replace(decision, receipt=inquiry.receipt(decision, levels))
            for decision, levels in zip(explanation.decisions, rows, strict=True)
        )
        measured.append(replace(explanation, decisions=decisions))
    return measured


def open_inquiries(answers: Answers, policy: str = "delete", seed: int = SEED) -> list[Inquiry]:
    """Open an inquiry into each document; no version is asked about yet."""
    return [
        Inquiry(answers, eraser, place=place, policy=policy, seed=seed)
        for place, eraser in enumerate(erasers(answers.model, answers.batch, policy))
    ]


def draws(word_count: int) -> int:
    """How many sets of each size are drawn for a document of so many words."""
    return min(max(DRAWN_WORDS // max(word_count, 1), RANDOM_DRAWS[0]), RANDOM_DRAWS[-1])


class Inquiry:
    """What is asked about one document; what several explanations need is asked once.

    ``whole`` holds the probabilities of the document as it is, (1, classes).
    """

    def __init__(
        self, answers: Answers, eraser: Eraser, *, place: int, policy: str, seed: int
    ) -> None:
        self._answers, self.eraser, self._policy, self._seed = answers, eraser, policy, seed
        self.whole = answers.probabilities[place : place + 1]
        self._pieces: dict[str, Pieces] = {}

    def receipt(self, decision: Decision, rankings: Sequence[tuple[Pieces, Floats]]) -> Receipt:
        """Measure the scores of the words and of the sentences behind a decision for a label.

        Those of a contrast are tested by the odds between its two labels.
        """
        asked = _Asked.of(decision, self._answers)
        findings = [self._finding(pieces, amounts, asked) for pieces, amounts in rankings]
        judgements = tuple(finding.judgement for finding in findings)
        return Receipt(
            verdict=together(judgements),
            measures=tuple(measure for finding in findings for measure in finding.measures),
            bins=BINS,
            curves=tuple(finding.curve for finding in findings),
            random_rankings=draws(self.eraser.word_count),
            margin=_margin([finding.gains for finding in findings]),
            erasure=self._policy,
            judgements=judgements or (Judgement("word", NOT_MEASURED),),
        )

    def rankings(self, decision: Decision) -> list[tuple[Pieces, Floats]]:
        """The pieces of each level, and the amounts that rank them."""
        return [
            (self.pieces(level), np.array(weights.amounts))
            for level, weights in ranked_levels(decision).items()
        ]

    def pieces(self, level: str) -> Pieces:
        """The words or the sentences of the document, and what was asked about them."""
        if level not in self._pieces:
            self._pieces[level] = Pieces(level, self._answers, self.eraser, self._seed)
        return self._pieces[level]

    def _finding(self, pieces: Pieces, amounts: Floats, asked: _Asked) -> _Finding:
        logits, level, number = pieces.erased_by(amounts), pieces.level, asked.number
        likely = logits.through(self._answers.likely)
        start = float(self.whole[0, number])
        gains = likely.gains(number)
        measures = [
            _measure("comprehensiveness", start - _mean_of_bins(likely.without, number), level),
            _measure("sufficiency", start - _mean_of_bins(likely.alone, number), level),
            _measure("flip", self._flips(likely.without, number), level),
        ]
        judgement = Judgement(level, TOO_SHORT)
        if pieces.count > 1:
            tested = gains
            if asked.rival is not None:
                tested = logits.through(partial(_likely_of_two, self._answers, asked)).gains(0)
            lead = float(tested[0] - tested[1:].mean())
            judgement = pieces.test(asked).judge(level, amounts, lead)
            measures.append(ReceiptMeasure("agreement", judgement.agreement or 0.0, 0.0, level))
        return _Finding(measures, _curve(pieces, likely, number), gains, judgement)

    def _flips(self, without: Tensor, number: int) -> Floats:
        """The smallest bin without which the decision is another, 1 if none is, (rankings,)."""
        before = self._answers.decided(self.whole, number)
        unchanged = self._answers.decided(without.flatten(0, 1), number) == before
        bins = torch.tensor(BINS, dtype=torch.float64)
        return torch.where(unchanged.view(without.shape[:2]), 1.0, bins).min(1).values.numpy()


class Pieces:
    """The words or the sentences of one document, erased at random: what all explanations share."""

    def __init__(self, level: str, answers: Answers, eraser: Eraser, seed: int) -> None:
        self.level = level
        self.count = eraser.word_count if level == "word" else eraser.sentence_count
        self._seed, self._answers, self._eraser = seed, answers, eraser
        draw = np.random.default_rng([seed, level == "word"])
        count = draws(eraser.word_count)
        self._without = random_sets(self.count, count, draw)  # (draws, bins, pieces)
        self._alone = random_sets(self.count, count, draw)
        self._places_drawn = draw.permutation(self.count)
        self._random: Erased | None = None  # logits
        self._named = False  # whether someone already asks about the random sets
        self._own: dict[bytes, Erased] = {}  # logits, by the ranks
        self._tests: dict[_Asked, SetTest] = {}
        self._left_out: tuple[Places, Tensor] | None = None

    def erased_by(self, amounts: Floats) -> Erased:
        """Take pieces away by their amounts, the largest first, and at random.

        Returns logits; the first row is that of the amounts.
        """
        ranks = self._ranks(amounts).tobytes()
        if ranks not in self._own:
            _ask_together([(self, amounts)])
        own, others = self._own[ranks], self._random
        assert others is not None, "random sets are asked about with the first others"
        return Erased(
            torch.cat([own.without, others.without]), torch.cat([own.alone, others.alone])
        )

    def name(self, amounts: Floats) -> tuple[Versions, Places]:
        """Name the versions to ask about for these amounts; the first time the random ones too.

        Beside them stands which of them each set is: of few pieces many sets are the same.
        """
        top = tops(self._ranks(amounts))
        without, alone = top, top
        if not self._named:
            without, alone = (np.concatenate([top, s]) for s in (self._without, self._alone))
        self._named = True
        distinct, places = distinct_rows(np.concatenate([~without, alone]).reshape(-1, self.count))
        return self._eraser.keep(self.level, distinct), places

    def learn(self, amounts: Floats, logits: Tensor, places: Places) -> None:
        """Note what was answered about the versions that ``name`` gave for these amounts."""
        both = logits[torch.from_numpy(places)].view(2, -1, len(BINS), logits.shape[1])
        self._own[self._ranks(amounts).tobytes()] = Erased(both[0, :1], both[1, :1])
        if both.shape[1] > 1:
            self._random = Erased(both[0, 1:], both[1, 1:])

    def _ranks(self, amounts: Floats) -> Ranks:
        return ranks_of(amounts, np.random.default_rng([self._seed, self.count]))

    def test(self, asked: _Asked) -> SetTest:
        """What a class lost without each random set, after ``erased_by`` has asked for them."""
        if asked not in self._tests:
            assert self._random is not None, "random sets are asked about with the first others"
            logits = torch.cat([self._random.without, self._random.alone]).flatten(0, 1)
            left = _odds(self._answers, asked, logits).numpy()
            gone = np.concatenate([self._without, ~self._alone]).reshape(-1, self.count)
            self._tests[asked] = SetTest(gone, -left, self._seed)
        return self._tests[asked]

    @property
    def places(self) -> Places:
        """The pieces that are left out one by one: all, or some drawn at random."""
        return self._one_by_one()[0]

    @property
    def drops(self) -> Tensor:
        """The probabilities lost without each piece at ``places``, (places, classes)."""
        return self._one_by_one()[1]

    def _one_by_one(self) -> tuple[Places, Tensor]:
        if self._left_out is None:
            places, eraser = np.arange(self.count), self._eraser
            if self.count > WORDS_LEFT_OUT:
                places = np.sort(self._places_drawn[:WORDS_LEFT_OUT])
            words = self.level == "word"
            ask = eraser.without_each_word if words else eraser.without_each_sentence
            likely = self._answers.likely
            self._left_out = places, likely(eraser.whole()) - likely(ask(places))
        return self._left_out


def _ask_together(rankings: Sequence[tuple[Pieces, Floats]]) -> None:
    """Ask about what several rankings need, of many documents, in as few batches as it takes."""
    named = [pieces.name(amounts) for pieces, amounts in rankings]
    logits = answer([versions for versions, _ in named])
    for (pieces, amounts), (_, places), rows in zip(rankings, named, logits, strict=True):
        pieces.learn(amounts, rows, places)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The class that a decision is about, and for a contrast the one that it is held against."""

    number: int
    rival: int | None

    @classmethod
    def of(cls, decision: Decision, answers: Answers) -> _Asked:
        against = decision.against
        rival = None if against is None else answers.classes.index(against)
        return cls(answers.classes.index(decision.label), rival)


def _odds(answers: Answers, asked: _Asked, logits: Tensor) -> Tensor:
    """The log-odds of a class, or those between the two of a contrast, (versions,)."""
    if asked.rival is None:
        return log_odds_of(logits, (asked.number,), answers)[:, 0]
    return (logits[:, asked.number] - logits[:, asked.rival]) / answers.temperature


def _likely_of_two(answers: Answers, asked: _Asked, logits: Tensor) -> Tensor:
    """How likely the class of a contrast is, were it that or its rival, (versions, 1)."""
    return torch.sigmoid(_odds(answers, asked, logits))[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class _Finding:
    """What was found about the pieces of one level."""

    measures: list[ReceiptMeasure]
    curve: ErasureCurve
    gains: Floats  # of the explanation, then of the random rankings
    judgement: Judgement


def _margin(gains: Sequence[Floats]) -> float:
    """By how many standard deviations the random gains are exceeded; 0 for a tie."""
    if not gains:
        return 0.0
    mean = np.mean(gains, axis=0)
    spread = float(mean[1:].std(ddof=1))
    # Differences below the rounding of a model's single precision are none.
    return float(mean[0] - mean[1:].mean()) / spread if spread > 1e-7 else 0.0


def _mean_of_bins(likely: Tensor, number: int) -> Floats:
    return likely[..., number].mean(1).numpy()


def _measure(name: str, values: Floats, level: str) -> ReceiptMeasure:
    """The first value is the explanation's, the rest are those of random rankings."""
    return ReceiptMeasure(name, float(values[0]), float(values[1:].mean()), level)


def _curve(pieces: Pieces, likely: Erased, number: int) -> ErasureCurve:
    def points(side: Tensor) -> tuple[float, ...]:
        return tuple(side[..., number].mean(0).tolist())

    return ErasureCurve(
        level=pieces.level,
        piece_count=pieces.count,
        taken=tuple(taken(pieces.count)),
        without=points(likely.without[:1]),
        alone=points(likely.alone[:1]),
        random_without=points(likely.without[1:]),
        random_alone=points(likely.alone[1:]),
    )


def ranked_levels(decision: Decision) -> dict[str, Weights]:
    """The weights that rank the words of the document, and those that rank its sentences."""
    levels = {
        "word": decision.importance() or decision.level("word"),
        "sentence": decision.level("sentence"),
    }
    return {name: weights for name, weights in levels.items() if weights}


def comprehensiveness(
    answers: Answers, explanations: Sequence[Explanation], policy: str = "delete"
) -> Floats:
    """Return the probability that each document's first decision loses, (documents,).

    The mean over the bins, and over words and sentences; the same numbers as in a receipt, without
    the random rankings beside them.
    """
    asked, owners = [], []
    for place, (explanation, eraser) in enumerate(
        zip(explanations, erasers(answers.model, answers.batch, policy), strict=True)
    ):
        for level, weights in ranked_levels(explanation.decisions[0]).items():
            amounts = np.array(weights.amounts)
            top = tops(ranks_of(amounts, np.random.default_rng([SEED, len(amounts)])))[0]
            asked.append(eraser.keep(level, ~top))
            owners.append(place)
    lost: list[list[float]] = [[] for _ in explanations]
    for place, logits in zip(owners, answer(asked), strict=True):
        decision = explanations[place].decisions[0]
        number = answers.classes.index(decision.label)
        start = float(answers.probabilities[place, number])
        lost[place].append(start - float(answers.likely(logits)[:, number].mean()))
    return np.array([sum(losses) / max(len(losses), 1) for losses in lost])
