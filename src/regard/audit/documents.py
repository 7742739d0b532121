"""Every measure of trust that one batch of documents can give, document by document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..explain.answers import Answers
from ..explain.comprehensiveness import ranked_levels
from ..explain.methods import METHODS
from ..explain.receipts import inquiries
from ..models.base import Model
from ..records.explanation import Decision, Explanation
from ..records.measures import MEASURES
from ..records.weights import Span
from .adversarial import adversarial
from .agreement import agreement, gradient_sizes, movements
from .aopc import FerretErasure, from_receipt
from .flips import Flips, SingleFlip
from .permutation import permuted
from .plausibility import plausibility
from .randomisation import likeness, put_to
from .reweighing import last_attention
from .tally import Measured

__all__ = ["BatchAudit"]


class BatchAudit:
    """Asks about a batch once for all methods; nothing here depends on the other documents.

    ``shuffled`` is a copy of the model that has forgotten what it learned.
    """

    def __init__(
        self, answers: Answers, methods: Sequence[str], *, shuffled: Model, seed: int
    ) -> None:
        self.answers, self._seed = answers, seed
        self._numbers = [chosen[0] for chosen in answers.chosen]
        self.explained = {name: METHODS[name].explain(answers) for name in methods}
        foreign = put_to(answers, shuffled)
        self._foreign = {name: METHODS[name].explain(foreign) for name in methods}
        self._inquiries = inquiries(answers, seed=seed)
        self._slopes = gradient_sizes(answers)
        self._attention = last_attention(answers)

    def of_method(self, name: str, place: int) -> dict[str, Measured]:
        """Return what one document says of one method's faithfulness."""
        decision = self.explained[name][place].decisions[0]
        words = ranked_levels(decision).get("word")
        if words is None:
            return {}
        amounts = np.array(words.amounts)
        foreign = ranked_levels(self._foreign[name][place].decisions[0])["word"]
        return {
            **self._erased(decision, place),
            **self._agreements(amounts, place),
            **self._flip_fraction(decision, place),
            **likeness(amounts, np.array(foreign.amounts), self._seed),
            **_taken(self.explained[name][place]),
        }

    def of_evidence(
        self, name: str, place: int, *, evidence: Sequence[Span], share: float
    ) -> dict[str, Measured]:
        """Return what one document says of one method's plausibility."""
        explanation: Explanation = self.explained[name][place]
        return plausibility(explanation, evidence, share=share, seed=self._seed)

    def of_model(self, place: int) -> dict[str, Measured]:
        """Return what one document says of the attention itself."""
        if self._attention is None:
            return {}
        attention = self._attention[place]
        return {**adversarial(attention, self._seed), **permuted(attention, self._seed)}

    def single_flip(self, place: int) -> SingleFlip | None:
        """See whether the answer flips without the unit of the largest weight."""
        flips = self._flips(place)
        return None if flips is None else flips.single()

    @property
    def unit(self) -> str:
        """What the last attention is over."""
        over = self._attention[0].unit if self._attention else ""
        return "word" if over == "token" else over

    def _erased(self, decision: Decision, place: int) -> dict[str, Measured]:
        inquiry, number = self._inquiries[place], self._numbers[place]
        ask = inquiry.eraser.asking("word")
        nothing = np.zeros((1, inquiry.eraser.word_count), dtype=bool)
        lost = inquiry.whole - self.answers.likely(ask(nothing))
        ferret = FerretErasure(
            lambda kept: self.answers.likely(ask(kept)), inquiry.whole, self._seed
        )
        amounts = np.array(ranked_levels(decision)["word"].amounts)
        return {
            **from_receipt(inquiry.receipt(decision), float(lost[0, number])),
            **ferret.measure(amounts, number),
        }

    def _agreements(self, amounts: np.ndarray, place: int) -> dict[str, Measured]:
        words, number = self._inquiries[place].pieces("word"), self._numbers[place]
        moved = movements(words.drops, multilabel=self.answers.multilabel, number=number)
        both = {
            "tau_loo": agreement(amounts[words.places], moved, self._seed),
            "tau_gradient": agreement(amounts, self._slopes[place], self._seed),
        }
        return {name: measured for name, measured in both.items() if measured is not None}

    def _flip_fraction(self, decision: Decision, place: int) -> dict[str, Measured]:
        flips = self._flips(place)
        weights = ranked_levels(decision).get(self.unit)
        if flips is None or weights is None:
            return {}
        return flips.fraction(np.array(weights.amounts))

    def _flips(self, place: int) -> Flips | None:
        if self._attention is None:
            return None
        return Flips(
            self.answers, self._attention[place], number=self._numbers[place], seed=self._seed
        )


def _taken(explanation: Explanation) -> dict[str, Measured]:
    """What the measures give that need nothing but the explanation."""
    takes = {name: measure.take for name, measure in MEASURES.items() if measure.take is not None}
    found = {name: take(explanation) for name, take in takes.items()}
    return {name: Measured(*pair) for name, pair in found.items() if pair is not None}
