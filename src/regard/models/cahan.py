"""Context-aware Hierarchical Attention Network (Remy, Tixier and Vazirgiannis, 2019).

HAN makes the vector of each sentence without knowing the others, so it may look at the same thing
again and again. Here the attention over a sentence's words also sees what has been said before:
the sum or the mean of the vectors of the sentences before it, and in a second direction of those
after it. The states of the words are those of HAN, read once for all sentences; only the
attention goes on sentence by sentence, for all documents at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from ..config import checked_settings, require, require_one_of
from ..data.batch import Batch
from ..nn.levels import Level, Picked
from ..nn.packing import Packing
from ..nn.pooling import Pooled, Pooling, PoolingConfig
from ..nn.rows import row_softmax, row_weighted_sum, take_rows
from ..ragged import Ragged
from .base import Impose, check_imposed
from .han import HAN, HANConfig

__all__ = ["CAHAN", "CAHANConfig", "ContextPooling"]


@dataclass(frozen=True)
@checked_settings
class CAHANConfig(HANConfig):
    """HAN whose words are weighed in view of the other sentences.

    The words are always pooled by this attention; pooling, score, hops and penalty are those of
    the sentences.
    """

    name: ClassVar[str] = "cahan"

    context: Literal["sum", "mean"] = "mean"  # of the vectors of the other sentences
    context_directions: int = 2  # 1: those before; 2: those before, and those after
    gated: bool = False  # whether each word chooses between itself and the context

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("context", self.context, ("sum", "mean"))
        directions = self.context_directions
        require(directions in (1, 2), f"context_directions must be 1 or 2, got {directions}")

    def build(self, *, vocab_size: int, label_count: int) -> CAHAN:
        """Make the network, with fresh weights drawn from torch's seed."""
        return CAHAN(self, vocab_size=vocab_size, label_count=label_count)

    def build_words(self) -> Level:
        """Make the level that reads the words of a sentence in view of the others."""
        encoder = self.build_encoder(self.embedding_size, self.hidden_size)
        return Level(encoder, ContextPooling(encoder.output_size, self))


class CAHAN(HAN):
    """HAN in which a sentence's words are attended to knowing what the other sentences said."""

    former_names: ClassVar[dict[str, str]] = {"maker.": "words.pooling."}

    isolated = False

    def _attend_to_words(self, words: Ragged | Picked, batch: Batch, impose: Impose) -> Pooled:
        check_imposed(impose, {"word": len(batch.ids.values), "sentence": len(batch.ids)})
        states = self.words.read(words, across=self._reading_across(batch))
        return self.words.pooling(states, impose.get("word"), documents=batch.sentences)


class ContextPooling(Pooling):
    """Goes through each document's sentences in order, and in a second direction from the end.

    A sentence's vector is that of both directions side by side, with a column of weights for each.
    """

    weighs = True

    def __init__(self, size: int, config: CAHANConfig) -> None:
        super().__init__(size, PoolingConfig(config.attention_size))
        ways = range(config.context_directions)
        self.directions = nn.ModuleList(_ContextAttention(size, config) for _ in ways)
        self.output_size = size * len(self.directions)

    def forward(
        self, items: Ragged, weights: Tensor | None = None, documents: Tensor | None = None
    ) -> Pooled:
        """Pool the words of each sentence; ``documents`` says how many sentences each has.

        Without it every sentence is a document of its own, in which nothing was said before.
        """
        count = len(self.directions)
        if documents is None:
            documents = torch.ones_like(items.lengths)
        sentences = Ragged(torch.arange(len(items), device=documents.device), documents)
        imposed: list[Tensor | None] = [weights] * count
        if weights is not None and weights.ndim == 2:
            imposed = list(weights.unbind(1))
        parts = [
            attend(items, Packing(sentences, (number == 1,)), given)
            for number, (attend, given) in enumerate(zip(self.directions, imposed, strict=True))
        ]
        columns = [part.weights.values for part in parts]
        joined = columns[0] if count == 1 else torch.stack(columns, 1)
        return Pooled(torch.cat([part.vectors for part in parts], 1), items.with_values(joined))


class _ContextAttention(nn.Module):
    """u = tanh(W h + V c + b), with c the sum or mean of the vectors so far; the rest is HAN's.

    Gated, u = tanh(g W h + (1 - g) V c + b) with g = sigmoid(W' h + V' c + b').
    """

    def __init__(self, size: int, config: CAHANConfig) -> None:
        super().__init__()
        width = config.attention_size
        self.averages = config.context == "mean"
        self.key = nn.Linear(size, width, bias=False)
        self.context = nn.Linear(size, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))
        self.query = nn.Parameter(torch.empty(width).uniform_(-0.1, 0.1))
        self.gate_key = nn.Linear(size, width) if config.gated else None
        self.gate_context = nn.Linear(size, width, bias=False) if config.gated else None

    def forward(self, states: Ragged, packing: Packing, imposed: Tensor | None) -> Pooled:
        """Pool every sentence, in the order of the packing."""
        if imposed is not None or not packing.sizes:
            weights = states.values[:, 0] if imposed is None else imposed
            return Pooled(row_weighted_sum(states, weights), states.with_values(weights))
        numbers = torch.arange(states.values.shape[0], device=states.values.device)
        visit = take_rows(states.with_values(numbers), packing.source)
        steps = self._steps(
            visit.with_values(states.values.index_select(0, visit.values)), packing.sizes
        )
        said = states.values.new_zeros(packing.sizes[0], states.values.shape[1])
        made: list[Pooled] = []
        for number, step in enumerate(steps):
            said = said[: len(step.words)]
            context = said / max(number, 1) if self.averages else said
            made.append(self._pooled(step, context))
            said = said + made[-1].vectors
        vectors = torch.cat([part.vectors for part in made])
        weights = torch.cat([part.weights.values for part in made])
        back = torch.empty_like(numbers)
        back[visit.values] = numbers
        return Pooled(
            vectors.index_select(0, packing.place),
            states.with_values(weights.index_select(0, back)),
        )

    def _steps(self, words: Ragged, sizes: list[int]) -> Iterator[_Step]:
        """Cut the words into the sentences that are visited together, one of each document."""
        ends = torch.tensor([0, *sizes], device=words.lengths.device).cumsum(0)
        counts = words.offsets.index_select(0, ends).diff().tolist()
        # A split goes back in one piece; a selection at each step would go back through all words.
        parts = [words.values.split(counts), self.key(words.values).split(counts)]
        if self.gate_key is not None:
            parts.append(self.gate_key(words.values).split(counts))
        for lengths, values, *features in zip(words.lengths.split(sizes), *parts, strict=True):
            yield _Step(Ragged(values, lengths), *features)

    def _pooled(self, step: _Step, context: Tensor) -> Pooled:
        """Pool one sentence of each document in view of what was said before."""
        rows = step.words.row_ids
        seen = self.context(context).index_select(0, rows)
        mixed = step.key + seen
        if step.gate is not None and self.gate_context is not None:
            gate = torch.sigmoid(step.gate + self.gate_context(context).index_select(0, rows))
            mixed = torch.lerp(seen, step.key, gate)
        scores = torch.tanh(mixed + self.bias) @ self.query
        weights = row_softmax(step.words.with_values(scores))
        return Pooled(row_weighted_sum(step.words, weights.values), weights)


@dataclass(frozen=True, eq=False)
class _Step:
    """One sentence of each document: its words, and what they give the attention."""

    words: Ragged
    key: Tensor
    gate: Tensor | None = None
