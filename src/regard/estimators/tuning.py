"""Tune a BERT and one layer on top of it, whatever is asked of the texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..config import Plain, require, require_one_of
from ..data.batches import cut_runs
from ..data.fingerprints import fingerprint
from ..data.labels import LabelIndex
from ..data.splits import split_by_group
from ..data.tuning import (
    Example,
    TuningBatch,
    TuningRow,
    TuningRows,
)
from ..errors import ConfigError, DataError
from ..models.tuned_bert import Scored, TunedBert, TuningConfig
from ..nn.dropout import in_evaluation
from ..records.data import TextCheck
from ..records.history import History
from ..records.tuning import TuningScores
from ..tasks.tuning import TuningLoss
from ..text.pieces import WordPieces
from ..training.batches import Batches, PlannedBatches
from ..training.config import TrainingConfig
from ..training.devices import choose_device, device_of
from ..training.observers import TrainingProgress
from ..training.seeds import derived_seed
from ..training.teams import Team, batches_to_judge
from .bert_folder import load_bert
from .fitting import FEWEST_TO_SPLIT, FitOptions, Holdout, Pace, begin_fit
from .saved import SavedTuned, TunedSettings
from .text_estimator import TextEstimator, draw_network
from .trainer import FitData

__all__ = ["TUNING", "BertUsage", "Scores", "TuningJudge"]

TUNING = TrainingConfig(
    epochs=4,
    batch_size=16,
    batch_tokens=16384,
    optimizer="adamw",
    learning_rate=5e-5,
    weight_decay=0.01,
    schedule="linear",
    warmup=0.1,
    patience=None,
    monitor="accuracy",
)
"""How a BERT is tuned unless told otherwise."""
_TOKENS = 16384  # pieces that are read at once where nothing is learnt
_LONGER = (
    "a HAN over BERT reads texts of any length: regard train --model bert-han "
    "--set network.folder=FOLDER"
)
Scores = NDArray[np.float32]


class BertUsage(TextEstimator):
    """What all usages share: a BERT from a folder, one layer on top, tuned together.

    ``bert`` names the folder; nothing is downloaded. After ``fit``: ``model_``, ``pieces_``,
    ``labels_``, ``settings_``, ``history_`` and ``facts_``.
    """

    task: ClassVar[str]
    scored: ClassVar[Scored]
    asked: ClassVar[Literal["classes", "spans"]] = "classes"
    reads_at_once: ClassVar[bool]  # whether a long text is cut, and not read in windows

    def __init__(
        self,
        bert: Path | str | None = None,
        *,
        tuning: TuningConfig = TuningConfig(),  # noqa: B008  (frozen)
        training: TrainingConfig = TUNING,
        validation: float = 0.1,
        device: str = "auto",
        progress: bool = True,
    ) -> None:
        self.bert = bert
        self.tuning = tuning
        self.training = training
        self.validation = validation
        self.device = device
        self.progress = progress

    def fit_examples(
        self,
        examples: Iterable[Example],
        validation: Iterable[Example] | None = None,
        *,
        options: FitOptions = FitOptions(),  # noqa: B008
    ) -> Self:
        """Tune on examples; a share of them is held out where no others are given."""
        if self.bert is None:
            raise ConfigError(f"--task {self.task} tunes a BERT; name its folder with --bert")
        self._require_settings()
        require_one_of("monitor", self.training.monitor, TuningJudge.names)
        holdout = Holdout(self.validation, self.training.seed)
        device = choose_device(self.device)
        with begin_fit(options) as fit:
            heeding = fit.run.interrupts.heeding
            given = list(heeding(examples))
            judged = None if validation is None else list(heeding(validation))
            training, held_out = _sides(given, judged, holdout)
            loaded = load_bert(self.bert)
            self._unfit()
            self.settings_ = TunedSettings(
                loaded.bert.config, self.tuning, self.training, self.validation
            )
            labels = self._find_labels(training)
            self._adopt(loaded.pieces, labels, loaded.bert.vocab_size, device)
            if not self.tuning.fresh:
                self.model_.bert.load_state_dict(loaded.bert.state_dict())
            made = [row for rows in self._rows(training) for row in rows]
            source = TuningRows(made)
            rows = PlannedBatches(source, self.training)
            cut, loss = self._count_cut(made), self._loss()
            judged_by = None
            if held_out is not None:
                others = [row for rows in self._rows(held_out) for row in rows]
                judged_by = PlannedBatches(TuningRows(others), self.training)
            settings = self.settings_.to_dict()
            self.history_: History | None = fit.train(
                self.model_,
                FitData(rows, judged_by, TuningJudge(loss)),
                loss=loss,
                config=self.training,
                settings={part: settings[part] for part in ("network", "tuning")},
                check=partial(self._estimate, len(training), len(held_out or ()), source, cut),
            )
            self.facts_: Mapping[str, Plain] = fit.facts(
                self.model_,
                self.history_,
                scores=TuningJudge.names,
                data=self._data_facts(training, held_out or (), cut),
            )
            if held_out is not None:
                scores = self.evaluate_examples(held_out).scores
                named = {f"validation_{name}": score for name, score in scores.items()}
                self.facts_ = {**self.facts_, **named}
            fit.announce()
        return self

    def _data_facts(
        self, training: Sequence[Example], held_out: Sequence[Example], cut: int
    ) -> dict[str, Plain]:
        tuned = (weight for weight in self.model_.parameters() if weight.requires_grad)
        facts: dict[str, Plain] = {
            "training_examples": len(training),
            "validation_examples": len(held_out),
            "texts_cut": cut,
            "tuned_parameters": sum(weight.numel() for weight in tuned),
        }
        if self.asked == "spans":
            facts["leaves_out"] = any(not example.marked for example in training)
        return facts

    def evaluate_examples(self, examples: Iterable[Example], *, title: str = "") -> TuningScores:
        """Score on examples that the training never saw, beside one who always says the same."""
        raise NotImplementedError

    def save(self, folder: Path | str) -> None:
        """Write config.json, word pieces, weights.safetensors and card.md."""
        self._require_fitted()
        SavedTuned(
            settings=self.settings_,
            pieces=self.pieces_,
            labels=self.labels_,
            vocab_size=self.model_.bert.vocab_size,
            weights=self.model_.state_dict(),
            history=self.history_,
            facts=self.facts_,
        ).write(Path(folder), self.task)

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "auto") -> Self:
        """Read a saved folder."""

        def build(settings: TunedSettings, size: int, labels: LabelIndex) -> TunedBert:
            return cls._build(settings, size, labels)

        saved = SavedTuned.read(Path(folder), cls.task, build)
        used = saved.settings
        self = cls(
            tuning=used.tuning,
            training=used.training,
            validation=used.validation,
            device=device,
        )
        self.settings_ = used
        self._adopt(saved.pieces, saved.labels, saved.vocab_size, choose_device(device))
        return self._take_over(saved)

    def _fit_shown(self, examples: Sequence[Example]) -> Self:
        """Fit with a bar, unless ``progress`` is false."""
        with TrainingProgress(quiet=not self.progress, lines=False) as bar:
            return self.fit_examples(examples, options=FitOptions(observers=(bar,)))

    @classmethod
    def _outputs(cls, labels: LabelIndex) -> int:
        """How many numbers are scored for a row, or for a piece."""
        return len(labels)

    @classmethod
    def _build(cls, settings: TunedSettings, vocab_size: int, labels: LabelIndex) -> TunedBert:
        return TunedBert(
            settings.network,
            settings.tuning,
            vocab_size=vocab_size,
            outputs=cls._outputs(labels),
            scored=cls.scored,
            rate=settings.training.learning_rate,
        )

    def _find_labels(self, examples: Sequence[Example]) -> LabelIndex:
        labels = [one.label for one in examples]
        known = [label for label in labels if label is not None]
        if len(known) < len(labels):
            raise DataError("some examples have no label; training needs one for each")
        found = LabelIndex.from_labels(known)
        if len(found) < 2:
            raise DataError(
                f"all {len(labels):,} examples to learn from have the label {labels[0]!r}, "
                "whatever is held out to judge by; training needs two or more"
            )
        return found

    def _adopt(
        self, pieces: WordPieces, labels: LabelIndex, vocab_size: int, device: torch.device
    ) -> None:
        self.pieces_, self.labels_ = pieces, labels
        settings = self.settings_
        self.model_ = draw_network(
            lambda: self._build(settings, vocab_size, labels), settings.training, device
        )

    def _loss(self) -> TuningLoss:
        return TuningLoss(self.asked, self.training.label_smoothing)

    @property
    def _room(self) -> int:
        """Pieces of a row at most, the special ones counted."""
        most, asked = self.settings_.network.longest, self.settings_.tuning.longest
        require(
            asked is None or asked <= most,
            f"tuning.longest is {asked}, and this BERT reads {most} pieces at most",
        )
        return most if asked is None else asked

    def _rows(self, examples: Sequence[Example]) -> list[list[TuningRow]]:
        """The rows of each example: one, or several windows."""
        raise NotImplementedError

    def _count_cut(self, rows: Sequence[TuningRow]) -> int:
        """How many texts are too long to be read at once, and are cut; or an error, if asked."""
        cut = sum(row.cut for row in rows)
        if cut and self.settings_.tuning.long == "stop":
            raise DataError(
                f"{cut:,} of {len(rows):,} texts have more than {self._room:,} pieces, and "
                f"tuning.long=stop; {_LONGER}"
            )
        return cut

    def _warn_cut(self, cut: int, count: int) -> None:
        if cut:
            warnings.warn(
                f"{cut:,} of {count:,} texts have more than {self._room:,} pieces: their middle "
                f"is not read; {_LONGER}",
                stacklevel=3,
            )

    def _estimate(
        self, texts: int, held_out: int, rows: TuningRows, cut: int, pace: Pace
    ) -> TextCheck:
        pieces = int(rows.lengths.sum())
        note = f"{cut:,} texts are too long to be read at once: cut in the middle; {_LONGER}"
        return TextCheck(
            texts=texts,
            validation_texts=held_out,
            rows=len(rows),
            pieces=pieces,
            different_pieces=len(self.pieces_),
            seconds=pace.seconds(pieces, self.training.epochs),
            notes=(note,) if cut else (),
        )

    def _scores(self, rows: Sequence[TuningRow]) -> list[Scores]:
        """What the network scores for each row, (outputs,), or for its pieces."""
        device, source = device_of(self.model_), TuningRows(rows)
        lengths = source.lengths
        order = np.argsort(lengths, kind="stable")
        found: list[Scores] = [np.zeros(0, np.float32)] * len(rows)
        with torch.no_grad(), in_evaluation(self.model_):
            for run in cut_runs(lengths[order], most_items=1024, most_total=_TOKENS):
                chosen = order[run]
                batch = source.batch(chosen).to(device)
                scores = self.model_(batch.ids, batch.segments).float().cpu().numpy()
                sizes = lengths[chosen] if self.scored == "pieces" else np.ones(len(chosen), int)
                parts = np.split(scores, np.cumsum(sizes)[:-1])
                for place, part in zip(chosen.tolist(), parts, strict=True):
                    found[place] = part if self.scored == "pieces" else part[0]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class TuningJudge:
    """Judges by the loss, and by how many answers are right: of rows, or of pieces."""

    names: ClassVar[tuple[str, ...]] = ("loss", "accuracy")

    loss: TuningLoss

    def __call__(
        self, model: TunedBert, batches: Batches[TuningBatch], team: Team
    ) -> dict[str, float]:
        """Score the model, without dropout, on its share of the batches."""
        model.eval()
        sums = torch.zeros(4, dtype=torch.float64, device=device_of(model))
        with torch.no_grad():
            for batch in batches_to_judge(model, batches, team):
                sums += self._tally(model, batch)
        total, weight, right, asked = team.add_up(sums).tolist()
        return {"loss": total / max(weight, 1), "accuracy": right / max(asked, 1)}

    def _tally(self, model: TunedBert, batch: TuningBatch) -> Tensor:
        scores = model(batch.ids, batch.segments).float()
        cost = self.loss.of(scores, batch)
        parts = (cost.total, cost.weight, *self.loss.right(scores, batch))
        return torch.stack([part.double().to(scores.device) for part in parts])


def _sides(
    examples: list[Example], validation: list[Example] | None, holdout: Holdout
) -> tuple[list[Example], list[Example] | None]:
    """The examples to learn from, and those to judge by; a text is on one side only."""
    if not examples:
        raise DataError("there are no examples to learn from")
    if validation is not None or holdout.fraction == 0 or len(examples) < FEWEST_TO_SPLIT:
        return examples, validation or None
    groups = _groups(one.text for one in examples)
    if len(np.unique(groups)) < 2:  # one text for all, and what is paired with it differs
        groups = _groups(f"{one.text} {one.other}" for one in examples)
    if len(np.unique(groups)) < 2:
        return examples, None
    seed = derived_seed(holdout.seed, "validation")
    split = split_by_group(groups, holdout.fraction, seed=seed)
    return [examples[n] for n in split.training], [examples[n] for n in split.validation]


def _groups(texts: Iterable[str]) -> NDArray[np.uint64]:
    return np.fromiter(map(fingerprint, texts), np.uint64)
