"""What the network and the n-grams beside it each put into an answer: parts that add up to it.

The n-grams add to the logits word by word, so their part is exact, and so is what is left for the
network as a whole. Between two labels, and for each of several labels, log-odds are a line along
the logits; with more labels the answer is weighed against its likeliest rival, which is one too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from ..nn.rows import row_sum
from ..records.explanation import Decision, Explanation, Shares
from ..records.weights import Weights
from .answers import Answers
from .gradients import UNIT
from .rankings import Floats

__all__ = ["with_shares"]

ADDING = ("gradient_input", "attention_gradient", "integrated_gradients")
"""The methods whose scores of words are the network's part plus that of the n-grams."""


def with_shares(answers: Answers, explained: Sequence[Explanation]) -> list[Explanation]:
    """Add to each decision what network and n-grams put into it; nothing without n-grams."""
    by_word = answers.model.word_shares(answers.batch)
    if by_word is None:
        return list(explained)
    with torch.no_grad():
        logits = answers.output.logits
        beside = answers.model.completed(torch.zeros_like(logits), answers.batch)
    documents = answers.batch.by_document
    of_words = row_sum(documents.with_values(by_word.double()))
    ends = np.cumsum(documents.host_lengths)
    parts = _Parts(
        logits=logits.double().cpu().numpy(),
        beside=beside.double().cpu().numpy(),
        of_words=of_words.cpu().numpy(),
        words=np.split(by_word.double().cpu().numpy(), ends[:-1]),
    )
    return [
        replace(
            explanation,
            decisions=tuple(
                replace(
                    decision, shares=_shares(answers, parts, place, decision, explanation.method)
                )
                for decision in explanation.decisions
            ),
        )
        for place, explanation in enumerate(explained)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """What the logits of a batch are made of, (documents, classes) each."""

    logits: Floats
    beside: Floats  # all that the n-grams say
    of_words: Floats  # the part of it that the words of the text put there
    words: Sequence[Floats]  # of each document that part word by word, (words, classes)


def _shares(answers: Answers, parts: _Parts, place: int, decision: Decision, method: str) -> Shares:
    number = answers.classes.index(decision.label)
    rival = None if answers.multilabel else answers.rival(place, number)

    def odds(logits: Floats) -> Floats:
        """The log-odds that logits, (..., classes), stand for."""
        found = logits[..., number] if rival is None else logits[..., number] - logits[..., rival]
        return found / answers.temperature

    total, beside = float(odds(parts.logits[place])), float(odds(parts.beside[place]))
    text = answers.batch.texts[place]
    scores = text.sum_by_word(odds(parts.words[place])).tolist()
    return Shares(
        against=None if rival is None else answers.classes[rival],
        total=total,
        network=total - beside,
        start=beside - float(odds(parts.of_words[place])),
        ngrams=Weights.from_scores("n-grams", text.word_spans(), scores, unit=UNIT),
        network_words=_network_words(answers, decision, scores) if method in ADDING else None,
    )


def _network_words(answers: Answers, decision: Decision, ngrams: Sequence[float]) -> Weights | None:
    """What the method says of the network alone, where it counts in the same log-odds."""
    words = decision.level("word")
    alike = answers.multilabel or len(answers.classes) == 2
    if words is None or words.scores is None or not alike:
        return None
    left = [score - share for score, share in zip(words.scores, ngrams, strict=True)]
    return Weights.from_scores("network", words.pieces, left, unit=UNIT)
