"""What the gradient methods share: the quantity they differentiate, and the way to its slope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from ..records.explanation import Decision
from ..records.weights import Weights
from .answers import Answers

__all__ = ["UNIT", "differentiating", "log_odds", "log_odds_of", "of_each_class"]

UNIT = "log-odds"


def log_odds(logits: Tensor, numbers: Tensor, answers: Answers) -> Tensor:
    """Return log p / (1 - p) of one class of each document, (documents,).

    Unlike the probability it keeps a slope where the model is sure. With several labels a
    document it is the logit itself, with two classes the difference of their logits.
    """
    scaled = logits / answers.temperature
    chosen = scaled.gather(1, numbers[:, None])[:, 0]
    if answers.multilabel or logits.shape[1] == 1:
        return chosen
    others = scaled.scatter(1, numbers[:, None], -torch.inf)
    return chosen - others.logsumexp(1)


def log_odds_of(logits: Tensor, numbers: Sequence[int], answers: Answers) -> Tensor:
    """Return log p / (1 - p) of several classes of each document, (documents, numbers)."""
    columns = [
        log_odds(logits, torch.full((len(logits),), number, device=logits.device), answers)
        for number in numbers
    ]
    return torch.stack(columns, 1)


@contextmanager
def differentiating() -> Iterator[None]:
    """Let gradients through, also where cuDNN would refuse to go back through a model at rest."""
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        yield


def of_each_class(
    answers: Answers, weigh: Callable[[Tensor], Sequence[tuple[Weights, ...]]]
) -> list[list[Decision]]:
    """Decide about every document once for each chosen class.

    ``weigh`` takes one class number a document and returns the weights of every document.
    """
    found: list[list[Decision]] = [[] for _ in answers.chosen]
    for rank in range(max(map(len, answers.chosen), default=0)):
        # A document with fewer classes than others is asked about its last one again.
        numbers = [chosen[min(rank, len(chosen) - 1)] for chosen in answers.chosen]
        weighed = weigh(torch.tensor(numbers, device=answers.batch.ids.values.device))
        for place, weights in enumerate(weighed):
            if rank < len(answers.chosen[place]):
                found[place].append(answers.decision(place, numbers[place], weights))
    return found
