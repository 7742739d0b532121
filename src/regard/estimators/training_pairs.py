"""Pairs of texts to what a translator can be fitted on: ids of both sides, and vocabularies."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.fingerprints import fingerprint
from ..data.pairs import EncodedPairs, Pair
from ..data.splits import split_by_group
from ..errors import DataError
from ..models.reader import chunks
from ..text.units import Units, UnitsConfig, build_units
from ..training.seeds import derived_seed
from .fitting import FEWEST_TO_SPLIT, Holdout

__all__ = ["PreparedPairs", "prepare_pairs"]


@dataclass(frozen=True, eq=False)
class PreparedPairs:
    """Everything a fit needs of its pairs."""

    training: EncodedPairs
    validation: EncodedPairs | None  # None where nothing is held out
    source_units: Units
    target_units: Units
    left_out: int  # training pairs with an empty side, or one that is too long


def prepare_pairs(
    pairs: Iterable[Pair],
    validation: Iterable[Pair] | None,
    *,
    units: UnitsConfig,
    holdout: Holdout,
) -> PreparedPairs:
    """Hold some pairs out, build the vocabularies from the others alone, and cut all to pieces."""
    training, held_out = _sides(list(pairs), validation, holdout)
    sources, targets = _vocabularies(training, units)
    kept, left_out = _encoded(training, sources, targets, longest=units.longest)
    if not len(kept):
        raise DataError(
            f"none of the {len(training):,} pairs can be trained on: each has an empty side, or "
            f"one of more than {units.longest} pieces; see units.longest"
        )
    judged = None
    if held_out:
        judged, _ = _encoded(held_out, sources, targets, longest=units.longest)
        if not len(judged):
            raise DataError("none of the pairs to validate on can be used: empty, or too long")
    return PreparedPairs(kept, judged, sources, targets, left_out)


def _sides(
    pairs: Sequence[Pair], validation: Iterable[Pair] | None, holdout: Holdout
) -> tuple[Sequence[Pair], Sequence[Pair]]:
    """The pairs to train on, and those to validate on; a source is on one side only."""
    if not pairs:
        raise DataError("there are no pairs to train on")
    if validation is not None:
        held_out = list(validation)
        if not held_out:
            raise DataError("there are no pairs to validate on; leave them out or give some")
        return pairs, held_out
    if holdout.fraction == 0 or len(pairs) < FEWEST_TO_SPLIT:
        return pairs, ()
    groups = np.array([fingerprint(pair.source) for pair in pairs], dtype=np.uint64)
    if len(np.unique(groups)) < 2:
        return pairs, ()
    seed = derived_seed(holdout.seed, "validation")
    split = split_by_group(groups, holdout.fraction, seed=seed)
    return [pairs[place] for place in split.training], [pairs[place] for place in split.validation]


def _vocabularies(pairs: Sequence[Pair], config: UnitsConfig) -> tuple[Units, Units]:
    sources = (pair.source for pair in pairs)
    targets = (pair.target for pair in pairs)
    if config.shared:
        both = build_units(itertools.chain(sources, targets), config)
        return both, both
    return build_units(sources, config), build_units(targets, config)


def _encoded(
    pairs: Sequence[Pair], sources: Units, targets: Units, *, longest: int
) -> tuple[EncodedPairs, int]:
    """Cut the pairs to pieces; return them, and how many were left out."""
    read: list[NDArray[np.int32]] = []
    written: list[NDArray[np.int32]] = []
    for chunk in chunks(pairs):
        both = zip(
            sources.encode([pair.source for pair in chunk]),
            targets.encode([pair.target for pair in chunk]),
            strict=True,
        )
        for source, target in both:
            if 0 < len(source.ids) <= longest and 0 < len(target.ids) <= longest:
                read.append(source.ids)
                written.append(target.ids)
    return EncodedPairs(read, written), len(pairs) - len(read)
