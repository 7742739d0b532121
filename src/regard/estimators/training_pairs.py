"""Pairs of texts to what a translator is fitted on, and the judge of how good it is meanwhile.

Fitted on: ids of both sides and vocabularies, with settings that suit so many pairs where nothing
else was asked for. Judged: by the loss of each token, and by what it writes freely.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from ..config import Plain
from ..data.fingerprints import fingerprint
from ..data.pairs import EncodedPairs, PairBatch, StoredPairs, encode_pairs
from ..data.splits import split_by_group
from ..errors import DataError
from ..models.base import PairModel
from ..tasks.generate import GenerationConfig, TokenLoss, generate
from ..tasks.translations import BLEU_COUNTS, bleu_counts, bleu_of_counts, require_sacrebleu
from ..text.units import Units, UnitsConfig, build_units
from ..training.batches import Batches
from ..training.devices import device_of
from ..training.seeds import derived_seed
from ..training.teams import Team, batches_to_judge
from .fitting import FEWEST_TO_SPLIT, Holdout
from .saved import TranslatorSettings

__all__ = [
    "FEW_PAIRS",
    "MOST_WRITTEN",
    "Fixed",
    "PairJudge",
    "PreparedPairs",
    "prepare_pairs",
    "suit_pairs",
]


@dataclass(frozen=True, eq=False)
class PreparedPairs:
    """Everything a fit needs of its pairs."""

    training: EncodedPairs
    validation: EncodedPairs | None  # None where nothing is held out
    source_units: Units
    target_units: Units
    left_out: int  # training pairs with an empty side, or one that is too long


def prepare_pairs(
    pairs: StoredPairs,
    validation: StoredPairs | None,
    *,
    units: UnitsConfig,
    holdout: Holdout,
    folder: Path,
) -> PreparedPairs:
    """Hold some pairs out, build the vocabularies from the others alone, and cut all to pieces.

    The ids lie in files below ``folder``, as the texts do in theirs: neither must fit into memory.
    """
    training, held_out = _sides(pairs, validation, holdout)
    sources, targets = _vocabularies(training, units)

    def encode(side: StoredPairs, name: str) -> EncodedPairs:
        return encode_pairs(side, sources, targets, folder / name, longest=units.longest)

    kept = encode(training, "training")
    if not len(kept):
        raise DataError(
            f"none of the {len(training):,} pairs can be trained on: each has an empty side, or "
            f"one of more than {units.longest} pieces; see units.longest"
        )
    judged = None
    if held_out is not None:
        judged = encode(held_out, "validation")
        if not len(judged):
            raise DataError("none of the pairs to validate on can be used: empty, or too long")
    return PreparedPairs(kept, judged, sources, targets, len(training) - len(kept))


def _sides(
    pairs: StoredPairs, validation: StoredPairs | None, holdout: Holdout
) -> tuple[StoredPairs, StoredPairs | None]:
    """The pairs to train on, and those to validate on; a source is on one side only."""
    if not len(pairs):
        raise DataError("there are no pairs to train on")
    if validation is not None:
        if not len(validation):
            raise DataError("there are no pairs to validate on; leave them out or give some")
        return pairs, validation
    if holdout.fraction == 0 or len(pairs) < FEWEST_TO_SPLIT:
        return pairs, None
    groups = np.fromiter((fingerprint(pair.source) for pair in pairs), np.uint64, len(pairs))
    if len(np.unique(groups)) < 2:
        return pairs, None
    seed = derived_seed(holdout.seed, "validation")
    split = split_by_group(groups, holdout.fraction, seed=seed)
    return pairs.choose(split.training), pairs.choose(split.validation)


def _vocabularies(pairs: StoredPairs, config: UnitsConfig) -> tuple[Units, Units]:
    sources = (pair.source for pair in pairs)
    targets = (pair.target for pair in pairs)
    if config.shared:
        both = build_units(itertools.chain(sources, targets), config)
        return both, both
    return build_units(sources, config), build_units(targets, config)


MOST_WRITTEN = 2000
"""How many validation pairs are written about after an epoch, at most; the loss is of all."""


@dataclass(frozen=True, slots=True, eq=False)
class PairJudge:
    """Judges by the loss of the true tokens and, if asked, by BLEU of greedy, free writing.

    What is written is compared with the references as the target's pieces spell them.
    """

    names: ClassVar[tuple[str, ...]] = ("loss", "bleu")

    units: Units  # of the targets
    generation: GenerationConfig
    bleu: bool = True

    def __post_init__(self) -> None:
        if self.bleu:
            require_sacrebleu()

    def __call__(
        self, model: PairModel, batches: Batches[PairBatch], team: Team
    ) -> dict[str, float]:
        """Score the model, without dropout, on its share of the batches."""
        model.eval()
        sums = torch.zeros(2, dtype=torch.float64, device=device_of(model))
        counts, seen = np.zeros(BLEU_COUNTS), 0
        for batch in batches_to_judge(model, batches, team):
            with torch.no_grad():
                cost = TokenLoss()(model, batch)
            sums += torch.stack([cost.total, cost.weight.to(cost.total)])
            if self.bleu and seen * team.size < MOST_WRITTEN:
                counts += self._count_written(model, batch)
                seen += len(batch)
        if not self.bleu:
            total, weight = team.add_up(sums).tolist()
            return {"loss": total / weight}
        everything = torch.cat([sums, torch.from_numpy(counts).to(sums)])
        total, weight, *shared = team.add_up(everything).tolist()
        return {"loss": total / weight, "bleu": bleu_of_counts(np.array(shared))}

    def _count_written(self, model: PairModel, batch: PairBatch) -> NDArray[np.float64]:
        """What BLEU is made of, for the pairs of a batch."""
        written = generate(model, batch.source, self.generation)
        texts = [self.units.decode(candidates[0].ids.tolist()) for candidates in written]
        references = [self.units.decode(row.tolist()) for row in batch.target.to("cpu").rows()]
        return bleu_counts(texts, references)


Fixed = Collection[str] | Literal["all"]
"""Settings that stay as they are, such as ``training.epochs``."""

FEW_PAIRS: dict[int, Mapping[str, Plain]] = {
    2_000: {
        "network.embedding_size": 64,
        "network.hidden_size": 128,
        "network.layers": 1,
        "units.size": 1000,
        "training.batch_size": 16,
        "training.learning_rate": 2e-3,
        "training.epochs": 40,
    },
    6_000: {
        "network.embedding_size": 64,
        "network.hidden_size": 128,
        "network.layers": 1,
        "units.size": 2000,
        "training.batch_size": 16,
        "training.learning_rate": 2e-3,
    },
    20_000: {
        "network.embedding_size": 128,
        "network.hidden_size": 256,
        "network.layers": 1,
        "units.size": 4000,
        "training.batch_size": 32,
    },
}
"""What suits at most so many pairs; more than the last have the usual settings.

Few pairs need small steps on small batches, or the weights hardly move, and few pieces, or most
are met too rarely to be learned. ``benchmarks/few_pairs.py`` compared each row with the usual
settings on one number of pairs (1,500, 3,000 and 10,000 of Multi30k, English to German), for a
minute each; single settings of a row, and longer trainings, were not compared.
"""


def suit_pairs(
    asked: TranslatorSettings, usual: TranslatorSettings, *, pairs: int, fixed: Fixed = ()
) -> tuple[TranslatorSettings, dict[str, Plain]]:
    """Choose the settings that are still the usual ones by the number of pairs; say which.

    A setting that was changed stays, and so does one that is ``fixed``. A network of which anything
    was changed stays whole: its sizes belong together.
    """
    limit = next((most for most in FEW_PAIRS if pairs <= most), None)
    chosen: dict[str, Plain] = {}
    if limit is None or fixed == "all":
        return asked, chosen
    before, ours = asked.to_dict(), usual.to_dict()
    own_network = before["network"] != ours["network"]
    for path, value in FEW_PAIRS[limit].items():
        part, _, name = path.partition(".")
        # How many words are enough is another matter than how many parts of words.
        by_words = path == "units.size" and asked.units.kind != "subwords"
        applies = not by_words and not (part == "network" and own_network)
        if applies and path not in fixed and before[part][name] == ours[part][name] != value:
            chosen[path] = value
            settings = replace(getattr(asked, part), **{name: value})
            asked = replace(asked, **{part: settings})
    return asked, chosen
