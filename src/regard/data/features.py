"""Features of pictures on disk, so that each picture is looked at once by each network.

A picture is known by its bytes, and a folder belongs to one network and one size. Features are
added in files of several pictures that are there whole or not at all; one that is damaged is as if
it were not there. No two runs write to the same file, so that they may share a folder.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from ..files import write_file

__all__ = ["FeatureCache", "Features"]

Features = NDArray[np.float16]
"""What a network found in a picture, (channels, rows, columns)."""


class FeatureCache:
    """Features by the digests of pictures, in the folder of one network."""

    def __init__(self, folder: Path, shape: tuple[int, ...]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._shape = folder, shape
        self._homes: dict[str, Path] = {}
        for path in sorted(folder.glob("*.safetensors")):
            try:
                with safe_open(path, "np") as file:
                    names = {
                        name
                        for name in file.keys()  # noqa: SIM118 - it is no mapping
                        if tuple(file.get_slice(name).get_shape()) == shape
                    }
            except (SafetensorError, OSError):
                continue  # cut off by a full disk or by hand: computed again
            self._homes.update(dict.fromkeys(names, path))

    def __len__(self) -> int:
        """How many pictures are known."""
        return len(self._homes)

    def __contains__(self, digest: str) -> bool:
        """Tell whether the features of a picture are known."""
        return digest in self._homes

    def read(self, digests: list[str]) -> dict[str, Features]:
        """Return what is known of the pictures; those of one file are read together."""
        by_file: dict[Path, list[str]] = {}
        for digest in digests:
            if digest in self._homes:
                by_file.setdefault(self._homes[digest], []).append(digest)
        found: dict[str, Features] = {}
        for path, names in by_file.items():
            try:
                with safe_open(path, "np") as file:
                    read = {name: file.get_tensor(name) for name in names}
            except (SafetensorError, OSError):
                continue
            found |= {name: one for name, one in read.items() if np.isfinite(one).all()}
        return found

    def add(self, features: Mapping[str, Features]) -> None:
        """Keep the features of some pictures; they are safe when this returns."""
        if not features:
            return
        path = self._folder / f"{secrets.token_hex(8)}.safetensors"
        write_file(path, save({name: np.ascontiguousarray(one) for name, one in features.items()}))
        self._homes.update(dict.fromkeys(features, path))
