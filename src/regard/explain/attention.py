"""Explain by the attention weights themselves."""

from __future__ import annotations

import torch
from torch import Tensor

from ..data.batch import Batch
from ..errors import ConfigError
from ..models.base import Attention
from ..nn.rows import row_sum
from ..ragged import Ragged
from ..records.explanation import Explanation
from ..records.weights import Weights, sum_by
from .answers import Answers, explanations

__all__ = ["explain", "pooling_layer", "shares"]


def explain(answers: Answers) -> list[Explanation]:
    """Return an explanation of each document: the weights of its words and of its sentences.

    A flat model weighs words alone; the weight of a sentence is then the sum over its words.
    Attention does not ask which label it is for, so every chosen label has the same weights.
    """
    words = pooling_layer(answers, "token")
    sentences = pooling_layer(answers, "sentence")
    if words is None and sentences is None:
        raise ConfigError(
            "this model gives no attention weights to explain by; "
            "train it with pooling 'attention', or choose another method"
        )
    decisions = [
        [answers.decision(place, number, weights) for number in answers.chosen[place]]
        for place, weights in enumerate(_by_document(answers.batch, words, sentences))
    ]
    return explanations(answers, "attention", decisions)


def pooling_layer(answers: Answers, over: str) -> Attention | None:
    """The last layer that pools such items into a sentence or a document."""
    layers = [
        layer
        for layer in answers.output.attention
        if layer.over == over and layer.by in ("sentence", "document")
    ]
    return layers[-1] if layers else None


def shares(layer: Attention) -> Ragged:
    """The weights of a layer in double precision on the CPU, (items, hops); rows sum to one."""
    values = layer.weights.values.detach().to(device="cpu", dtype=torch.float64)
    columns = values if values.ndim == 2 else values[:, None]
    rows = Ragged(columns, layer.weights.lengths.cpu())
    # In single or half precision a row sums to one up to rounding only; a share should be one.
    totals = row_sum(rows)[rows.row_ids]
    return rows.with_values(rows.values / totals.where(totals > 0, 1.0))


def _by_document(
    batch: Batch, words: Attention | None, sentences: Attention | None
) -> list[tuple[Weights, ...]]:
    """Cut the weights of the batch into those of its documents."""
    word_counts = [len(text) for text in batch.texts]
    word_columns = _columns(words, word_counts)
    sentence_columns = _columns(sentences, [len(text.per_sentence) for text in batch.texts])
    found: list[tuple[Weights, ...]] = []
    for place, text in enumerate(batch.texts):
        levels: list[Weights] = []
        sentence_spans = tuple(text.sentence_spans())
        if words is not None:
            columns = torch.from_numpy(text.sum_by_word(word_columns[place].numpy()))
            levels.append(_weights("word", tuple(text.word_spans()), columns, words.by))
        if sentences is not None:
            columns = sentence_columns[place]
            levels.append(_weights("sentence", sentence_spans, columns, sentences.by))
        elif words is not None and words.by == "document":
            levels.append(sum_by(levels[0], sentence_spans))
        found.append(tuple(levels))
    return found


def _columns(layer: Attention | None, counts: list[int]) -> list[Tensor]:
    """The weights of each document, (items, hops) in double precision."""
    if layer is None:
        return []
    columns = shares(layer).values
    assert len(columns) == sum(counts), "weights and texts must line up"
    return list(columns.split(counts))


def _weights(name: str, spans: tuple[tuple[int, int], ...], columns: Tensor, by: str) -> Weights:
    hops: tuple[tuple[float, ...], ...] = ()
    if columns.shape[1] > 1:
        hops = tuple(tuple(column.tolist()) for column in columns.T)
    return Weights(name, spans, tuple(columns.mean(1).tolist()), by=by, hops=hops)
