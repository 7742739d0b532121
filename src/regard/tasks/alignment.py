"""How sharply a translator looks, and how near that comes to the links that people drew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..errors import ConfigError, DataError
from ..records.alignment import Alignment
from ..records.translation import AlignmentScores, GoldLinks, Link

__all__ = ["links_of", "mean_effective_count", "score_links"]


def mean_effective_count(alignments: Iterable[Alignment]) -> float | None:
    """Return how many pieces of the source counted for a written piece, in the mean.

    The mean is over the steps of all texts together; None where nothing was written.
    """
    counts = [alignment.effective_counts for alignment in alignments]
    steps = np.concatenate(counts) if counts else np.zeros(0)
    return float(steps.mean()) if len(steps) else None


def links_of(alignment: Alignment, *, threshold: float | None = None) -> frozenset[Link]:
    """Return which words belong together by the weights; words stand between white space.

    Each word of the target is linked to the heaviest of the source, or, with a threshold, to all
    of at least that weight.
    """
    weights = alignment.by_words().weights
    if threshold is not None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold must be above 0 and at most 1, got {threshold}")
        chosen = weights >= threshold
    else:
        chosen = np.zeros(weights.shape, dtype=bool)
        if weights.size:
            chosen[np.arange(len(weights)), weights.argmax(1)] = True
    # A word that has no piece at all has looked at nothing.
    return frozenset(
        (source, target) for target, source in np.argwhere(chosen & (weights > 0)).tolist()
    )


def score_links(found: Sequence[frozenset[Link]], gold: Sequence[GoldLinks]) -> AlignmentScores:
    """Score links against those of people, over all pairs together (Och and Ney, 2003).

    Where there is nothing to find, all of it was found; where nothing was found, nothing is wrong.
    """
    if len(found) != len(gold):
        raise DataError(f"links of {len(found):,} pairs do not fit {len(gold):,} lines of links")
    both = list(zip(found, gold, strict=True))
    links = sum(map(len, found))
    sure = sum(len(known.sure) for known in gold)
    sure_found = sum(len(links & known.sure) for links, known in both)
    possible_found = sum(len(links & known.possible) for links, known in both)
    return AlignmentScores(
        pairs=len(both),
        links=links,
        precision=possible_found / links if links else 1.0,
        recall=sure_found / sure if sure else 1.0,
        error_rate=1 - (sure_found + possible_found) / (links + sure) if links + sure else 0.0,
    )
