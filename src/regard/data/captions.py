"""Pictures with what people wrote about them, as ids from which batches are gathered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError
from .pairs import EncodedPairs
from .pictures import PictureBatch
from .targets import TargetBatch

__all__ = ["EncodedCaptions"]


class EncodedCaptions:
    """Captions as ids, each about one of some pictures; a picture may have several."""

    def __init__(
        self,
        pictures: np.ndarray,
        places: ArrayLike,
        captions: Sequence[ArrayLike],
        *,
        cells: int,
    ) -> None:
        self.pictures = pictures  # (pictures, channels, rows, columns), possibly in a mapped file
        self.places: NDArray[np.int64] = np.asarray(places, dtype=np.int64)  # one a caption
        self.cells = cells
        if len(self.places) != len(captions):
            raise DataError(f"{len(captions)} captions cannot be about {len(self.places)} pictures")
        self._captions = EncodedPairs([()] * len(captions), captions)

    def __len__(self) -> int:
        """How many captions there are."""
        return len(self.places)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many cells and ids each caption has, the end counted, (captions,)."""
        return self._captions.lengths + self.cells

    def batch(self, indices: ArrayLike) -> TargetBatch[PictureBatch]:
        """Gather the chosen captions with their pictures, in the order given, as one batch."""
        chosen = np.asarray(indices, dtype=np.int64)
        target = self._captions.batch(chosen).target
        return TargetBatch(self.look_at(self.places[chosen]), target)

    def look_at(self, pictures: ArrayLike) -> PictureBatch:
        """Gather pictures by their numbers, in the order given."""
        chosen = np.asarray(pictures, dtype=np.int64)
        return PictureBatch(torch.from_numpy(self.pictures[chosen]), self.cells)
