"""How far a gradient reaches: what the first written token owes to each item read before it.

Networks as they are before any training: the further back an item lies, the less of the gradient
of the first written token arrives at it, unless attention gives it a way of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ..config import checked_settings, require
from ..data.pairs import EncodedPairs
from ..models.seq2seq import Seq2SeqConfig
from ..records.experiment import Chart, Curve, Finding, ResultRow
from ..text.units import RESERVED
from ..training.seeds import derived_seed, seeded
from .running import Stopwatch, Tell

__all__ = ["Gradients"]

_ANSWERS = 8  # tokens that could be written


@dataclass(frozen=True)
@checked_settings
class Gradients:
    """How long the rows are, and how many are averaged."""

    name: ClassVar[str] = "gradients"
    title: ClassVar[str] = "Gradient of the first written token, by distance of what was read"
    columns: ClassVar[tuple[str, ...]] = ("nearest item", "middle item", "farthest item", "ratio")

    length: int = 60
    rows: int = 16
    hidden_size: int = 64

    def __post_init__(self) -> None:
        require(self.length >= 2, f"length must be at least 2, got {self.length}")
        require(self.rows >= 1, f"rows must be at least 1, got {self.rows}")

    @classmethod
    def quick(cls) -> Gradients:
        """Shorter rows."""
        return cls(length=30, rows=4)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Measure the three cells, and the plain one with attention over its states."""
        rows, curves = [], []
        for name, network in self.networks().items():
            tell(name)
            clock = Stopwatch()
            norms = self._norms(network, seed).tolist()
            near, middle, far = norms[0], norms[len(norms) // 2], norms[-1]
            rows.append(ResultRow(name, (near, middle, far, far / near), clock.seconds))
            curves.append(Curve(name, tuple((float(d), norm) for d, norm in enumerate(norms))))
        chart = Chart(
            "lines", "items between", "norm of the gradient", tuple(curves), logarithmic=True
        )
        return Finding(seed, tuple(rows), chart)

    def networks(self) -> dict[str, Seq2SeqConfig]:
        """Return the networks that are measured, by their names in the table."""
        plain = Seq2SeqConfig(
            embedding_size=32,
            hidden_size=self.hidden_size,
            layers=1,
            directions=1,
            dropout=0.0,
            bridge="copy",
            decoder="sutskever",
            score="dot",
            feeding=False,
        )
        return {
            "RNN": replace(plain, cell="rnn"),
            "GRU": replace(plain, cell="gru"),
            "LSTM": replace(plain, cell="lstm"),
            "RNN with attention": replace(plain, cell="rnn", decoder="luong"),
        }

    def _norms(self, network: Seq2SeqConfig, seed: int) -> NDArray[np.float64]:
        """The mean norm at every distance, the nearest first, (length,)."""
        count = self.length * self.rows
        # Every item is another word: the gradient of its vector is that of the one place.
        words = np.arange(count).reshape(self.rows, self.length) + len(RESERVED)
        batch = EncodedPairs(list(words), [()] * self.rows).batch(np.arange(self.rows))
        with seeded(derived_seed(seed, "weights")):
            model = network.build(source_size=count + len(RESERVED), target_size=_ANSWERS)
            torch.nn.init.normal_(model.embedding.weight)
            toward = torch.randn(_ANSWERS)
        model.double()  # what has all but vanished is still to be seen
        (model(batch).logits @ toward.double()).sum().backward()
        gradient = model.embedding.weight.grad
        assert gradient is not None
        norms: NDArray[np.float64] = gradient.norm(dim=1).numpy()[words].mean(0)
        return norms[::-1]
