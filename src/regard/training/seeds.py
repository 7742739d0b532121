"""Every random draw of a training, from one seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["derived_seed", "seeded"]


def derived_seed(seed: int, *purpose: str | int) -> int:
    """Return the seed of one purpose, unlike any other's: ``derived_seed(0, "weights")``."""
    path = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.blake2b(path.encode(), digest_size=8).digest()) >> 1


@contextmanager
def seeded(seed: int, device: torch.device | str = "cpu") -> Iterator[None]:
    """Let torch draw from ``seed`` inside, and leave the caller's random state as it was."""
    device = torch.device(device)
    cuda = device.type == "cuda"
    with torch.random.fork_rng([device] if cuda else []):
        torch.default_generator.manual_seed(seed)
        if cuda:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        yield
