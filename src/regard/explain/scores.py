"""From signed scores of the pieces of a batch to the weights of each document."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from ..data.batch import Batch
from ..records.weights import Weights, sum_by
from ..text.document import Tokens

__all__ = ["levels", "levels_of_batch"]


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
    word_spans = [(start, end) for start, end in text.spans.tolist()]
    by_word = Weights.from_scores("word", word_spans, words, unit=unit, measured=measured[0])
    if sentences is None:
        return by_word, sum_by(by_word, spans)
    by_sentence = Weights.from_scores("sentence", spans, sentences, unit=unit, measured=measured[1])
    return by_word, by_sentence


def levels_of_batch(
    batch: Batch, words: Tensor, sentences: Tensor | None = None, *, unit: str
) -> list[tuple[Weights, ...]]:
    """Weigh every document of a batch by the scores of all its words, (tokens,), and sentences."""
    by_word = _rows(words, batch.by_document.host_lengths)
    by_sentence: list[list[float]] | list[None] = [None] * len(batch)
    if sentences is not None:
        by_sentence = _rows(sentences, batch.sentences.tolist())
    return [
        levels(*parts, unit=unit) for parts in zip(batch.texts, by_word, by_sentence, strict=True)
    ]


def _rows(scores: Tensor, lengths: list[int]) -> list[list[float]]:
    return [row.tolist() for row in scores.detach().double().cpu().split(lengths)]
