"""What a batch costs, kept so that the shares of a batch add up to the whole."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

__all__ = ["Loss"]


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """What a batch costs, as sums and what to divide them by.

    A mean cannot be added up over processes that hold unequal shares of a batch; these sums can.
    """

    total: Tensor  # (), summed over the documents, each with its weight
    weight: Tensor  # (), the documents' weights added up
    penalty: Tensor  # (), the model's own term, summed over the documents
    documents: Tensor  # (), how many there are

    @property
    def mean(self) -> Tensor:
        """What training makes small, ()."""
        return self.total / self.weight + self.penalty / self.documents

    def backward(self) -> Loss:
        """Add the mean's gradient to the parameters'; return the loss of the whole batch."""
        self.mean.backward()
        return Loss(self.total.detach(), self.weight, self.penalty.detach(), self.documents)
