"""Dropout, and how to switch it off for a while.

On a CPU what is drawn depends on a seed and a place, not on the threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from ..kernels import cpu

__all__ = ["draw_words", "drop", "in_evaluation", "plain_drop"]

_WORD = (1 << 32) - 1  # the largest number of 32 bits
_COUNTERS = 16  # that lie side by side


def drop(values: Tensor, share: float, training: bool) -> Tensor:
    """In training, make a share of the numbers zero and the rest larger to make up for it.

    On a CPU torch's generator is asked for one number, from which all others follow; elsewhere
    torch draws them.
    """
    if not training or share == 0 or values.device.type != "cpu":
        return dropout(values, share, training)
    seed = int(torch.randint(_WORD << 31, ()))
    draw = cpu.Draw(seed, threshold=min(round(share * 2**32), _WORD), scale=1 / (1 - share))
    return cpu.drop(values, draw) if cpu.can_compute(values) else plain_drop(values, draw)


def plain_drop(values: Tensor, draw: cpu.Draw) -> Tensor:
    """Do what ``drop`` does with torch alone, in any floating type."""
    words = draw_words(values.numel(), draw.seed).view(values.shape)
    return (values * draw.scale).masked_fill(words < draw.threshold, 0)


def draw_words(count: int, seed: int) -> Tensor:
    """Draw numbers of 32 bits from a seed of 64, (count,), each known by its place alone.

    It is Philox with ten rounds (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2,
    3"). A counter gives four words; of every sixteen counters the first words come first, then
    the second ones, so that vectors of a processor can be stored as they are.
    """
    groups = -(-count // (4 * _COUNTERS))
    counter = torch.arange(groups * _COUNTERS)
    nothing = torch.zeros_like(counter)
    words = (counter & _WORD, counter >> 32, nothing, nothing)
    keys = (seed & _WORD, seed >> 32 & _WORD)
    for _ in range(10):
        first, second = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = (
            (second >> 32 & _WORD) ^ words[1] ^ keys[0],
            second & _WORD,
            (first >> 32 & _WORD) ^ words[3] ^ keys[1],
            first & _WORD,
        )
        keys = (keys[0] + 0x9E3779B9 & _WORD, keys[1] + 0xBB67AE85 & _WORD)
    together = torch.stack(words).view(4, groups, _COUNTERS)
    return together.transpose(0, 1).flatten()[:count]


@contextmanager
def in_evaluation(module: nn.Module) -> Iterator[None]:
    """Switch dropout off for a while; nothing is written on a module where it is off already.

    Many threads may therefore ask one fitted network at once.
    """
    learning = [part for part in module.modules() if part.training]
    for part in learning:
        part.training = False
    try:
        yield
    finally:
        for part in learning:
            part.training = True
