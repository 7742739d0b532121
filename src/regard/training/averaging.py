"""The mean of the weights at the ends of the last epochs: often better than any of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from .checkpoint import Snapshot

__all__ = ["Averages"]


class Averages:
    """Keeps the weights at the ends of the last ``count`` epochs; one is none but the last.

    The training itself goes on from its own weights. The mean is what is judged and kept:
    Izmailov et al. (2018), "Averaging weights leads to wider optima and better generalization".
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._recent: deque[Mapping[str, Tensor]] = deque(maxlen=count)

    def add(self, model: nn.Module) -> None:
        """Take note of the weights at the end of an epoch."""
        if self.count > 1:
            self._recent.append(_copied(model))

    @contextmanager
    def in_place(self, model: nn.Module) -> Iterator[None]:
        """Give the model the mean of the weights that are kept, for a while."""
        if len(self._recent) < 2:
            yield
            return
        own = _copied(model)
        model.load_state_dict({name: self._mean(name) for name in own})
        try:
            yield
        finally:
            model.load_state_dict(own)

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs."""
        kept = {f"{number:04}": Snapshot(weights) for number, weights in enumerate(self._recent)}
        return Snapshot.join(kept)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        numbers = sorted({name.partition("/")[0] for name in snapshot.tensors})
        self._recent.extend(snapshot.under(number).tensors for number in numbers)

    def _mean(self, name: str) -> Tensor:
        first = self._recent[-1][name]
        if not first.is_floating_point():
            return first
        # One after the other, and in double precision: the same bits wherever it is resumed.
        total = torch.zeros_like(first, dtype=torch.float64)
        for weights in self._recent:
            total += weights[name].to(total)
        return (total / len(self._recent)).to(first)


def _copied(model: nn.Module) -> dict[str, Tensor]:
    return {name: part.clone() for name, part in model.state_dict().items()}
