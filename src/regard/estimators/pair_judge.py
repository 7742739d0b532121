"""How good a translator is while it learns: the loss of each token, and what it writes freely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.pairs import PairBatch
from ..models.seq2seq import Seq2Seq
from ..tasks.bleu import BLEU_COUNTS, bleu_counts, bleu_of_counts
from ..tasks.generate import GenerationConfig, TokenLoss, generate
from ..text.units import Units
from ..training.batches import Batches
from ..training.devices import device_of
from ..training.teams import Team

__all__ = ["MOST_WRITTEN", "PairJudge"]

MOST_WRITTEN = 2000
"""How many validation pairs are written about after an epoch, at most; the loss is of all."""


@dataclass(frozen=True, slots=True, eq=False)
class PairJudge:
    """Judges by the loss of the true tokens and, if asked, by BLEU of greedy, free writing.

    What is written is compared with the references as the target's pieces spell them.
    """

    names: ClassVar[tuple[str, ...]] = ("loss", "bleu")

    units: Units  # of the targets
    generation: GenerationConfig
    bleu: bool = True

    def __call__(self, model: Seq2Seq, batches: Batches[PairBatch], team: Team) -> dict[str, float]:
        """Score the model, without dropout, on its share of the batches."""
        model.eval()
        device = device_of(model)
        sums = torch.zeros(2, dtype=torch.float64, device=device)
        counts, seen = np.zeros(BLEU_COUNTS), 0
        for batch in team.share_batches(batches).read(0):
            if not len(batch):
                continue
            moved = batch.to(device)
            with torch.no_grad():
                cost = TokenLoss()(model, moved)
            sums += torch.stack([cost.total, cost.weight.to(cost.total)])
            if self.bleu and seen * team.size < MOST_WRITTEN:
                counts += self._written(model, moved, batch)
                seen += len(batch)
        if not self.bleu:
            total, weight = team.add_up(sums).tolist()
            return {"loss": total / weight}
        everything = torch.cat([sums, torch.from_numpy(counts).to(sums)])
        total, weight, *shared = team.add_up(everything).tolist()
        return {"loss": total / weight, "bleu": bleu_of_counts(np.array(shared))}

    def _written(self, model: Seq2Seq, moved: PairBatch, batch: PairBatch) -> NDArray[np.float64]:
        found = generate(model, moved.source, self.generation)
        texts = [self.units.decode(candidates[0].ids.tolist()) for candidates in found]
        references = [self.units.decode(row.tolist()) for row in batch.target.rows()]
        return bleu_counts(texts, references)
