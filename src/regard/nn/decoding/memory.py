"""What a decoder looks at, and how it looks: attention over the items of a source.

A memory is asked again at every step, and by several hypotheses about the same source. So its
keys are prepared once, and it is padded once: all the questions of a step are one product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from ...ragged import Ragged
from ..attention import SCORES
from ..dropout import drop
from ..rows import pad

__all__ = [
    "CHOICES",
    "WINDOWS",
    "Attended",
    "ChoiceName",
    "CrossAttention",
    "LookConfig",
    "Memory",
    "weight_rows",
]

WindowName = Literal["global", "monotonic", "predictive"]
WINDOWS: tuple[WindowName, ...] = ("global", "monotonic", "predictive")
"""Where a step may look: everywhere, around its own number, or around a place it predicts."""
ChoiceName = Literal["soft", "hard", "mean"]
CHOICES: tuple[ChoiceName, ...] = ("soft", "hard", "mean")
"""What becomes of the scores: weights of all items, the choice of one item, or no difference."""


@dataclass(frozen=True)
class LookConfig:
    """How a decoder looks at its memory."""

    score: str = "general"
    attention_size: int = 100  # of the score's hidden layer
    window: WindowName = "global"
    reach: int = 10  # how many items to either side a window holds
    choice: ChoiceName = "soft"
    missed: float = 0.0  # share of the items that a question overlooks in training


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """The items of every source with what they answer to, filled up with zeros."""

    values: Tensor  # (sources, longest, size)
    keys: Tensor  # (sources, longest, key size)
    lengths: Tensor  # (sources,)
    absent: Tensor  # (sources, 1, longest), whether a place is beyond the end of its source

    def __len__(self) -> int:
        """How many sources there are."""
        return self.lengths.shape[0]

    def taken(self, sources: Tensor) -> Memory:
        """The memory of the given sources, in their order."""
        return Memory(
            self.values.index_select(0, sources),
            self.keys.index_select(0, sources),
            self.lengths.index_select(0, sources),
            self.absent.index_select(0, sources),
        )

    def first(self, count: int) -> Memory:
        """The memory of the first sources."""
        if count == len(self):
            return self
        return Memory(
            self.values[:count], self.keys[:count], self.lengths[:count], self.absent[:count]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Attended:
    """What each question found, and where it looked.

    Weights beyond the end of a source are zero, but mean nothing where the source is empty.
    """

    contexts: Tensor  # (sources, questions, size)
    weights: Tensor  # (sources, questions, longest)
    chosen: Tensor | None = None  # (sources, questions), the item that was drawn in training


class CrossAttention(nn.Module):
    """Attention of a decoder over its memory, global or local, of Luong et al. (2015).

    ``monotonic`` is their local-m and ``predictive`` their local-p. There the weights of a
    window are multiplied by a bell around the predicted place, and no longer sum to one; here
    the bell is part of the score, so that they do.

    With the choice "hard" each question sees one item, of Xu et al. (2015): in training it is drawn
    by the weights, and afterwards it is the heaviest, which then has all the weight. With "mean"
    every item weighs the same, whatever is asked.

    An item that is ``missed`` keeps its weight, and what it holds is not found: a question that
    looks at one item alone finds nothing then, so it learns to look at all that say the same.
    """

    def __init__(self, query_size: int, memory_size: int, config: LookConfig) -> None:
        super().__init__()
        self.config = config
        self.score = SCORES[config.score](query_size, memory_size, config.attention_size)
        if config.window == "predictive":
            self.place = nn.Sequential(
                nn.Linear(query_size, query_size, bias=False),
                nn.Tanh(),
                nn.Linear(query_size, 1, bias=False),
                nn.Sigmoid(),
            )

    def prepare(self, items: Ragged) -> Memory:
        """Do to the items, one row a source, what is done once for all questions."""
        values = pad(items)
        places = torch.arange(values.shape[1], device=values.device)
        absent = places >= items.lengths[:, None, None]
        return Memory(values, pad(self.score.prepare(items)), items.lengths, absent)

    def forward(self, queries: Tensor, memory: Memory, steps: Tensor) -> Attended:
        """Ask questions, (sources, questions, query size), at the given steps, (questions,)."""
        hidden, alike = memory.absent, self.config.choice == "mean"
        if alike:
            scores = queries.new_zeros(*queries.shape[:2], memory.keys.shape[1])
        else:
            scores = self.score.compare_padded(queries, memory.keys)
        if self.config.window != "global":
            far, outside = self._window(queries, memory, steps)
            scores, hidden = scores if alike else scores - far, hidden | outside
        # Not minus infinity: the row of an empty source has nothing else, and must not be nothing.
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, -1)
        if self.config.choice == "hard" and weights.shape[-1]:
            return self._chosen(weights, memory)
        found = drop(weights.to(memory.values.dtype), self.config.missed, self.training)
        return Attended(found @ memory.values, weights)

    def _chosen(self, weights: Tensor, memory: Memory) -> Attended:
        """See one item for each question."""
        if self.training:
            drawn = torch.multinomial(weights.detach().float().flatten(0, 1), 1)
            chosen = drawn.view(weights.shape[:-1])
        else:
            chosen = weights.argmax(-1)
        single = torch.zeros_like(weights).scatter(-1, chosen[..., None], 1.0)
        contexts = single.to(memory.values.dtype) @ memory.values
        return Attended(contexts, weights if self.training else single, chosen)

    def _window(self, queries: Tensor, memory: Memory, steps: Tensor) -> tuple[Tensor, Tensor]:
        """How much being far off costs each place, and which places are not seen at all."""
        lengths, reach = memory.lengths[:, None, None], self.config.reach
        places = torch.arange(memory.keys.shape[1], device=queries.device)
        if self.config.window == "monotonic":
            # After the end of a short source a step looks at what the end has.
            centres = torch.minimum(steps[None, :, None], (lengths - 1).clamp(min=0))
            return queries.new_zeros(()), (places - centres).abs() > reach
        apart = places - lengths * self.place(queries)
        return apart.square() / (2 * (reach / 2) ** 2), apart.abs() > reach


def weight_rows(weights: Tensor, lengths: Tensor) -> Ragged:
    """Cut padded weights, (steps, longest), to the length of the source of each step, (steps,)."""
    places = torch.arange(weights.shape[1], device=weights.device)
    return Ragged(weights[places < lengths[:, None]], lengths)
