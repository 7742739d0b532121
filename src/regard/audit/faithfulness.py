"""Whether an explanation follows the model: by taking words away, by gradients, by forgetting.

Comprehensiveness and sufficiency come by two protocols that do not compare: ERASER (DeYoung et al.,
2020) takes away the heaviest 1, 5, 10, 20 and 50 % of the words. ferret (Attanasio et al., 2023)
takes away 10 to 100 % in steps of ten, only words that speak for the class, and counts an amount
that adds no further word once.

Agreement with gradients and with leaving words out is of sizes (Jain and Wallace, 2019): a gradient
is that along the word's own vector with the attention held where it is, and a word left out counts
by how far all probabilities move. A model whose weights are shuffled should be explained otherwise
(after Adebayo et al., 2018).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from ..explain.answers import Answers
from ..explain.erasing import Mask
from ..explain.gradients import differentiating, log_odds
from ..explain.rankings import Floats, kendall
from ..models.base import Model
from ..records.explanation import Receipt
from .tally import Measured

__all__ = [
    "FerretErasure",
    "ask_again",
    "copy_shuffled",
    "ferret_masks",
    "gradient_sizes",
    "measure_agreement",
    "measure_likeness",
    "movements",
    "read_receipt",
]

SHARES = tuple(share / 10 for share in range(1, 11))
SHUFFLES = 5


def read_receipt(receipt: Receipt, whole_loss: float) -> dict[str, Measured]:
    """Take the ERASER measures off a receipt; ``whole_loss`` is what the empty document loses."""
    found: dict[str, Measured] = {}
    for name in ("comprehensiveness", "sufficiency"):
        for level, ending in (("word", ""), ("sentence", "_sentence")):
            measure = receipt.measure(name, level)
            if measure is not None and measure.random is not None:
                found[name + ending] = Measured(measure.value, measure.random)
        if name in found:
            one = found[name]
            found[f"normalised_{name}"] = Measured(one.value, one.baseline, whole_loss)
    return found


def ferret_masks(scores: Floats) -> Mask:
    """Which words each amount takes, (distinct amounts, words): the heaviest positive ones."""
    order = np.argsort(-scores, kind="stable")
    places = np.argsort(order)
    taken: list[Mask] = []
    for share in SHARES:
        mask = (places < round(share * len(scores))) & (scores > 0)
        if mask.any() and not (taken and np.array_equal(mask, taken[-1])):
            taken.append(mask)
    return np.array(taken, dtype=bool).reshape(len(taken), len(scores))


class FerretErasure:
    """ferret's measures of one document: asks about it without some words, and of them alone."""

    def __init__(self, likely: Callable[[Mask], Tensor], whole: Tensor, seed: int) -> None:
        self._likely, self._whole, self._seed = likely, whole, seed

    def measure(self, scores: Floats, number: int) -> dict[str, Measured]:
        """Return both measures of a class beside those of the same scores on other words."""
        draw = np.random.default_rng([self._seed, len(scores)])
        rows = [scores, *(draw.permutation(scores) for _ in range(SHUFFLES))]
        losses = np.array([self._losses(row, number) for row in rows])
        chance = losses[1:].mean(0)
        return {
            "comprehensiveness_ferret": Measured(losses[0, 0], chance[0]),
            "sufficiency_ferret": Measured(losses[0, 1], chance[1]),
        }

    def _losses(self, scores: Floats, number: int) -> tuple[float, float]:
        """What is lost without the words, and with them alone; nothing where none is positive."""
        taken = ferret_masks(scores)
        start = float(self._whole[0, number])
        if not len(taken):
            nothing = float(self._likely(np.zeros((1, len(scores)), dtype=bool))[0, number])
            return 0.0, start - nothing
        left = self._likely(np.concatenate([~taken, taken]))[:, number].numpy()
        return start - left[: len(taken)].mean(), start - left[len(taken) :].mean()


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
    along = (slopes * vectors.detach()).sum(1).double().cpu()
    rows = along.split(batch.by_document.host_lengths)
    return [
        np.abs(text.sum_by_word(row.numpy())) for text, row in zip(batch.texts, rows, strict=True)
    ]


def movements(drops: Tensor, *, multilabel: bool, number: int) -> Floats:
    """Return how far leaving out each piece moved the answer, (pieces,).

    ``drops`` are the probabilities lost, (pieces, classes). The movement is their total variation;
    with several labels a document, what the label itself lost.
    """
    if multilabel or drops.shape[1] == 1:
        return drops[:, number].abs().numpy()
    return (drops.abs().sum(1) / 2).numpy()


def measure_agreement(amounts: Floats, reference: Floats) -> Measured | None:
    """Compare the sizes of two lists; None where either is all the same."""
    return _tau(np.abs(amounts), reference)


def copy_shuffled(model: Model, seed: int = 0) -> Model:
    """Return a copy of the model whose parameters each hold their numbers in another order."""
    copied = copy.deepcopy(model).eval()
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in copied.parameters():
            order = torch.randperm(parameter.numel(), generator=draw).to(parameter.device)
            parameter.copy_(parameter.flatten()[order].view_as(parameter))
    return copied


def ask_again(answers: Answers, model: Model) -> Answers:
    """Ask another model about the same batch and the same classes."""
    with torch.no_grad():
        return replace(answers, model=model, output=model(answers.batch))


def measure_likeness(amounts: Floats, others: Floats) -> dict[str, Measured]:
    """Compare scores with those of the shuffled copy; nothing where either is all the same."""
    measured = _tau(amounts, others)
    return {} if measured is None else {"tau_shuffled_weights": measured}


def _tau(own: Floats, reference: Floats) -> Measured | None:
    """Kendall's tau of two lists; that of random rankings is 0 on average, whatever the list."""
    tau = kendall(own, reference)
    return None if tau is None else Measured(tau, 0.0)
