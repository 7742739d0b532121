"""Whether attention agrees with gradients and with leaving words out (Jain and Wallace, 2019).

As theirs, the comparison is of sizes: a gradient is that along the word's own vector with the
attention held where it is, and a word left out counts by how far all probabilities move.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..explain.answers import Answers
from ..explain.gradients import differentiating, log_odds
from ..explain.rankings import Floats, kendall
from .tally import Measured

__all__ = ["agreement", "gradient_sizes", "movements"]


RANDOM_RANKINGS = 10


def gradient_sizes(answers: Answers) -> list[Floats]:
    """Return for each document how steep the first chosen class is along each word, (words,)."""
    batch, model = answers.batch, answers.model
    numbers = torch.tensor([chosen[0] for chosen in answers.chosen], dtype=torch.int64)
    held = {layer.name: layer.weights.values.detach() for layer in answers.output.attention}
    with differentiating():
        vectors = model.embed(batch).values.detach().requires_grad_()
        output = model.from_vectors(batch.ids.with_values(vectors), batch, held or None)
        total = log_odds(output.logits, numbers.to(vectors.device), answers).sum()
        (slopes,) = torch.autograd.grad(total, vectors)
    sizes = (slopes * vectors.detach()).sum(1).abs().double().cpu()
    return [row.numpy() for row in sizes.split(batch.by_document.host_lengths)]


def movements(drops: Tensor, *, multilabel: bool, number: int) -> Floats:
    """Return how far leaving out each piece moved the answer, (pieces,).

    ``drops`` are the probabilities lost, (pieces, classes). The movement is their total variation;
    with several labels a document, what the label itself lost.
    """
    if multilabel or drops.shape[1] == 1:
        return drops[:, number].abs().numpy()
    return (drops.abs().sum(1) / 2).numpy()


def agreement(amounts: Floats, reference: Floats, seed: int = 0) -> Measured | None:
    """Compare the sizes of two lists; None where either is all the same."""
    own = kendall(np.abs(amounts), reference)
    if own is None:
        return None
    draw = np.random.default_rng([seed, len(reference)])
    rankings = [draw.permutation(len(reference)).astype(float) for _ in range(RANDOM_RANKINGS)]
    return Measured(own, float(np.mean([kendall(row, reference) or 0.0 for row in rankings])))
