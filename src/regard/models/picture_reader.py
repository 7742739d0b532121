"""Pictures of any kind to what a network takes: pixels, or features of a network that is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from ..data.features import FeatureCache, Features
from ..data.pictures import PictureBatch, PictureFile, Pixels, decode_picture
from ..errors import ModelError
from ..nn.pictures import EfficientNetLite0
from .show_attend_tell import BACKBONES, ShowAttendTellConfig

__all__ = ["PictureReader", "load_backbone"]

TOGETHER = 32
"""How many pictures a backbone looks at together."""


@dataclass(frozen=True, eq=False)
class PictureReader:
    """Reads pictures as the training did."""

    config: ShowAttendTellConfig
    device: torch.device
    backbone: EfficientNetLite0 | None = None
    key: str = field(init=False)  # what features are known by: the weights and the size

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self._key())

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of a picture as the network takes it."""
        if self.backbone is None:
            return (3, self.config.side, self.config.side)
        return (self.backbone.channels, self.config.grid, self.config.grid)

    @property
    def kind(self) -> str:
        """The kind of number that a picture is made of."""
        return "uint8" if self.backbone is None else "float16"

    def decode(self, picture: PictureFile) -> Pixels:
        """Return the pixels of a picture; one that cannot be read is an error that names it."""
        return decode_picture(picture, side=self.config.side)

    @torch.no_grad()
    def look(self, pixels: Tensor) -> PictureBatch:
        """Make of pixels, (pictures, 3, side, side), what the network takes, on its device."""
        values = pixels.to(self.device)
        if self.backbone is not None:
            parts = [self.backbone(part) for part in values.split(TOGETHER)]
            # As precise as what is kept on disk, so that a picture is always the same.
            values = torch.cat(parts).half()
        return PictureBatch(values, self.config.grid**2)

    def batch(self, pixels: Sequence[Pixels]) -> PictureBatch:
        """Look at some pictures."""
        return self.look(torch.from_numpy(np.stack(pixels)))

    def cache(self, folder: Path) -> FeatureCache:
        """Open the features that this network has found before."""
        return FeatureCache(folder / self.key, self.shape)

    def features(self, pixels: Sequence[Pixels]) -> list[Features]:
        """Return what the backbone finds in each picture."""
        found: Features = self.batch(pixels).values.cpu().numpy()
        return list(found)

    def _key(self) -> str:
        if self.backbone is None:
            return f"{self.config.encoder}-{self.config.side}"
        digest = blake2b(digest_size=8)
        for name, weight in sorted(self.backbone.state_dict().items()):
            digest.update(name.encode())
            digest.update(weight.detach().float().cpu().numpy().tobytes())
        return f"{self.config.encoder}-{self.config.side}-{digest.hexdigest()}"


def load_backbone(name: str, path: Path | str) -> EfficientNetLite0:
    """Read the weights of a known network from a file of safetensors or of torch.

    A file of torch is a pickle: nothing but numbers is taken out of it, and what else it holds is
    refused. Saved models keep the weights as safetensors.
    """
    network = BACKBONES[name]()
    place = Path(path)
    try:
        weights: Mapping[str, Tensor]
        if place.suffix.lower() == ".safetensors":
            weights = load_file(place)
        else:
            weights = torch.load(place, map_location="cpu", weights_only=True)
        if not isinstance(weights, Mapping):
            raise ModelError(f"{path} holds no weights of a network")
        found = network.load_state_dict(network.rename(weights), strict=False)
    except OSError as problem:
        raise ModelError(f"{path}: {problem.strerror or problem}") from problem
    except ModelError:
        raise
    except (SafetensorError, RuntimeError, ValueError, EOFError, Exception) as problem:
        reason = " ".join(str(problem).split())[:160]
        raise ModelError(f"{path} holds no weights of {name} ({reason})") from problem
    missing = [one for one in found.missing_keys if not one.endswith("num_batches_tracked")]
    if missing or found.unexpected_keys:
        odd = (missing or list(found.unexpected_keys))[0]
        what = "lacks" if missing else "has beyond them"
        raise ModelError(f"{path} does not hold the weights of {name}: it {what} {odd}")
    return network.eval().requires_grad_(False)
