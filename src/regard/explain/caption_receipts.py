"""Whether a word about a picture needs the cells it looked at: it is asked again, those covered.

The cells that hold most of a word's weight are painted over with the mean colour of the picture,
and everything behind the pixels is computed again: a cell that another one can see is then gone for
that one too. Then the same with as many random cells. The colour tells a little of what it hides,
so a word may lose less than it should.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.pictures import PictureBatch, Pixels
from ..data.targets import TargetBatch
from ..models.base import WritingModel
from ..nn.dropout import in_evaluation
from ..ragged import Ragged
from ..records.alignment import AlignmentReceipt
from ..records.caption import COVERED_WEIGHT
from ..text.units import END, START
from ..text.vocab import PADDING
from .alignment_receipts import Mask, measure_receipt
from .rankings import Floats

__all__ = ["cover_cells", "measure_caption_receipt"]

TOGETHER = 32
"""How many covered pictures are looked at together."""


@torch.no_grad()
def measure_caption_receipt(
    model: WritingModel[PictureBatch],
    look: Callable[[Tensor], PictureBatch],
    pixels: Pixels,
    ids: Sequence[int],
    weights: NDArray[np.float32],
    *,
    share: float = COVERED_WEIGHT,
    seed: int = 0,
) -> AlignmentReceipt:
    """Ask whether the ids written about a picture need the cells they looked at.

    ``look`` makes of pixels, (pictures, 3, side, side), what the model takes; ``weights`` are
    (ids, cells), without those of the end. The cells that hold ``share`` of a word's weight are
    covered.
    """

    def likely(gone: Mask) -> Floats:
        # Versions are asked once, however many words looked at the same cells.
        distinct, places = np.unique(gone, axis=0, return_inverse=True)
        logs = [
            _log_probabilities(model, look(cover_cells(pixels, part)), ids)
            for part in np.array_split(distinct, -(-len(distinct) // TOGETHER))
        ]
        found: Floats = np.exp(np.concatenate(logs))
        return found[places.ravel()]

    with in_evaluation(model):
        return measure_receipt(weights, likely, share=share, seed=seed)


def cover_cells(pixels: Pixels, gone: Mask) -> Tensor:
    """Paint the cells of each version, (versions, cells), over with the mean colour."""
    side = pixels.shape[1]
    grid = math.isqrt(gone.shape[1])
    hidden = gone.reshape(-1, grid, grid).repeat(side // grid, 1).repeat(side // grid, 2)
    colour = pixels.reshape(3, -1).mean(1).round().astype(np.uint8)
    return torch.from_numpy(np.where(hidden[:, None], colour[:, None, None], pixels))


def _log_probabilities(
    model: WritingModel[PictureBatch], pictures: PictureBatch, ids: Sequence[int]
) -> Floats:
    """The log-probability of each id about each picture, told all before it, (pictures, ids)."""
    count, device = len(pictures), pictures.values.device
    told = torch.tensor([*ids, END], device=device).repeat(count)
    lengths = torch.full((count,), len(ids) + 1, device=device)
    logits = model(TargetBatch(pictures, Ragged(told, lengths))).logits.double()
    # As where the network writes on its own: what stands for nothing is never written.
    logits[:, [PADDING, START]] = -math.inf
    logs = torch.log_softmax(logits, 1).gather(1, told[:, None])[:, 0]
    found: Floats = logs.cpu().numpy().reshape(count, -1)
    return found[:, :-1]  # the end is no word
