"""Train, use, judge and explain a network that writes about pictures, the scikit-learn way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import torch

from ..config import Plain, require_one_of
from ..data.captions import (
    CaptionColumns,
    Captioned,
    EncodedCaptions,
    caption_pictures,
    read_captioned,
    read_captions,
)
from ..data.pictures import (
    Given,
    PictureBatch,
    PictureFile,
    Pixels,
    draw_small,
    open_picture,
    require_pillow,
)
from ..data.targets import TargetBatch
from ..errors import ConfigError, DataError, ModelError
from ..explain.caption_receipts import measure_caption_receipt
from ..models.picture_reader import PictureReader, load_backbone
from ..models.reader import chunks
from ..models.show_attend_tell import (
    BACKBONES,
    PICTURE_PRESETS,
    CaptionBatch,
    ShowAttendTell,
    ShowAttendTellConfig,
)
from ..nn.decoding.search import Hypothesis
from ..nn.dropout import in_evaluation
from ..nn.pictures import EfficientNetLite0
from ..ragged import Ragged
from ..records.alignment import count_effective
from ..records.caption import Caption, CaptionEvaluation
from ..records.data import CaptionCheck, describe_left_out
from ..records.history import History
from ..records.translation import Candidate
from ..tasks.captions import require_caption_bleu, score_captions
from ..tasks.generate import (
    ForcingConfig,
    GenerationConfig,
    generate,
    target_losses,
    written_ids,
)
from ..text.units import END, Units, UnitsConfig, spell
from ..text.vocab import cut_texts
from ..training.batches import PlannedBatches
from ..training.config import TrainingConfig
from ..training.devices import choose_device
from ..training.observers import TrainingProgress
from .fitting import FitOptions, Holdout, Pace, begin_fit
from .saved import CaptionerSettings, SavedCaptioner
from .text_estimator import draw_network
from .trainer import FitData
from .training_captions import (
    CaptionJudge,
    PreparedCaptions,
    look_at_pictures,
    prepare_captions,
)
from .writer import of_chunk
from .writing_estimator import WritingEstimator, train_writer

__all__ = ["CAPTION_GENERATION", "CAPTION_TRAINING", "CAPTION_UNITS", "Captioner"]

CAPTION_TRAINING = TrainingConfig(
    epochs=20,
    batch_size=64,
    batch_tokens=1 << 16,
    learning_rate=1e-3,
    schedule="linear",
    warmup=0.05,
    patience=4,
    cooling=False,
    monitor="bleu",
    label_smoothing=0.1,
)
"""How a captioner is trained unless told otherwise."""
CAPTION_UNITS = UnitsConfig(kind="words", size=10_000, min_count=3, lowercase=True, longest=60)
"""Captions are written in whole words, so that each says where it looked."""
CAPTION_GENERATION = GenerationConfig(method="beam", beam=5, longest=40)
"""How captions are written."""
WRITTEN_TOGETHER = 64
"""How many pictures are written about together."""
TOLD_TOGETHER = 256
"""How many captions that people wrote are scored together."""


class Captioner(WritingEstimator[ShowAttendTellConfig]):
    """Writes about pictures, and shows which cells of them it looked at for each word.

    A network from scratch suits simple pictures, or many; photographs need a ``backbone``, the
    file of the weights of EfficientNet-Lite0, and a network such as ``PICTURE_PRESETS`` has under
    "pretrained". Features that a backbone found are kept in the folder ``features``, if there is
    one, and used again. After ``fit``: ``settings_``, ``model_``, ``units_``, ``reader_`` (what
    looks at pictures), ``history_`` and ``facts_``.
    """

    history_: History | None

    def __init__(
        self,
        network: ShowAttendTellConfig = PICTURE_PRESETS["show-attend-tell"],
        *,
        backbone: Path | str | None = None,
        features: Path | str | None = None,
        training: TrainingConfig = CAPTION_TRAINING,
        units: UnitsConfig = CAPTION_UNITS,
        forcing: ForcingConfig = ForcingConfig(),  # noqa: B008
        generation: GenerationConfig = CAPTION_GENERATION,
        validation: float = 0.1,
        device: str = "auto",
        progress: bool = True,
    ) -> None:
        self.network = network
        self.backbone = backbone
        self.features = features
        self.training = training
        self.units = units
        self.forcing = forcing
        self.generation = generation
        self.validation = validation
        self.device = device
        self.progress = progress

    def fit(
        self,
        pictures: Iterable[Given],
        captions: Iterable[str | Sequence[str]],
        *,
        validation: tuple[Iterable[Given], Iterable[str | Sequence[str]]] | None = None,
    ) -> Self:
        """Train on pictures (paths, bytes, arrays or Pillow's) and a caption or several of each.

        Pictures that cannot be read are left out, with a warning that names them.
        """
        held_out = None
        if validation is not None:
            self._require_pair(validation, "pictures and captions")
            held_out = caption_pictures(*validation)
        with TrainingProgress(quiet=not self.progress, lines=False) as bar:
            options = FitOptions(observers=(bar,))
            return self.fit_captions(
                caption_pictures(pictures, captions), held_out, options=options
            )

    def fit_file(
        self,
        path: Path | str,
        *,
        picture: str | None = None,
        caption: str | None = None,
        validation: Path | str | None = None,
    ) -> Self:
        """Train on a file of captions, or a folder that holds one with its pictures."""
        columns = CaptionColumns(picture, caption)
        reader = read_captions(path, columns)
        judged = None if validation is None else read_captions(validation, columns)
        return self.fit_captions(
            read_captioned(reader),
            None if judged is None else read_captioned(judged),
            options=FitOptions(
                columns=reader.columns, readers=(reader,) if judged is None else (reader, judged)
            ),
        )

    def fit_captions(
        self,
        captions: Iterable[Captioned],
        validation: Iterable[Captioned] | None = None,
        *,
        options: FitOptions = FitOptions(),  # noqa: B008
    ) -> Self:
        """Train on pictures with captions; what the network takes of them is written to files."""
        require_pillow()
        self._require_settings()
        require_one_of("monitor", self.training.monitor, CaptionJudge.names)
        holdout = Holdout(self.validation, self.training.seed)
        device = choose_device(self.device)
        self._unfit()
        reader = self._reader(device)
        kept = None if self.features is None else Path(self.features)
        with begin_fit(options) as fit:
            heeding = fit.run.interrupts.heeding
            folder = fit.folder / f"pictures-{options.team.rank}"
            seen = look_at_pictures(heeding(captions), reader, folder / "training", kept=kept)
            judged = None
            if validation is not None:
                judged = look_at_pictures(
                    heeding(validation), reader, folder / "validation", kept=kept
                )
            data = prepare_captions(
                seen,
                judged,
                units=self.units,
                holdout=holdout,
                cells=self.network.grid**2,
            )
            settings = self._asked()
            self._adopt(data.units, reader, settings)
            self._warn(data.left_out, options)
            judge = CaptionJudge(
                data.units,
                replace(settings.generation, method="greedy"),
                data.validation,
                data.references,
                bleu=settings.training.monitor == "bleu",
            )
            held_out = None if data.validation is None else self._batches(data.validation)
            self.history_ = train_writer(
                fit,
                self.model_,
                FitData(self._batches(data.training), held_out, judge),
                settings,
                check=lambda pace: self._estimate(data, pace),
            )
            self.facts_: Mapping[str, Plain] = fit.facts(
                self.model_, self.history_, scores=CaptionJudge.names, data=_data_facts(data)
            )
            fit.announce()
        return self

    def predict(
        self, pictures: Iterable[Given], *, generation: GenerationConfig | None = None
    ) -> list[str]:
        """Write about each picture; one that cannot be read is an error that names it."""
        return [found[0].text for found in self.candidates(pictures, generation=generation)]

    def candidates(
        self,
        pictures: Iterable[Given],
        count: int = 1,
        *,
        generation: GenerationConfig | None = None,
    ) -> list[list[Candidate]]:
        """Return the best things to write about each picture, best first, ``count`` at most."""
        asked = (generation or self.generation).giving(count)
        return [
            [self._candidate(one) for one in wrote.found[:count]]
            for wrote in self._written(_open_all(pictures), asked)
        ]

    def explain(
        self,
        pictures: Iterable[Given],
        *,
        receipt: bool = True,
        generation: GenerationConfig | None = None,
    ) -> list[Caption]:
        """Return what is written about each picture, and which cells each word looked at.

        Each says whether what was looked at matters; ``receipt=False`` leaves that out.
        """
        self._require_fitted()
        self._require_attention()
        wrote = self._written(_open_all(pictures), generation or self.generation)
        return [self._caption(one, receipt=receipt) for one in wrote]

    def score(self, pictures: Iterable[Given], captions: Iterable[str | Sequence[str]]) -> float:
        """Return BLEU-4, 0 to 100, of what is written freely, against all captions of each."""
        found = self.evaluate(caption_pictures(pictures, captions), worst=0)
        return found.scores.bleu_4

    def evaluate(
        self,
        captions: Iterable[Captioned],
        *,
        title: str = "",
        worst: int = 20,
        receipt: bool = False,
    ) -> CaptionEvaluation:
        """Score on pictures that the training never saw, and show what went worst.

        Worst are those whose references cost the model most, a word on average. A picture that
        cannot be read is left out, and named in the scores.
        """
        self._require_fitted()
        require_caption_bleu()
        files, references, left_out = _group(captions)
        wrote: list[_Wrote] = []
        losses: list[tuple[float, int]] = []
        for looked in self._looked_at(iter(files), left_out):
            wrote += self._write(looked, self.generation)
            told = [references[file.digest] for file in looked.files]
            losses += self._losses(looked.batch, told)
        if not wrote:
            raise DataError(f"there are no pictures to score; {'; '.join(left_out[:3])}")
        people = [references[one.file.digest] for one in wrote]
        texts = [self._candidate(one.found[0]).text for one in wrote]
        scores = replace(
            score_captions(texts, people, title=title),
            loss=float(np.average([loss for loss, _ in losses], weights=[n for _, n in losses])),
            unended=sum(not one.found[0].ended for one in wrote),
            effective_count=self._effective_count(wrote),
            left_out=tuple(left_out),
        )
        order = sorted(range(len(wrote)), key=lambda place: -losses[place][0])
        shown = order[:worst] if self.settings_.network.attends else []
        return CaptionEvaluation(
            scores,
            tuple(
                replace(
                    self._caption(wrote[place], receipt=receipt),
                    references=tuple(people[place]),
                    loss=losses[place][0],
                )
                for place in shown
            ),
        )

    def save(self, folder: Path | str) -> None:
        """Write config.json, the vocabulary, weights, the backbone's among them, and card.md.

        A model that is already there is replaced; anything else there is an error.
        """
        self._require_fitted()
        SavedCaptioner(
            settings=self.settings_,
            units=self.units_,
            weights=self.model_.state_dict(),
            backbone=self.reader_.backbone,
            history=self.history_,
            facts=self.facts_,
        ).write(Path(folder))

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "auto") -> Self:
        """Read a saved folder."""
        saved = SavedCaptioner.read(Path(folder))
        self = cls._with(saved.settings, device)
        reader = _reader_of(saved.settings.network, choose_device(device), saved.backbone)
        self._adopt(saved.units, reader, saved.settings)
        return self._take_over(saved)

    def _reader(self, device: torch.device) -> PictureReader:
        """What looks at pictures, with the weights of its backbone where it has one."""
        encoder = self.network.encoder
        if encoder not in BACKBONES:
            if self.backbone is not None:
                known = ", ".join(BACKBONES)
                raise ConfigError(
                    f"a backbone was given, but network.encoder is {encoder!r}; use {known}"
                )
            return _reader_of(self.network, device, None)
        if self.backbone is None:
            raise ConfigError(
                f"network.encoder {encoder!r} needs a backbone: a file of its weights"
            )
        return _reader_of(self.network, device, load_backbone(encoder, self.backbone))

    def _adopt(self, units: Units, reader: PictureReader, settings: CaptionerSettings) -> None:
        """Take over a vocabulary, and build a fresh network for it."""
        self._unfit()
        self.settings_, self.units_, self.reader_ = settings, units, reader
        self.model_: ShowAttendTell = draw_network(
            lambda: settings.network.build(target_size=len(units)),
            settings.training,
            reader.device,
        )

    def _warn(self, left_out: Sequence[str], options: FitOptions) -> None:
        """Name the pictures that cannot be read, where nobody else will."""
        if left_out and options.on_check is None and options.team.rank == 0:
            warnings.warn(" ".join(describe_left_out(left_out)), stacklevel=4)

    def _batches(self, captions: EncodedCaptions) -> PlannedBatches[CaptionBatch]:
        return PlannedBatches(captions, self.settings_.training)

    def _estimate(self, data: PreparedCaptions, pace: Pace) -> CaptionCheck:
        tokens = int(data.training.lengths.sum())
        return CaptionCheck(
            pictures=data.pictures,
            captions=len(data.training),
            validation_captions=0 if data.validation is None else len(data.validation),
            pieces=len(data.units),
            left_out=data.left_out,
            captions_left_out=data.captions_left_out,
            seconds=pace.seconds(tokens, self.settings_.training.epochs),
        )

    def _require_attention(self) -> None:
        if not self.settings_.network.attends:
            raise ModelError(
                "this captioner looks at all cells alike, so it cannot say where it looked; train "
                "with network.attention soft or hard"
            )

    def _written(
        self, pictures: Iterator[PictureFile], config: GenerationConfig
    ) -> Iterator[_Wrote]:
        self._require_fitted()
        for number, looked in enumerate(self._looked_at(pictures)):
            yield from self._write(looked, of_chunk(config, number))

    def _looked_at(
        self, pictures: Iterator[PictureFile], left_out: list[str] | None = None
    ) -> Iterator[_Looked]:
        """Look at pictures, some together.

        One that cannot be read is an error, or is named in ``left_out`` where there is such a list.
        """
        for files in chunks(pictures, WRITTEN_TOGETHER):
            seen: list[tuple[PictureFile, Pixels]] = []
            for file in files:
                try:
                    seen.append((file, self.reader_.decode(file)))
                except DataError as problem:
                    if left_out is None:
                        raise
                    left_out.append(str(problem))
            if seen:
                pixels = [one for _, one in seen]
                yield _Looked([file for file, _ in seen], pixels, self.reader_.batch(pixels))

    def _write(self, looked: _Looked, config: GenerationConfig) -> list[_Wrote]:
        found = generate(self.model_, looked.batch, config)
        return [_Wrote(*one) for one in zip(looked.files, looked.pixels, found, strict=True)]

    def _candidate(self, found: Hypothesis) -> Candidate:
        text = self.units_.decode(written_ids(found))
        return Candidate(text, found.score, found.log_probability, found.ended)

    def _caption(self, wrote: _Wrote, *, receipt: bool) -> Caption:
        best, grid = wrote.found[0], self.settings_.network.grid
        assert best.weights is not None  # every decoder of pictures looks
        ids = written_ids(best)
        weights = best.weights[: len(ids)].float().numpy().reshape(len(ids), grid**2)
        target = spell(self.units_, ids, {})
        small, width, height = draw_small(wrote.file)
        measured = None
        if receipt:
            measured = measure_caption_receipt(
                self.model_,
                self.reader_.look,
                wrote.pixels,
                ids,
                weights,
                seed=self.training.seed,
            )
        return Caption(
            name=wrote.file.name,
            text=target.text,
            spans=tuple(map(tuple, target.spans.tolist())),
            weights=weights,
            rows=grid,
            columns=grid,
            picture=small,
            width=width,
            height=height,
            score=best.score,
            ended=best.ended,
            receipt=measured,
        )

    @torch.no_grad()
    def _losses(
        self, pictures: PictureBatch, references: Sequence[Sequence[str]]
    ) -> list[tuple[float, int]]:
        """What a word of the references of each picture costs, and how many words they have."""
        places = [place for place, some in enumerate(references) for _ in some]
        texts = [text for some in references for text in some]
        ids = [torch.tensor([*cut.ids.tolist(), END]) for cut in cut_texts(texts, self.units_)]
        totals, counts = np.zeros(len(references)), np.zeros(len(references), dtype=np.int64)
        with in_evaluation(self.model_):
            for rows in chunks(range(len(ids)), TOLD_TOGETHER):
                about = [places[row] for row in rows]
                target = Ragged.from_rows([ids[row] for row in rows]).to(self.reader_.device)
                source = replace(pictures, values=pictures.values[about])
                costs = target_losses(self.model_, TargetBatch(source, target))
                np.add.at(totals, about, costs.cpu().numpy())
                np.add.at(counts, about, target.lengths.cpu().numpy())
        return [(total / count, int(count)) for total, count in zip(totals, counts, strict=True)]

    def _effective_count(self, wrote: Sequence[_Wrote]) -> float | None:
        """How many cells a written word looked at, on average."""
        if not self.settings_.network.attends:
            return None
        counts = [np.zeros(0)]
        for best in (one.found[0] for one in wrote):
            if best.weights is not None:
                # Where it looked before the end is not where a word looked.
                looked = best.weights[: len(written_ids(best))]
                counts.append(count_effective(looked.float().numpy()))
        found = np.concatenate(counts)
        return float(found.mean()) if len(found) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """Pictures that were looked at together."""

    files: list[PictureFile]
    pixels: list[Pixels]
    batch: PictureBatch


@dataclass(frozen=True, slots=True, eq=False)
class _Wrote:
    """A picture, and what was written about it, best first."""

    file: PictureFile
    pixels: Pixels
    found: list[Hypothesis]


def _reader_of(
    network: ShowAttendTellConfig, device: torch.device, backbone: EfficientNetLite0 | None
) -> PictureReader:
    return PictureReader(network, device, None if backbone is None else backbone.to(device))


def _open_all(pictures: Iterable[Given]) -> Iterator[PictureFile]:
    if isinstance(pictures, str | bytes | Path):
        raise DataError("pictures must be a list, got a single one; put it in a list")
    for number, picture in enumerate(pictures, 1):
        name = "" if isinstance(picture, str | Path) else f"picture {number}"
        yield open_picture(picture, name=name)


def _group(
    captions: Iterable[Captioned],
) -> tuple[list[PictureFile], dict[str, list[str]], list[str]]:
    """Each picture once, its captions by its digest, and the files that cannot be read."""
    files: dict[str, PictureFile] = {}
    references: dict[str, list[str]] = {}
    bad: dict[str, None] = {}
    before: tuple[object, PictureFile] | None = None
    for one in captions:
        try:
            if before is None or before[0] is not one.picture:
                before = (one.picture, one.open())
        except DataError as problem:
            bad[str(problem)] = None
            continue
        if one.caption is not None:
            file = before[1]
            files.setdefault(file.digest, file)
            references.setdefault(file.digest, []).append(one.caption)
    return list(files.values()), references, list(bad)


def _data_facts(data: PreparedCaptions) -> dict[str, Plain]:
    return {
        "training_pictures": data.pictures,
        "training_captions": len(data.training),
        "validation_captions": 0 if data.validation is None else len(data.validation),
        "pictures_left_out": len(data.left_out),
        "captions_left_out": data.captions_left_out,
        "pieces": len(data.units),
    }
