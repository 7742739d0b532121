"""Pictures to a map of features, one vector for each cell of a grid; the map is never flattened.

A small network is trained from scratch with what reads it. EfficientNet-Lite0, which was trained
on ImageNet, is used as it is: its weights come from a file.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate, pad

__all__ = ["EfficientNetLite0", "FineEfficientNetLite0", "SmallCNN"]


class SmallCNN(nn.Module):
    """Halves a picture several times: (pictures, 3, side, side) to a map of features.

    A cell of the map sees its own square and what lies around it, and the norms see all of the
    picture. Where cells are looked at ``alone``, the pixels of each go through layers of their
    own: then nothing but its square can be known from a cell, and a weight on it means that place.
    """

    def __init__(self, channels: int, halvings: int, *, alone: bool = False) -> None:
        super().__init__()
        self.halvings = halvings
        self.layers = nn.Sequential(*(_apart if alone else _halving)(channels, halvings))

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the map, (pictures, channels, rows, columns), of bytes from 0 to 255."""
        found: Tensor = self.layers(pictures.to(self._dtype) / 127.5 - 1)
        return found

    @property
    def _dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype


def _halving(channels: int, halvings: int) -> Iterator[nn.Module]:
    """Layers that halve a side one after the other, and a last one that looks around."""
    sizes = [3, *(max(16, channels >> (halvings - 1 - step)) for step in range(halvings - 1))]
    for before, after in itertools.pairwise([*sizes, channels]):
        yield nn.Conv2d(before, after, 3, stride=2, padding=1)
        yield nn.GroupNorm(4 if after % 4 == 0 else 1, after)  # the same alone as in company
        yield nn.ReLU()
    yield nn.Conv2d(channels, channels, 3, padding=1)
    yield nn.ReLU()


def _apart(channels: int, halvings: int) -> Iterator[nn.Module]:
    """Layers that see all pixels of one cell, and nothing else."""
    cell = 2**halvings
    yield nn.Conv2d(3, 2 * channels, cell, stride=cell)
    yield nn.ReLU()
    yield nn.Conv2d(2 * channels, channels, 1)
    yield nn.ReLU()
    yield nn.Conv2d(channels, channels, 1)
    yield nn.ReLU()


_STAGES = (
    # repeats, kernel, stride, expansion, channels before, channels after
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)
_LAST = 1280  # features of a cell of the last map
_HALF_WAY = 11  # blocks up to the last whose cells are half as wide as those of the last map
_FORMER = (
    # How files call the parts: those of the first PyTorch version of these networks.
    (r"^_conv_stem\.", "stem.conv."),
    (r"^_bn0\.", "stem.norm."),
    (r"^_conv_head\.", "head.conv."),
    (r"^_bn1\.", "head.norm."),
    (r"^_blocks\.(\d+)\._expand_conv\.", r"blocks.\1.expand.conv."),
    (r"^_blocks\.(\d+)\._bn0\.", r"blocks.\1.expand.norm."),
    (r"^_blocks\.(\d+)\._depthwise_conv\.", r"blocks.\1.depthwise.conv."),
    (r"^_blocks\.(\d+)\._bn1\.", r"blocks.\1.depthwise.norm."),
    (r"^_blocks\.(\d+)\._project_conv\.", r"blocks.\1.project.conv."),
    (r"^_blocks\.(\d+)\._bn2\.", r"blocks.\1.project.norm."),
)
_NOT_NEEDED = re.compile(r"^_fc\.|\.num_batches_tracked$")  # classes of ImageNet, steps of training


class EfficientNetLite0(nn.Module):
    """EfficientNet-Lite0 up to its last map of features (Tan and Le, 2019; Google, 2020).

    One cell for each 32 pixels of a side, with 1280 features.
    """

    channels = _LAST
    cell = 32  # pixels

    def __init__(self) -> None:
        super().__init__()
        self.stem = _Convolution(3, 32, kernel=3, stride=2)
        blocks: list[nn.Module] = []
        for repeats, kernel, stride, expansion, before, after in _STAGES:
            for number in range(repeats):
                blocks.append(
                    _InvertedBottleneck(
                        before if number == 0 else after,
                        after,
                        kernel=kernel,
                        stride=stride if number == 0 else 1,
                        expansion=expansion,
                    )
                )
        self.blocks = nn.Sequential(*blocks)
        self.head = _Convolution(320, _LAST)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the map, (pictures, 1280, rows, columns), of bytes from 0 to 255."""
        found: Tensor = self.head(self.blocks(self._stem(pictures)))
        return found

    def _stem(self, pictures: Tensor) -> Tensor:
        values = (pictures.to(self.head.conv.weight.dtype) - 127.0) / 128.0
        found: Tensor = self.stem(values)
        return found

    @staticmethod
    def rename(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return weights by the names they have here, without the layer that names classes."""
        renamed: dict[str, Tensor] = {}
        for name, weight in weights.items():
            if _NOT_NEEDED.search(name):
                continue
            for former, now in _FORMER:
                name = re.sub(former, now, name)
            renamed[name] = weight
        return renamed


class FineEfficientNetLite0(EfficientNetLite0):
    """The same network with four times as many cells, one for each 16 pixels of a side.

    A cell has the 112 features of the map in the middle of the network, which has as many cells,
    and the 1280 of the cell of the last map that it lies in.
    """

    channels = 112 + _LAST
    cell = 16

    def forward(self, pictures: Tensor) -> Tensor:
        """Return the map, (pictures, 1392, rows, columns), of bytes from 0 to 255."""
        near = self.blocks[:_HALF_WAY](self._stem(pictures))
        far = self.head(self.blocks[_HALF_WAY:](near))
        return torch.cat([near, interpolate(far, near.shape[-2:])], 1)


class _Convolution(nn.Module):
    """A convolution with as many pixels as stride allows, a norm, and mostly ReLU6."""

    def __init__(
        self,
        before: int,
        after: int,
        *,
        kernel: int = 1,
        stride: int = 1,
        groups: int = 1,
        active: bool = True,
    ) -> None:
        super().__init__()
        self.kernel, self.stride, self.active = kernel, stride, active
        self.conv = nn.Conv2d(before, after, kernel, stride, groups=groups, bias=False)
        self.norm = nn.BatchNorm2d(after, eps=1e-3)

    def forward(self, values: Tensor) -> Tensor:
        height, width = (self._padding(side) for side in values.shape[-2:])
        made = self.norm(self.conv(pad(values, (*width, *height))))
        return torch.clamp(made, 0, 6) if self.active else made

    def _padding(self, side: int) -> tuple[int, int]:
        """Pixels before and behind; what is left over stands behind, as in TensorFlow."""
        total = max((-(-side // self.stride) - 1) * self.stride + self.kernel - side, 0)
        return total // 2, total - total // 2


class _InvertedBottleneck(nn.Module):
    """Widens, looks at each channel alone, and narrows again (Sandler et al., 2018)."""

    def __init__(
        self, before: int, after: int, *, kernel: int, stride: int, expansion: int
    ) -> None:
        super().__init__()
        wide = before * expansion
        self.expand = _Convolution(before, wide) if expansion > 1 else None
        self.depthwise = _Convolution(wide, wide, kernel=kernel, stride=stride, groups=wide)
        self.project = _Convolution(wide, after, active=False)
        self.skips = stride == 1 and before == after

    def forward(self, values: Tensor) -> Tensor:
        wide = values if self.expand is None else self.expand(values)
        made: Tensor = self.project(self.depthwise(wide))
        return values + made if self.skips else made
