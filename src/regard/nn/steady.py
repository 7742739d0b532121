"""A linear layer whose answer to a row does not hang on the rows beside it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..kernels import cpu

__all__ = ["SteadyLinear"]


class SteadyLinear(nn.Linear):
    """Gives a row the same bits in any company, where nobody wants gradients.

    On some processors torch multiplies a few rows in another order than many, and the last bits
    differ. Without C kernels it is torch's layer.
    """

    def forward(self, values: Tensor) -> Tensor:
        """Return ``values @ weight.t() + bias``, (rows, width)."""
        if torch.is_grad_enabled() or not cpu.can_attend(values):
            return super().forward(values)
        return cpu.project(values, self.weight, self.bias)
