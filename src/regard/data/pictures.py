"""Pictures from files to arrays of bytes: any kind that Pillow reads, upright and in colour.

A picture that cannot be read is an error that names it, and never more than that: whoever reads
many goes on with the others.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import DataError, MissingExtra

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "MOST_PIXELS",
    "Given",
    "PictureBatch",
    "PictureFile",
    "PictureHead",
    "Pixels",
    "decode_picture",
    "draw_small",
    "measure_picture",
    "open_picture",
    "require_pillow",
]

MOST_PIXELS = 100_000_000
"""A picture of more is not read: a small file can hold one that fills all memory."""
SHOWN_SIDE = 512
"""How many pixels the longer side of a picture on a page has, at most."""

Pixels = NDArray[np.uint8]
"""A picture as bytes, (3, side, side): red, green and blue."""
Given = object
"""A picture as Python hands it over: a path, the bytes of a file, an array or one of Pillow's."""


@dataclass(frozen=True, slots=True, eq=False)
class PictureBatch:
    """Pictures, or the maps of features that were made of them."""

    values: Tensor  # (pictures, channels, rows, columns)
    cells: int  # how many places of each can be looked at

    def __len__(self) -> int:
        """How many pictures there are."""
        return self.values.shape[0]

    @property
    def token_count(self) -> int:
        """How many cells all pictures have together."""
        return len(self) * self.cells

    @property
    def item_counts(self) -> Tensor:
        """How many cells each picture has, (pictures,)."""
        return torch.full((len(self),), self.cells, device=self.values.device)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The numbers the pictures are made of."""
        return (self.values,)

    def to(self, device: torch.device | str) -> PictureBatch:
        """The same pictures on ``device``."""
        return replace(self, values=self.values.to(device))


@dataclass(frozen=True, slots=True)
class PictureFile:
    """The bytes of a picture's file, and what it is called."""

    name: str
    content: bytes

    @property
    def digest(self) -> str:
        """What the picture is known by: the same for the same bytes alone."""
        return blake2b(self.content, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class PictureHead:
    """What the head of a picture's file says of it."""

    kind: str  # "JPEG", "PNG", ...
    width: int
    height: int


def require_pillow() -> None:
    """Say which extra is missing where there is no Pillow; before any work is done."""
    try:
        import PIL  # noqa: F401
    except ImportError as problem:
        raise MissingExtra("pillow", "images", "reading pictures") from problem


def open_picture(given: Given, *, name: str = "", folder: Path | None = None) -> PictureFile:
    """Take a picture in whatever form it comes; its pixels are not looked at yet.

    A path is read below ``folder``, if there is one.
    """
    if isinstance(given, PictureFile):
        return given
    if isinstance(given, bytes | bytearray | memoryview):
        return PictureFile(name or "picture", bytes(given))
    if isinstance(given, str | Path):
        path = Path(given) if folder is None else folder / given
        try:
            return PictureFile(name or str(given), path.read_bytes())
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise DataError(f"{path}: {reason}") from problem
    return PictureFile(name or "picture", _written(given, name))


_KEPT = ("1", "L", "LA", "I", "I;16", "P", "RGB", "RGBA")
"""The modes of Pillow that a PNG file can hold."""


def _written(given: object, name: str) -> bytes:
    """What a picture of Pillow or an array would be as a file, without loss; upright."""
    require_pillow()
    from PIL import Image, ImageOps

    if not isinstance(given, Image.Image):
        array = np.asarray(given)
        if array.dtype != np.uint8 or array.ndim not in (2, 3) or array.shape[2:] not in ((), (3,)):
            raise DataError(
                f"{name or 'a picture'} is an array of {array.dtype} and shape {array.shape}; give "
                "bytes of shape (height, width, 3), a path, or the bytes of a file"
            )
        given = Image.fromarray(array)
    file = io.BytesIO()
    with _naming(PictureFile(name or "a picture", b"")):
        # A PNG file says nothing of a camera that was held sideways.
        upright = ImageOps.exif_transpose(given)
        kept = upright if upright.mode in _KEPT else _in_colour(upright)
        kept.save(file, "PNG")
    return file.getvalue()


def measure_picture(picture: PictureFile) -> PictureHead:
    """Return what the head of a picture's file says of it; no pixel of it is decoded."""
    with _naming(picture):
        image = _open_head(picture)
        return PictureHead(image.format or "", image.width, image.height)


def decode_picture(picture: PictureFile, *, side: int) -> Pixels:
    """Return a picture as a square of pixels, all of it, upright and in colour.

    What is transparent becomes white. A file that is no picture, is cut off, or holds more than
    ``MOST_PIXELS`` is an error that names it.
    """
    with _Opened(picture, side) as image:
        from PIL.Image import Resampling

        square = image.resize((side, side), Resampling.BICUBIC)
        return np.ascontiguousarray(np.asarray(square, np.uint8).transpose(2, 0, 1))


def draw_small(picture: PictureFile, *, longest: int = SHOWN_SIDE) -> tuple[bytes, int, int]:
    """Return a picture as a small JPEG file to stand on a page, with its width and height."""
    with _Opened(picture, longest) as image:
        image.thumbnail((longest, longest))
        file = io.BytesIO()
        image.save(file, "JPEG", quality=85)
        return file.getvalue(), image.width, image.height


class _Opened:
    """Opens a picture, upright and in colour; whatever goes wrong names it."""

    def __init__(self, picture: PictureFile, side: int) -> None:
        self._picture, self._side = picture, side

    def __enter__(self) -> Image:
        with _naming(self._picture):
            from PIL import ImageOps

            image = _open_head(self._picture)
            pixels = image.width * image.height
            if pixels > MOST_PIXELS:
                raise DataError(
                    f"{self._picture.name}: {image.width:,} by {image.height:,} pixels; at "
                    f"most {MOST_PIXELS:,} are read"
                )
            # A JPEG file can be read smaller, which takes a fraction of time and memory.
            image.draft("RGB", (2 * self._side, 2 * self._side))
            return _in_colour(ImageOps.exif_transpose(image))

    def __exit__(self, *problem: object) -> None:
        pass


def _open_head(picture: PictureFile) -> Image:
    """Open a picture without looking at its pixels."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture.content))
    if image.format == "EPS":  # Pillow would start another program to run it
        raise DataError(f"{picture.name}: a program that draws, not a picture; save it as PNG")
    return image


@contextmanager
def _naming(picture: PictureFile) -> Iterator[None]:
    """Make whatever goes wrong with a picture an error that names it."""
    require_pillow()
    from PIL import UnidentifiedImageError

    # Its own limit warns first and fails later; ours is one, and looked at before decoding.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (DataError, MemoryError):
            raise
        except Exception as problem:  # Pillow raises whatever a broken file leads to
            reason = " ".join(str(problem).split())[:120] or type(problem).__name__
            if isinstance(problem, UnidentifiedImageError):
                reason = "no picture, or of a kind that cannot be read"
            raise DataError(f"{picture.name}: {reason}") from problem


def _in_colour(image: Image) -> Image:
    from PIL import Image as images

    if image.mode.startswith("I") or image.mode == "F":
        # Sixteen bits, or no bounds at all: from the darkest to the lightest that there is.
        values = np.asarray(image, np.float64)
        least, most = float(values.min()), float(values.max())
        scaled = (values - least) * (255 / (most - least)) if most > least else values * 0
        return images.fromarray(scaled.astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        clear = image.convert("RGBA")
        white = images.new("RGBA", clear.size, (255, 255, 255, 255))
        return images.alpha_composite(white, clear).convert("RGB")
    return image.convert("RGB")
