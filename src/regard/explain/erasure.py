"""Explain by erasure: how far the answer falls without each piece, alone or against a rival.

To leave out each of n words takes n readings of what the word stands in, which grows as the square
of the text. So every piece is measured while that is cheap. Of a longer text every piece is first
estimated, those that seem to move the answer most are then measured, and the weights say how many
were. An estimate is of the first order: how the answer slopes along a sentence's vector, times how
far the vector moves when it is read again without the word. Where a sentence cannot be read again
alone, or is too long for it, it is the slope along the word's own vector, on the way to the unknown
word's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ..config import require
from ..data.batch import Batch
from ..ragged import Ragged
from ..records.explanation import Explanation
from ..records.weights import Weights
from ..text.vocab import UNKNOWN
from .answers import Answers, explanations, levels
from .erasing import Eraser, Places, answer, erasers
from .gradients import differentiating, log_odds_of

__all__ = [
    "POLICY",
    "LeftOut",
    "Value",
    "contrast",
    "erase",
    "weigh_by_loss",
    "without_each",
    "without_each_sentence",
    "without_each_word",
]

POLICY = "delete"


def erase(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the probability lost without each piece."""
    values = [partial(log_odds_of, numbers=numbers, answers=answers) for numbers in answers.chosen]
    found = []
    for place, weights in enumerate(
        weigh_by_loss(answers, values, scale=torch.sigmoid, unit="probability")
    ):
        numbers = answers.chosen[place]
        decisions = [answers.decision(place, *one) for one in zip(numbers, weights, strict=True)]
        found.append(decisions)
    return explanations(answers, "erasure", found, erasure=POLICY)


def weigh_by_loss(
    answers: Answers,
    values: Sequence[Value],
    *,
    scale: Callable[[Tensor], Tensor],
    unit: str,
) -> list[list[tuple[Weights, ...]]]:
    """Weigh words and sentences by what the values of each document lose, on their scale.

    One list of weights for each value of the logits of a document.
    """
    made = erasers(answers.model, answers.batch, POLICY)
    found = []
    for place, (words, sentences) in enumerate(without_each(made, values)):
        whole = scale(values[place](answers.output.logits[place : place + 1].double().cpu()))
        lost = [(whole - scale(one.values)).T.tolist() for one in (words, sentences)]
        measured = words.measured, sentences.measured
        text = answers.batch.texts[place]
        found.append(
            [
                levels(text, *column, unit=unit, measured=measured)
                for column in zip(*lost, strict=True)
            ]
        )
    return found


def contrast(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the log-odds lost to the rival without each piece."""
    require(len(answers.classes) > 1, "a contrast needs a second class; this model has one")
    rivals = [
        [answers.rival(place, number) for number in numbers]
        for place, numbers in enumerate(answers.chosen)
    ]

    def between(ours: Sequence[int], theirs: Sequence[int]) -> Value:
        return lambda logits: (logits[:, ours] - logits[:, theirs]) / answers.temperature

    values = [between(*pair) for pair in zip(map(list, answers.chosen), rivals, strict=True)]
    found = []
    for place, weights in enumerate(
        weigh_by_loss(answers, values, scale=lambda odds: odds, unit="log-odds")
    ):
        found.append(
            [
                replace(answers.decision(place, number, of_one), against=answers.classes[other])
                for number, other, of_one in zip(
                    answers.chosen[place], rivals[place], weights, strict=True
                )
            ]
        )
    return explanations(answers, "contrast", found, erasure=POLICY)


Value = Callable[[Tensor], Tensor]
"""What is asked about the logits, (versions, classes): some numbers of each, (versions, values)."""

ITEMS = 1 << 18  # words and sentences that may be read to measure single pieces, at least ...
ITEMS_PER_WORD = 64  # ... and for each word of the document


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """The value of a document without each of its pieces, in their order."""

    values: Tensor  # (pieces, values), in double precision
    places: Places  # of the pieces that were measured; the others were estimated

    @property
    def measured(self) -> int | None:
        """How many pieces were measured; None where all were."""
        return None if len(self.places) == len(self.values) else len(self.places)


def without_each(
    erasers: Sequence[Eraser], values: Sequence[Value]
) -> list[tuple[LeftOut, LeftOut]]:
    """Leave out each word and each sentence of several documents, of short ones all in one go."""
    every = [(np.arange(one.word_count), np.arange(one.sentence_count)) for one in erasers]
    short = [
        max(_reading(one).sum(), _reading_sentences(one).sum()) <= _allowed(one) for one in erasers
    ]
    asked = [
        versions
        for one, (words, sentences), exact in zip(erasers, every, short, strict=True)
        if exact
        for versions in (one.leave_out_words(words), one.leave_out_sentences(sentences))
    ]
    logits = iter(answer(asked))
    found = []
    for one, value, places, exact in zip(erasers, values, every, short, strict=True):
        if exact:
            found.append(
                (LeftOut(value(next(logits)), places[0]), LeftOut(value(next(logits)), places[1]))
            )
        else:
            found.append((without_each_word(one, value), without_each_sentence(one, value)))
    return found


def without_each_word(eraser: Eraser, value: Value) -> LeftOut:
    """Leave out each word of a document."""
    work, left = _reading(eraser), _allowed(eraser)
    if work.sum() <= left:
        return LeftOut(value(eraser.without_each_word()), np.arange(eraser.word_count))
    if eraser.keeper is None:
        guessed = value(eraser.whole()) + _along_words(eraser, value)
    else:
        alone = eraser.lengths[eraser.homes]
        order = np.argsort(alone, kind="stable")
        read = np.sort(order[np.cumsum(alone[order]) <= left // 2])
        left -= int(alone[read].sum())
        guessed = _along_sentences(eraser, value, read)
    guessed += _along_shares(eraser, value)
    chosen = _furthest(guessed - value(eraser.whole()), work, left)
    guessed[chosen] = value(eraser.without_each_word(chosen))
    return LeftOut(guessed, chosen)


def without_each_sentence(eraser: Eraser, value: Value) -> LeftOut:
    """Leave out each sentence of a document."""
    count, left = eraser.sentence_count, _allowed(eraser)
    work = _reading_sentences(eraser)
    if work.sum() <= left:
        return LeftOut(value(eraser.without_each_sentence()), np.arange(count))
    whole = value(eraser.whole())
    by_word = _along_shares(eraser, value)
    if eraser.keeper is None:
        by_word += _along_words(eraser, value)
    homes = torch.from_numpy(eraser.homes)
    moved = by_word.new_zeros(count, by_word.shape[1]).index_add_(0, homes, by_word)
    if eraser.keeper is not None:
        # As if an average sentence of the text stood in its place.
        moved += _along(_slopes_of_sentences(eraser, value), eraser.kept.mean(0) - eraser.kept)
    guessed = whole + moved
    chosen = _furthest(moved, work, left)
    guessed[chosen] = value(eraser.without_each_sentence(chosen))
    return LeftOut(guessed, chosen)


def _allowed(eraser: Eraser) -> int:
    return max(ITEMS, ITEMS_PER_WORD * eraser.token_count)


def _reading(eraser: Eraser) -> Places:
    """How many words and sentences are read to leave out each word."""
    if eraser.keeper is None:
        return np.full(eraser.word_count, eraser.token_count)
    return eraser.lengths[eraser.homes] + eraser.sentence_count


def _reading_sentences(eraser: Eraser) -> Places:
    """How many words or sentences are read to leave out each sentence."""
    count = eraser.sentence_count
    return np.full(count, eraser.token_count if eraser.keeper is None else count)


def _furthest(moved: Tensor, work: Places, left: int) -> Places:
    """The pieces that move the value most, as many as may be measured."""
    order = np.argsort(-moved.abs().amax(1).numpy(), kind="stable")
    found: Places = np.sort(order[np.cumsum(work[order]) <= left])
    return found


def _along_sentences(eraser: Eraser, value: Value, read: Places) -> Tensor:
    """Estimate each word by its sentence's vector without it, where the sentence is ``read``."""
    guessed = value(eraser.whole()).repeat(eraser.word_count, 1)
    if len(read) < eraser.word_count:
        guessed += _along_words(eraser, value)
    if not len(read):
        return guessed
    homes = torch.from_numpy(eraser.homes[read]).to(eraser.kept.device)
    vectors = eraser.vectors_without(read)
    gone = torch.from_numpy(eraser.empties(read)).to(vectors.device)
    vectors = torch.where(gone[:, None], eraser.kept.mean(0), vectors)
    slopes = [slope[homes] for slope in _slopes_of_sentences(eraser, value)]
    guessed[read] = value(eraser.whole()) + _along(slopes, vectors - eraser.kept[homes])
    return guessed


def _slopes_of_sentences(eraser: Eraser, value: Value) -> list[Tensor]:
    """How each value slopes along the vector of each sentence, (sentences, size) a value."""
    assert eraser.keeper is not None
    with differentiating():
        vectors = eraser.kept.detach().requires_grad_()
        counts = torch.tensor([len(vectors)], device=vectors.device)
        logits = eraser.keeper.from_sentences(Ragged(vectors, counts)).logits
        return _slopes(value(eraser.model.completed(logits, _batch(eraser))), vectors)


def _along_shares(eraser: Eraser, value: Value) -> Tensor:
    """How far each value moves, at its slope, without what each word adds beside the network."""
    with differentiating():
        logits = eraser.whole().requires_grad_()
        slopes = _slopes(value(logits), logits)
    shares = eraser.model.word_shares(_batch(eraser))
    if shares is None:
        return torch.zeros(eraser.word_count, len(slopes), dtype=torch.float64)
    return eraser.sum_by_word(_along(slopes, -shares.cpu()))


def _along_words(eraser: Eraser, value: Value) -> Tensor:
    """How far each value moves, at its slope, when a word becomes the unknown one."""
    model, batch = eraser.model, _batch(eraser)
    with differentiating():
        vectors = model.embed(batch).values.detach().requires_grad_()
        logits = model.from_vectors(batch.ids.with_values(vectors), batch).logits
        slopes = _slopes(value(logits), vectors)
    unknown = model.embedding(batch.ids.values.new_tensor([UNKNOWN]))[0].detach()
    return eraser.sum_by_word(_along(slopes, unknown - vectors.detach()))


def _batch(eraser: Eraser) -> Batch:
    """The document itself."""
    ids = eraser.ids
    return Batch(ids, torch.tensor([len(ids)], device=ids.values.device))


def _slopes(values: Tensor, vectors: Tensor) -> list[Tensor]:
    return [torch.autograd.grad(one, vectors, retain_graph=True)[0] for one in values[0].unbind()]


def _along(slopes: list[Tensor], moves: Tensor) -> Tensor:
    """How far each value moves with each vector, (vectors, values)."""
    return torch.stack([(slope * moves).sum(1) for slope in slopes], 1).double().cpu()
