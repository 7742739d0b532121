"""Pictures with captions to what a captioner is fitted on, and the judge of how good it is.

Each picture is looked at once, however many captions it has; one that cannot be read is left out
and named. Judged: by the loss of each word, and by what is written freely about each picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.captions import Captioned, EncodedCaptions
from ..data.corpus.store import ArrayFiles, map_array
from ..data.features import FeatureCache
from ..data.pictures import PictureBatch, PictureFile
from ..data.splits import split_by_group
from ..errors import DataError
from ..models.base import WritingModel
from ..models.picture_reader import PictureReader
from ..models.show_attend_tell import CaptionBatch
from ..tasks.captions import caption_bleu_counts, require_caption_bleu
from ..tasks.generate import GenerationConfig, TokenLoss, generate
from ..tasks.translations import BLEU_COUNTS, bleu_of_counts
from ..text.units import Units, UnitsConfig, build_units
from ..text.vocab import cut_texts
from ..training.batches import Batches
from ..training.devices import device_of
from ..training.seeds import derived_seed
from ..training.teams import Team, batches_to_judge
from .fitting import FEWEST_TO_SPLIT, Holdout

__all__ = [
    "CaptionJudge",
    "PreparedCaptions",
    "SeenPictures",
    "look_at_pictures",
    "prepare_captions",
]

LOOKED_TOGETHER = 64
"""How many pictures are looked at together, and kept together on disk."""
MOST_WRITTEN = 1000
"""How many validation pictures are written about after an epoch, at most; the loss is of all."""


@dataclass(eq=False)
class SeenPictures:
    """Pictures in a mapped file as a network takes them, with their captions and their faults."""

    pictures: np.ndarray  # (pictures, channels, rows, columns)
    places: list[int] = field(default_factory=list)  # the picture of each caption
    captions: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # pictures that cannot be read, and why

    @property
    def references(self) -> list[list[str]]:
        """All captions of each picture."""
        found: list[list[str]] = [[] for _ in range(len(self.pictures))]
        for place, caption in zip(self.places, self.captions, strict=True):
            found[place].append(caption)
        return found


def look_at_pictures(
    given: Iterable[Captioned], reader: PictureReader, folder: Path, *, kept: Path | None = None
) -> SeenPictures:
    """Look at each picture once and write what the network takes of it to a file in ``folder``.

    Features of a backbone are taken from ``kept`` where they are known, and added where not.
    """
    seen = SeenPictures(np.zeros(0))
    numbers: dict[str, int | None] = {}  # by digest; None: cannot be read
    cache = None if kept is None or reader.backbone is None else reader.cache(kept)
    with ArrayFiles(folder, {"pictures": reader.kind}) as files:
        looking = _Looking(reader, cache, files)
        for one, picture in _opened(given, seen):
            if picture.digest not in numbers:
                try:
                    numbers[picture.digest] = looking.add(picture)
                except DataError as problem:
                    numbers[picture.digest] = None
                    seen.left_out.append(str(problem))
            place = numbers[picture.digest]
            if place is not None and one.caption is not None:
                seen.places.append(place)
                seen.captions.append(one.caption)
        looking.flush()
    flat = map_array(folder, "pictures", reader.kind)
    seen.pictures = flat.reshape(-1, *reader.shape)
    return seen


def _opened(
    given: Iterable[Captioned], seen: SeenPictures
) -> Iterator[tuple[Captioned, PictureFile]]:
    """Read the file of each picture, once where captions of a picture follow each other."""
    before: Captioned | None = None
    picture: PictureFile | None = None
    told: set[str] = set()  # a picture that is missing is so for each of its captions
    for one in given:
        if before is None or one.picture is not before.picture:
            try:
                picture = one.open()
            except DataError as problem:
                picture = None
                if str(problem) not in told:
                    seen.left_out.append(str(problem))
                told.add(str(problem))
        before = one
        if picture is not None:
            yield one, picture


class _Looking:
    """Gathers pictures until there are some to be looked at together."""

    def __init__(
        self, reader: PictureReader, cache: FeatureCache | None, files: ArrayFiles
    ) -> None:
        self._reader, self._cache, self._files = reader, cache, files
        self._count = 0
        self._waiting: dict[str, np.ndarray | None] = {}  # pixels; None: features are kept

    def add(self, picture: PictureFile) -> int:
        """Take a picture, and return its number; one that cannot be read is an error."""
        known = self._cache is not None and picture.digest in self._cache
        self._waiting[picture.digest] = None if known else self._reader.decode(picture)
        self._count += 1
        if len(self._waiting) == LOOKED_TOGETHER:
            self.flush()
        return self._count - 1

    def flush(self) -> None:
        """Look at all that wait, and write them down in their order."""
        waiting, self._waiting = self._waiting, {}
        if self._reader.backbone is None:
            for pixels in waiting.values():
                assert pixels is not None  # pixels are never kept
                self._files.write("pictures", pixels)
            return
        found = {} if self._cache is None else self._cache.read(list(waiting))
        fresh = {
            digest: pixels
            for digest, pixels in waiting.items()
            if digest not in found and pixels is not None
        }
        lost = [digest for digest in waiting if digest not in found and digest not in fresh]
        if lost:
            raise DataError("kept features were removed while they were in use; start again")
        if fresh:
            made = self._reader.features(list(fresh.values()))
            new = dict(zip(fresh, made, strict=True))
            if self._cache is not None:
                self._cache.add(new)
            found |= new
        for digest in waiting:
            self._files.write("pictures", found[digest])


@dataclass(frozen=True, eq=False)
class PreparedCaptions:
    """Everything a fit needs of its captions."""

    training: EncodedCaptions
    validation: EncodedCaptions | None  # None where nothing is held out
    references: Sequence[Sequence[str]]  # of each picture that is held out
    units: Units
    pictures: int  # to train on
    left_out: tuple[str, ...]  # pictures that cannot be read, and why
    captions_left_out: int  # empty, or too long


def prepare_captions(
    seen: SeenPictures,
    validation: SeenPictures | None,
    *,
    units: UnitsConfig,
    holdout: Holdout,
    cells: int,
) -> PreparedCaptions:
    """Hold some pictures out, build the vocabulary from the captions of the others, and cut all."""
    if not seen.captions:
        reason = f"; {seen.left_out[0]}" if seen.left_out else ""
        raise DataError(f"there are no pictures with captions to train on{reason}")
    if validation is not None and not validation.captions:
        raise DataError("there are no pictures to validate on; leave them out or give some")
    places = np.array(seen.places, dtype=np.int64)
    training, held_out = _sides(places, validation, holdout)
    texts = [seen.captions[one] for one in training]
    vocabulary = build_units(texts, units)

    def encode(
        pictures: np.ndarray, about: NDArray[np.int64], some: Sequence[str]
    ) -> EncodedCaptions:
        pieces = [cut.ids for cut in cut_texts(some, vocabulary)]
        fits = [place for place, ids in enumerate(pieces) if 0 < len(ids) <= units.longest]
        return EncodedCaptions(pictures, about[fits], [pieces[one] for one in fits], cells=cells)

    kept = encode(seen.pictures, places[training], texts)
    if not len(kept):
        raise DataError(
            f"none of the {len(texts):,} captions can be trained on: each is empty, or has more "
            f"than {units.longest} pieces; see units.longest"
        )
    judged, references = None, list[list[str]]()
    if validation is not None:
        about = np.array(validation.places, dtype=np.int64)
        judged = encode(validation.pictures, about, validation.captions)
        references = validation.references
    elif held_out is not None:
        some = [seen.captions[one] for one in held_out]
        judged = encode(seen.pictures, places[held_out], some)
        references = seen.references
    bad = (*seen.left_out, *(() if validation is None else validation.left_out))
    return PreparedCaptions(
        training=kept,
        validation=judged if judged is not None and len(judged) else None,
        references=references,
        units=vocabulary,
        pictures=len(np.unique(kept.places)),
        left_out=bad,
        captions_left_out=len(texts) - len(kept),
    )


def _sides(
    places: NDArray[np.int64], validation: SeenPictures | None, holdout: Holdout
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Which captions to train on, and which to validate on; a picture is on one side only."""
    everything = np.arange(len(places))
    if validation is not None or holdout.fraction == 0 or len(places) < FEWEST_TO_SPLIT:
        return everything, None
    if len(np.unique(places)) < 2:
        return everything, None
    seed = derived_seed(holdout.seed, "validation")
    split = split_by_group(places.astype(np.uint64), holdout.fraction, seed=seed)
    return split.training, split.validation


@dataclass(frozen=True, slots=True, eq=False)
class CaptionJudge:
    """Judges by the loss of the true words and, if asked, by BLEU-4 of greedy, free writing."""

    names: ClassVar[tuple[str, ...]] = ("loss", "bleu")

    units: Units
    generation: GenerationConfig
    pictures: EncodedCaptions | None  # those held out
    references: Sequence[Sequence[str]]
    bleu: bool = True

    def __post_init__(self) -> None:
        if self.bleu:
            require_caption_bleu()

    def __call__(
        self, model: WritingModel[PictureBatch], batches: Batches[CaptionBatch], team: Team
    ) -> dict[str, float]:
        """Score the model, without dropout, on its share of the batches."""
        model.eval()
        sums = torch.zeros(2, dtype=torch.float64, device=device_of(model))
        with torch.no_grad():
            for batch in batches_to_judge(model, batches, team):
                cost = TokenLoss()(model, batch)
                sums += torch.stack([cost.total, cost.weight.to(cost.total)])
        if not self.bleu:
            total, weight = team.add_up(sums).tolist()
            return {"loss": total / weight}
        counts = torch.from_numpy(self._counts(model, team)).to(sums)
        total, weight, *shared = team.add_up(torch.cat([sums, counts])).tolist()
        return {"loss": total / weight, "bleu": bleu_of_counts(np.array(shared))}

    def _counts(self, model: WritingModel[PictureBatch], team: Team) -> NDArray[np.float64]:
        """What BLEU is made of, for this process's share of the pictures."""
        counts = np.zeros(BLEU_COUNTS)
        if self.pictures is None:
            return counts
        mine = np.unique(self.pictures.places)[:MOST_WRITTEN][team.rank :: team.size]
        for part in np.array_split(mine, -(-len(mine) // LOOKED_TOGETHER)) if len(mine) else ():
            pictures = self.pictures.look_at(part).to(device_of(model))
            found = generate(model, pictures, self.generation)
            texts = [self.units.decode(best.ids.tolist()) for best, *_ in found]
            counts += caption_bleu_counts(texts, [self.references[place] for place in part])
        return counts
