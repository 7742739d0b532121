"""What the gradient methods share: the quantity they differentiate, and the way to its slope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from ..data.batch import Batch
from ..records.explanation import Decision
from ..records.weights import Weights
from .answers import Answers

__all__ = [
    "UNIT",
    "differentiating",
    "log_odds",
    "log_odds_of",
    "of_each_class",
    "shares_along",
]

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


def shares_along(answers: Answers, batch: Batch, slopes: Tensor) -> Tensor:
    """Return what each word adds beside the network, along the slopes of its logits, (tokens,).

    ``slopes``, (documents, classes), are those of what is explained. Between two classes, and for
    each of several labels, the answer is a line along its logits, and so this is exact.
    """
    shares = answers.model.word_shares(batch)
    if shares is None:
        return slopes.new_zeros(batch.token_count)
    return (shares * slopes.double()[batch.by_document.row_ids]).sum(1).to(slopes.dtype)


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
