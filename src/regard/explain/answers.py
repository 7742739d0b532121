"""What a model answered about a batch: all that a method of explanation starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from torch import Tensor

from ..config import require
from ..data.batch import Batch
from ..models.base import Model, Output
from ..records.explanation import ClassName, Decision, Explanation
from ..records.weights import Span, Weights, sum_by
from ..tasks.classify import probabilities
from ..text.document import Tokens
from ..text.vocab import UNKNOWN

__all__ = [
    "Answers",
    "explanations",
    "holding",
    "levels",
    "levels_of_batch",
    "likeliest",
    "unread_spans",
]

Chosen = tuple[tuple[int, ...], ...]
"""For each document the numbers of the classes to explain, at least one."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a model answered about a batch, and which of its answers to explain.

    ``complete`` holds each text's tokens before any cap; where it is given, what the caps
    cut off is shown as unread. The true labels are those of the batch. ``against`` is the class
    that the chosen ones are contrasted with, but for itself; None stands for the likeliest other.
    """

    model: Model
    batch: Batch
    output: Output
    probabilities: Tensor  # (documents, classes)
    classes: tuple[ClassName, ...]
    chosen: Chosen
    complete: tuple[Tokens, ...] = ()
    multilabel: bool = False
    temperature: float = 1.0
    against: int | None = None

    def __post_init__(self) -> None:
        require(
            not self.model.training,
            "a model that is training drops words at random; call model.eval() to explain it",
        )

    def likely(self, logits: Tensor) -> Tensor:
        """The probabilities that the model means by other logits of its, (documents, classes)."""
        return probabilities(logits.double(), self.multilabel, temperature=self.temperature)

    def decided(self, likely: Tensor, number: int) -> Tensor:
        """Whether class ``number`` is an answer where these are the probabilities, (documents,)."""
        return likely[:, number] > 0.5 if self.multilabel else likely.argmax(1) == number

    def answered(self, place: int) -> tuple[int, ...]:
        """The chosen classes that are answers about one document; of several labels maybe none."""
        likely = self.probabilities[place : place + 1]
        held = (bool(self.decided(likely, number)[0]) for number in self.chosen[place])
        return tuple(compress(self.chosen[place], held))

    def decision(self, place: int, number: int, weights: tuple[Weights, ...]) -> Decision:
        """What was decided about class ``number`` of the document at ``place``, and by what."""
        return Decision(self.classes[number], self.probabilities[place, number].item(), weights)

    def rival(self, place: int, number: int) -> int:
        """The class that ``number`` is contrasted with in the document at ``place``."""
        if self.against is not None and self.against != number:
            return self.against
        row = self.probabilities[place].tolist()
        return max((other for other in range(len(row)) if other != number), key=row.__getitem__)


def likeliest(probabilities: Tensor) -> Chosen:
    """Choose the likeliest class of each document."""
    return tuple((best,) for best in probabilities.argmax(-1).tolist())


def holding(probabilities: Tensor, threshold: float = 0.5) -> Chosen:
    """Choose every class above the threshold, likeliest first, or else the likeliest alone."""
    chosen: list[tuple[int, ...]] = []
    for row in probabilities.tolist():
        order = sorted(range(len(row)), key=lambda number: -row[number])
        above = tuple(number for number in order if row[number] > threshold)
        chosen.append(above or (order[0],))
    return tuple(chosen)


def explanations(
    answers: Answers,
    method: str,
    decisions: Sequence[Sequence[Decision]],
    *,
    erasure: str | None = None,
) -> list[Explanation]:
    """Put each document's decisions, one a chosen class, into the frame that all methods share."""
    likely = answers.probabilities.tolist()
    unknown = _unknown_spans(answers.batch)
    found: list[Explanation] = []
    for place, text in enumerate(answers.batch.texts):
        found.append(
            Explanation(
                source=text.text,
                method=method,
                decisions=tuple(decisions[place]),
                probabilities=tuple(zip(answers.classes, likely[place], strict=True)),
                unknown=unknown[place],
                unread=unread_spans(text, answers.complete[place]) if answers.complete else (),
                true_labels=_true_labels(answers, place),
                erasure=erasure,
                several=answers.multilabel,
                spelt=text.spelt,
            )
        )
    return found


def unread_spans(read: Tokens, complete: Tokens) -> tuple[Span, ...]:
    """Where the complete text has tokens that were not read, each run of them as one span."""
    if len(read) == len(complete):
        return ()
    missing = ~np.isin(complete.spans[:, 0], read.spans[:, 0])
    edges = np.flatnonzero(np.diff(missing.astype(np.int8), prepend=0, append=0))
    starts, ends = complete.spans[edges[::2], 0], complete.spans[edges[1::2] - 1, 1]
    return tuple(zip(starts.tolist(), ends.tolist(), strict=True))


def _unknown_spans(batch: Batch) -> list[tuple[Span, ...]]:
    """The words of each text that have a token which is not in the vocabulary."""
    unknown = (batch.ids.values == UNKNOWN).double().cpu().numpy()
    found: list[tuple[Span, ...]] = []
    first = 0
    for text in batch.texts:
        lost = text.sum_by_word(unknown[first : first + len(text)]) > 0
        found.append(tuple(compress(text.word_spans(), lost.tolist())))
        first += len(text)
    return found


def _true_labels(answers: Answers, place: int) -> tuple[ClassName, ...] | None:
    if answers.batch.labels is None:
        return None
    label = answers.batch.labels[place]
    if label.ndim == 0:
        return (answers.classes[int(label)],)
    return tuple(
        name for name, holds in zip(answers.classes, label.tolist(), strict=True) if holds > 0.5
    )


def levels(
    text: Tokens,
    words: Sequence[float],
    sentences: Sequence[float] | None = None,
    *,
    unit: str,
    measured: tuple[int | None, int | None] = (None, None),
) -> tuple[Weights, ...]:
    """Weigh a text's words and sentences by scores; that of a sentence is by default the sum.

    ``measured`` says how many scores of either are no estimates, where some are.
    """
    spans = text.sentence_spans()
    by_word = Weights.from_scores("word", text.word_spans(), words, unit=unit, measured=measured[0])
    if sentences is None:
        return by_word, sum_by(by_word, spans)
    by_sentence = Weights.from_scores("sentence", spans, sentences, unit=unit, measured=measured[1])
    return by_word, by_sentence


def levels_of_batch(
    batch: Batch, words: Tensor, sentences: Tensor | None = None, *, unit: str
) -> list[tuple[Weights, ...]]:
    """Weigh every document of a batch by the scores of all its tokens, (tokens,), and sentences.

    A word of several tokens has the sum of their scores.
    """
    by_token = words.detach().double().cpu().split(batch.by_document.host_lengths)
    by_word = [
        text.sum_by_word(row.numpy()).tolist()
        for text, row in zip(batch.texts, by_token, strict=True)
    ]
    by_sentence: list[list[float]] | list[None] = [None] * len(batch)
    if sentences is not None:
        rows = sentences.detach().double().cpu().split(batch.sentences.tolist())
        by_sentence = [row.tolist() for row in rows]
    return [
        levels(*parts, unit=unit) for parts in zip(batch.texts, by_word, by_sentence, strict=True)
    ]
