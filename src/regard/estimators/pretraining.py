"""Teach a BERT on texts without labels, so that others can be tuned from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..config import Plain, require, require_one_of, to_dict
from ..data.batches import plan_batches, split_by_rank
from ..data.fingerprints import fingerprint
from ..data.masking import UNASKED, MaskedBatch, MaskingConfig, RowsToMask, encode_texts
from ..data.readers import read_strings
from ..data.rows import StoredTexts, store_texts
from ..data.splits import split_by_group
from ..data.threads import ahead
from ..errors import DataError
from ..models.bert import BertConfig, BertPretraining
from ..records.data import TextCheck
from ..records.history import History
from ..tasks.pretrain import Guesses, PretrainingLoss
from ..text.pieces import PiecesConfig, WordPieces, require_tokenizers
from ..training.batches import Batches
from ..training.config import TrainingConfig
from ..training.devices import choose_device, device_of
from ..training.observers import TrainingProgress
from ..training.seeds import derived_seed
from ..training.teams import Team, batches_to_judge
from .bert_folder import load_bert, save_bert
from .fitting import FEWEST_TO_SPLIT, FitOptions, Holdout, Pace, begin_fit
from .text_estimator import TextEstimator, draw_network
from .trainer import FitData

__all__ = ["PRETRAINING", "MaskedBatches", "PretrainSettings", "Pretrainer"]

PRETRAINING = TrainingConfig(
    epochs=20,
    batch_size=256,
    batch_tokens=32768,
    optimizer="adamw",
    learning_rate=5e-4,
    weight_decay=0.01,
    schedule="linear",
    warmup=0.05,
    patience=None,
)
"""How a BERT is taught unless told otherwise."""
MOST_JUDGED = 2000
"""How many texts are held out at most: they only say how well it goes."""


@dataclass(frozen=True)
class PretrainSettings:
    """What a BERT was taught with."""

    network: BertConfig
    pieces: PiecesConfig
    masking: MaskingConfig
    training: TrainingConfig

    def to_dict(self) -> dict[str, dict[str, Plain]]:
        """Return every part's settings as plain values, by the name of the part."""
        return {part.name: to_dict(getattr(self, part.name)) for part in fields(self)}


class Pretrainer(TextEstimator):
    """Teaches a small BERT on one's own texts: to name hidden pieces, and whether a text goes on.

    ``bert`` names a folder to go on from; its network and pieces are then taken as they are.
    After ``fit``: ``model_``, ``pieces_``, ``settings_``, ``history_`` and ``facts_``. The folder
    that ``save`` writes is one that ``transformers`` loads too.
    """

    def __init__(
        self,
        network: BertConfig = BertConfig(longest=256),  # noqa: B008  (frozen)
        *,
        training: TrainingConfig = PRETRAINING,
        pieces: PiecesConfig = PiecesConfig(),  # noqa: B008
        masking: MaskingConfig = MaskingConfig(),  # noqa: B008
        bert: Path | str | None = None,
        validation: float = 0.02,
        device: str = "auto",
        progress: bool = True,
    ) -> None:
        self.network = network
        self.training = training
        self.pieces = pieces
        self.masking = masking
        self.bert = bert
        self.validation = validation
        self.device = device
        self.progress = progress

    def fit(self, texts: Iterable[str]) -> Self:
        """Learn from texts; a share of them is held out to say how well it goes."""
        with TrainingProgress(quiet=not self.progress, lines=False) as bar:
            return self.fit_texts(read_strings(texts), options=FitOptions(observers=(bar,)))

    def fit_texts(
        self,
        texts: Iterable[str],
        validation: Iterable[str] | None = None,
        *,
        options: FitOptions = FitOptions(),  # noqa: B008
    ) -> Self:
        """Learn from texts, which are written to files first: they need not fit into memory."""
        require_tokenizers()
        self._require_settings()
        require_one_of("monitor", self.training.monitor, MaskingJudge.names)
        holdout = Holdout(self.validation, self.training.seed)
        device = choose_device(self.device)
        with begin_fit(options) as fit:
            heeding = fit.run.interrupts.heeding
            folder = fit.folder / f"texts-{options.team.rank}"
            given = store_texts(heeding(texts), folder / "training")
            judged = None
            if validation is not None:
                judged = store_texts(heeding(validation), folder / "validation")
            training, held_out = _sides(given, judged, holdout)
            fit.run.reach("finding word pieces")
            self._adopt(training, device)
            fit.run.reach("cutting texts into pieces")
            rows = self._rows(training, folder / "training-pieces")
            if not len(rows.lengths):
                raise DataError("there is nothing to learn from: none of the texts has a word")
            batches = MaskedBatches(rows, self.settings_.training)
            judged_by = None
            if held_out is not None:
                others = self._rows(held_out, folder / "validation-pieces")
                if len(others.lengths):
                    judged_by = MaskedBatches(others, self.settings_.training)
            settings = self.settings_.to_dict()
            self.history_: History | None = fit.train(
                self.model_,
                FitData(batches, judged_by, MaskingJudge()),
                loss=PretrainingLoss(),
                config=self.settings_.training,
                settings={part: settings[part] for part in ("network", "pieces", "masking")},
                check=partial(self._estimate, training, held_out, rows),
            )
            data: dict[str, Plain] = {
                "training_texts": len(training),
                "validation_texts": 0 if held_out is None else len(held_out),
                "training_pieces": _piece_count(rows),
            }
            self.facts_: Mapping[str, Plain] = fit.facts(
                self.model_, self.history_, scores=MaskingJudge.names, data=data
            )
            fit.announce()
        return self

    def save(self, folder: Path | str) -> None:
        """Write a BERT folder: config.json, model.safetensors, vocab.txt and their options."""
        self._require_fitted()
        save_bert(
            folder,
            self.model_,
            self.pieces_,
            about={**self.settings_.to_dict(), "facts": self.facts_},
        )

    def _adopt(self, texts: StoredTexts, device: torch.device) -> None:
        """Learn the pieces and make a fresh network, or take both from a folder."""
        self._unfit()
        if self.bert is None:
            network = self.network
            self.pieces_ = WordPieces.from_texts(lambda: texts, self.pieces)
        else:
            loaded = load_bert(self.bert)
            network, self.pieces_ = loaded.bert.config, loaded.pieces
        require(
            self.masking.longest <= network.longest,
            f"masking.longest {self.masking.longest} is more than the network reads, "
            f"{network.longest} pieces",
        )
        self.settings_ = PretrainSettings(network, self.pieces, self.masking, self.training)
        size = len(self.pieces_) if self.bert is None else loaded.bert.vocab_size
        self.model_ = draw_network(
            lambda: BertPretraining(network, vocab_size=size), self.training, device
        )
        if self.bert is not None:
            self.model_.bert.load_state_dict(loaded.bert.state_dict())

    def _rows(self, texts: StoredTexts, folder: Path) -> RowsToMask:
        found = encode_texts(texts, self.pieces_, folder)
        return RowsToMask(found, self.pieces_, self.settings_.masking)

    def _estimate(
        self, training: StoredTexts, held_out: StoredTexts | None, rows: RowsToMask, pace: Pace
    ) -> TextCheck:
        """Say what was found in the texts, and how long all that is to come takes at most."""
        return TextCheck(
            texts=len(training),
            validation_texts=0 if held_out is None else len(held_out),
            rows=len(rows.lengths),
            pieces=_piece_count(rows),
            different_pieces=len(self.pieces_),
            seconds=pace.seconds(int(rows.lengths.sum()), self.settings_.training.epochs),
        )


@dataclass(frozen=True, eq=False)
class MaskedBatches:
    """The rows of every epoch in another order, with other pieces hidden."""

    source: RowsToMask
    config: TrainingConfig
    rank: int = 0
    size: int = 1

    def count(self, epoch: int) -> int:
        """How many batches the epoch has."""
        return len(self._plan(epoch))

    def read(self, epoch: int, start: int = 0) -> Iterator[MaskedBatch]:
        """Give the batches of the epoch, without the first ``start``; made in another thread."""
        return ahead(self._made(epoch, start))

    def share(self, rank: int, size: int) -> MaskedBatches:
        """The same batches, each cut down to one process's share of it, which may be empty."""
        return replace(self, rank=rank, size=size)

    def _made(self, epoch: int, start: int) -> Iterator[MaskedBatch]:
        seed = derived_seed(self.config.seed, "masks")
        for number, rows in enumerate(self._plan(epoch)[start:], start):
            random = np.random.default_rng([seed, epoch, number, self.rank])
            yield self.source.batch(split_by_rank(rows, rank=self.rank, world=self.size), random)

    def _plan(self, epoch: int) -> list[NDArray[np.int64]]:
        return plan_batches(
            self.source.lengths,
            batch_size=self.config.batch_size,
            batch_tokens=self.config.batch_tokens,
            seed=derived_seed(self.config.seed, "order"),
            epoch=epoch,
        )


@dataclass(frozen=True, slots=True, eq=False)
class MaskingJudge:
    """Judges by the loss, and by how often a hidden piece, or the next text, is guessed."""

    names: ClassVar[tuple[str, ...]] = ("loss", "accuracy", "next_accuracy")

    def __call__(
        self, model: BertPretraining, batches: Batches[MaskedBatch], team: Team
    ) -> dict[str, float]:
        """Score the model, without dropout, on its share of the batches."""
        model.eval()
        sums = torch.zeros(7, dtype=torch.float64, device=device_of(model))
        with torch.no_grad():
            for batch in batches_to_judge(model, batches, team):
                sums += _tally(model, batch)
        total, pieces, next_cost, rows, named, judged, asked_rows = team.add_up(sums).tolist()
        return {
            "loss": total / max(pieces, 1) + next_cost / max(rows, 1),
            "accuracy": named / max(pieces, 1),
            "next_accuracy": judged / max(asked_rows, 1),
        }


def _tally(model: BertPretraining, batch: MaskedBatch) -> Tensor:
    """What a batch adds to the sums of ``MaskingJudge``.

    The cost of pieces and how many were asked for, that of next texts and of how many rows; then
    how many pieces and how many next texts were guessed, and how many next texts were asked for.
    """
    guesses = Guesses.of(model, batch)
    cost = PretrainingLoss().of(guesses, batch)
    asked = batch.follows != UNASKED
    named = guesses.pieces.argmax(1) == batch.wanted
    right = (guesses.follows.argmax(1) == batch.follows) & asked
    sums = (cost.total, cost.weight, cost.penalty, cost.documents)
    parts = (*sums, named.sum(), right.sum(), asked.sum())
    return torch.stack([part.double().to(asked.device) for part in parts])


def _sides(
    texts: StoredTexts, validation: StoredTexts | None, holdout: Holdout
) -> tuple[StoredTexts, StoredTexts | None]:
    """The texts to learn from, and those to judge by; a text is on one side only."""
    if not len(texts):
        raise DataError("there are no texts to learn from")
    if validation is not None:
        return texts, validation
    if holdout.fraction == 0 or len(texts) < FEWEST_TO_SPLIT:
        return texts, None
    groups = np.fromiter(map(fingerprint, texts), np.uint64, len(texts))
    if len(np.unique(groups)) < 2:
        return texts, None
    seed = derived_seed(holdout.seed, "validation")
    fraction = min(holdout.fraction, MOST_JUDGED / len(texts))
    split = split_by_group(groups, fraction, seed=seed)
    return texts.choose(split.training), texts.choose(split.validation)


def _piece_count(rows: RowsToMask) -> int:
    return int((rows.lengths - 3).sum())
