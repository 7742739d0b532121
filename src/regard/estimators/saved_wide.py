"""The n-grams beside a network as a part of a saved folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays

from ..errors import ModelError
from ..models.base import Model
from ..models.ngrams import Emphasis, Marking, NGramTable
from ..models.wide import Wide, WidePart
from .folder import SavedFolder

__all__ = ["WIDE", "SavedWide"]

WIDE = "wide.safetensors"
_KINDS = ("words", "letters")  # of features, in their order
_ARRAYS = (
    *("intercepts", "scale", "emphasis", "marking"),
    *(f"{kind}.{name}" for kind in _KINDS for name in ("keys", "rarity", "weights")),
)
_AGAIN = "copy or train it again"


@dataclass(frozen=True, slots=True, eq=False)
class SavedWide:
    """The n-grams that stand beside a network."""

    parts: tuple[WidePart, ...]  # of words, and if there is a second, of their letters
    intercepts: NDArray[np.float32]  # (classes,)
    scale: float  # of the network

    @classmethod
    def of(cls, model: Wide) -> SavedWide:
        """What a model keeps of its n-grams."""
        return cls(model.parts, model.intercepts.detach().cpu().numpy(), model.scale)

    def beside(self, network: Model) -> Wide:
        """Put the n-grams beside a network."""
        return Wide(network, self.parts, intercepts=self.intercepts, scale=self.scale)

    def write(self, path: Path) -> None:
        """Write the part of a folder that holds them."""
        emphasis, marking = self.parts[0].table.emphasis, self.parts[0].table.marking
        arrays = {"intercepts": self.intercepts, "scale": np.array([self.scale])}
        if emphasis:
            arrays["emphasis"] = np.array([emphasis.first, emphasis.last])
        if marking is not None:
            arrays["marking"] = marking.log_odds
        for name, part in zip(_KINDS, self.parts, strict=False):
            arrays[f"{name}.keys"] = part.table.keys
            arrays[f"{name}.rarity"] = part.table.rarity
            arrays[f"{name}.weights"] = part.weights
        save_arrays({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)

    @classmethod
    def read(
        cls, opened: SavedFolder, *, longest: int, class_count: int, word_count: int
    ) -> SavedWide | None:
        """Read what ``write`` wrote, nothing where there is none; what does not fit is an error."""
        path = opened.path / WIDE
        if not path.exists():
            return None
        arrays = load_arrays(path)
        opened.require_known(f"{WIDE} holds", arrays, _ARRAYS)
        _require(path, arrays, "intercepts", (class_count,), np.float32)
        _require(path, arrays, "scale", (1,), np.float64)
        parts = [_wide_part(path, arrays, "words", longest, class_count)]
        if any(name.startswith("letters.") for name in arrays):
            parts.append(_wide_part(path, arrays, "letters", 1, class_count))
        if "emphasis" in arrays:
            emphasis = _emphasis(path, arrays)
            parts = [replace(part, table=replace(part.table, emphasis=emphasis)) for part in parts]
        if "marking" in arrays:
            marking = Marking(_require(path, arrays, "marking", (word_count,), np.float32))
            parts = [replace(part, table=replace(part.table, marking=marking)) for part in parts]
        return cls(tuple(parts), arrays["intercepts"], float(arrays["scale"][0]))


def _emphasis(path: Path, arrays: Mapping[str, np.ndarray]) -> Emphasis:
    first, last = _require(path, arrays, "emphasis", (2,), np.float64).tolist()
    if min(first, last) < 0:
        raise ModelError(f"{path} holds n-grams that count less than nothing; {_AGAIN}")
    return Emphasis(first, last)


def _wide_part(
    path: Path, arrays: Mapping[str, np.ndarray], name: str, longest: int, class_count: int
) -> WidePart:
    count = len(arrays.get(f"{name}.keys", ()))
    keys = _require(path, arrays, f"{name}.keys", (count,), np.int64)
    rarity = _require(path, arrays, f"{name}.rarity", (count,), np.float32)
    weights = _require(path, arrays, f"{name}.weights", (count, class_count), np.float32)
    if not (np.diff(keys) > 0).all() or not (keys > 0).all() or not (rarity > 0).all():
        raise ModelError(f"{path} holds n-grams out of order, or of no worth; {_AGAIN}")
    return WidePart(NGramTable(keys, rarity, longest), weights)


def _require(
    path: Path,
    arrays: Mapping[str, np.ndarray],
    name: str,
    shape: tuple[int, ...],
    kind: type[np.generic],
) -> np.ndarray:
    """The array of this name, which must be of this shape and hold numbers of this kind."""
    array = arrays.get(name)
    if array is None or array.shape != shape or array.dtype != kind:
        raise ModelError(f"{path} holds no {name} of {shape} numbers; {_AGAIN}")
    if not np.isfinite(array).all():
        raise ModelError(f"{path}: {name} holds what is no number; {_AGAIN}")
    return array
