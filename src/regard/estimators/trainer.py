"""Training as a person expects it: validation, early stopping, checkpoints, Ctrl-C."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from .. import __version__
from ..config import Plain, require_one_of
from ..errors import DataError, TrainingError
from ..records.history import Epoch, History, Stopped
from ..tasks.classify import ClassificationLoss, balanced_weights
from ..tasks.loss import Loss
from ..training.averaging import Averages
from ..training.batches import B, Batches
from ..training.checkpoint import Checkpoint, Snapshot, fingerprint
from ..training.config import TrainingConfig
from ..training.interrupts import Interrupts
from ..training.loop import EarlyStopping, RunningLoss, Step, count_steps, train
from ..training.observers import Observer, Stage
from ..training.state import M, TrainingState
from ..training.teams import Alone, Team

__all__ = [
    "FitData",
    "Judge",
    "Objective",
    "Run",
    "Trainer",
    "Watched",
    "classification_loss",
    "training_facts",
]


class Judge(Protocol[M, B]):  # type: ignore[misc]  # as invariant as a batch is
    """Says how good a model is on data held out."""

    @property
    def names(self) -> tuple[str, ...]:
        """The scores it may give, by which a training can be monitored; one is the loss."""
        ...

    def __call__(self, model: M, batches: Batches[B], team: Team, /) -> Mapping[str, float]:
        """Score the model on this process's share of the batches; the team adds up the rest."""
        ...


@dataclass(frozen=True, eq=False)
class FitData(Generic[M, B]):
    """What a model learns from, and what is held out to judge it by; never the test data."""

    training: Batches[B]
    validation: Batches[B] | None
    judge: Judge[M, B]

    def __post_init__(self) -> None:
        if self.validation is not None and self.validation.count(0) == 0:
            raise DataError(
                "the validation data have no documents; leave them out or hold out more"
            )


class Objective(Protocol[M, B]):  # type: ignore[misc]  # as invariant as a batch is
    """What a training makes small."""

    def __call__(self, model: M, batch: B, progress: float = 0.0, /) -> Loss:
        """Say what the model's answers cost, after this share of the training."""
        ...

    def to(self, device: torch.device) -> Self:
        """The same on ``device``."""
        ...


@dataclass(frozen=True, eq=False)
class Run:
    """What goes with a training and does not change its result."""

    checkpoint: Checkpoint | None = None
    observers: tuple[Observer, ...] = ()
    team: Team = field(default_factory=Alone)
    interrupts: Interrupts = field(default_factory=Interrupts)

    def begin(self, name: str) -> None:
        """Tell those who watch which of several trainings begins."""
        for observer in self.observers:
            observer.on_training(name)

    def reach(self, stage: str, done: int = 0, total: int | None = None) -> None:
        """Tell those who watch how far a stage is, and end it here if Ctrl-C was pressed."""
        for observer in self.observers:
            observer.on_stage(Stage(stage, done, total))
        self.interrupts.heed()


@dataclass(frozen=True, eq=False)
class Watched(Generic[B]):
    """Batches that tell of each before they give it, and end where Ctrl-C was pressed."""

    batches: Batches[B]
    stage: str
    run: Run

    def count(self, epoch: int) -> int:
        """How many batches the epoch has."""
        return self.batches.count(epoch)

    def read(self, epoch: int, start: int = 0) -> Iterator[B]:
        """Give the batches of the epoch, without the first ``start``."""
        total = self.count(epoch)
        for place, batch in enumerate(self.batches.read(epoch, start), start):
            self.run.reach(self.stage, place, total)
            yield batch

    def share(self, rank: int, size: int) -> Watched[B]:
        """The same batches, each cut down to one process's share of it."""
        return Watched(self.batches.share(rank, size), self.stage, self.run)


def training_facts(model: nn.Module, history: History, names: tuple[str, ...]) -> dict[str, Plain]:
    """What to remember of a training, whatever was trained: the kept epoch, its scores, versions.

    ``names`` are those of the scores that may have been taken.
    """
    best = history.best
    scores = best.validation if best else {}
    return {
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "best_epoch": best.epoch if best else None,
        **{f"validation_{name}": scores.get(name) for name in names},
        "training_seconds": history.seconds,
        "regard": __version__,
        "torch": str(torch.__version__),
    }


def classification_loss(
    config: TrainingConfig,
    counts: NDArray[np.int64],
    *,
    document_count: int,
    multilabel: bool,
) -> ClassificationLoss:
    """Make the loss that the settings ask for; ``counts`` are the training documents a class."""
    weights = None
    if config.class_weights == "balanced":
        weights = balanced_weights(counts, document_count=document_count, multilabel=multilabel)
    return ClassificationLoss(
        class_weights=weights,
        label_smoothing=config.label_smoothing,
        focal=config.focal,
    )


class Trainer(Generic[M, B]):
    """One training from its beginning, or from its checkpoint, to its end.

    The model is trained in place, on the device where it is. The random state of the caller is not
    touched.
    """

    def __init__(
        self,
        model: M,
        data: FitData[M, B],
        *,
        loss: Objective[M, B],
        config: TrainingConfig,
        run: Run | None = None,
    ) -> None:
        run = run or Run()
        if data.validation is not None:
            require_one_of("monitor", config.monitor, data.judge.names)
        self.data, self.config, self.run = data, config, run
        total_steps = count_steps(data.training, config)
        self.state = TrainingState(model, config, total_steps=total_steps)
        self.loss = loss.to(self.state.device)
        self.stopping = EarlyStopping(config)
        self.averages = Averages(config.average)
        self.running = RunningLoss(self.state.device)
        self.epochs: list[Epoch] = []
        self.best: Mapping[str, Tensor] = {}
        self.fingerprint: Mapping[str, Plain] = {}
        self._resume()
        run.team.agree(model)

    def train(self) -> History:
        """Train to the end, whatever ends it, and leave the model with its best weights.

        Without validation data the last weights are the best. Ctrl-C ends the training as if it
        were done: the history then says ``interrupted``; before the first step there is nothing to
        keep, and it is raised.
        """
        try:
            stopped = self._take_steps()
        except KeyboardInterrupt:
            if self.state.step == 0:
                raise
            stopped = "interrupted"
        finally:
            self.state.settle()
            if self.best:
                self.state.model.load_state_dict(self.best)
            self.state.model.eval()
        return self._history(stopped)

    def _take_steps(self) -> Stopped:
        team = self.run.team
        steps = train(
            self.state.model,
            team.share_batches(self.data.training),
            loss=team.share_loss(self.loss),
            config=self.config,
            state=self.state,
        )
        self.run.interrupts.heed()
        while not self._over:
            step = next(steps, None)
            if step is None:
                return "finished"
            self._after(step)
            self.run.interrupts.heed()
        return "patience"

    @property
    def _over(self) -> bool:
        """Whether there is nothing left to gain, before all epochs are done."""
        return self.state.cooled or (self.stopping.exhausted and self.state.cooling is None)

    def _after(self, step: Step) -> None:
        """Do what is to be done between this step and the next."""
        self.running.add(step)
        # Asking a GPU for each loss would make it wait; a loss that is lost stays lost.
        if self.state.device.type == "cpu" or step.ends_epoch or step.step % 50 == 0:
            began = time.perf_counter()
            self._require_number(self.running.mean, step)
            # A GPU finishes its steps only now, which is part of their time.
            self.running.seconds += time.perf_counter() - began
        for observer in self.run.observers:
            observer.on_step(step)
        if step.ends_epoch:
            self._end_epoch(step)
        elif self.run.checkpoint is not None and self.run.checkpoint.due:
            self._save()

    def _end_epoch(self, step: Step) -> None:
        self.averages.add(self.state.model)
        with self.averages.in_place(self.state.model):
            scores = self._validate()
            weights = {name: part.clone() for name, part in self.state.model.state_dict().items()}
        if scores:
            self._require_number(scores["loss"], step)
        elif not all(bool(part.isfinite().all()) for part in weights.values()):
            self._require_number(math.nan, step)  # the last step may have been one too far
        epoch = Epoch(
            epoch=step.epoch,
            train_loss=self.running.mean,
            learning_rate=step.learning_rate,
            documents=self.running.documents,
            seconds=self.running.seconds,
            validation=scores,
        )
        if self.stopping.judge(epoch):
            self.best = weights
        self.epochs.append(epoch)
        self.running = RunningLoss(self.state.device)
        if self._over and not self.state.cooled and self.config.cooling:
            self._cool()
        self._save()
        for observer in self.run.observers:
            observer.on_epoch(epoch)

    def _cool(self) -> None:
        """Go back to the best weights, and on from there for an epoch, to a rate of nothing.

        Weights from the middle of a training jump with every step; at a rate that falls they settle
        between where these would have led.
        """
        epoch = self.state.epoch
        if epoch < self.config.epochs:
            self.state.model.load_state_dict(self.best)
            self.averages = Averages(self.config.average)
            self.state.cool(self.data.training.count(epoch))

    def _validate(self) -> Mapping[str, float]:
        if self.data.validation is None:
            return {}
        held_out = Watched(self.data.validation, "validating", self.run)
        return self.data.judge(self.state.model, held_out, self.run.team)

    def _require_number(self, loss: float, step: Step) -> None:
        if not math.isfinite(loss):
            raise TrainingError(
                f"the loss became {loss} in epoch {step.epoch}, step {step.step}, at learning rate "
                f"{step.learning_rate:g}; try a lower learning_rate or a smaller clip"
            )

    def _history(self, stopped: Stopped) -> History:
        best = self.stopping.best_epoch
        return History(tuple(self.epochs), best, self.config.monitor, stopped)

    def _save(self) -> None:
        if self.run.checkpoint is None or self.run.team.rank != 0:
            return
        history = json.loads(self._history("interrupted").to_json())
        parts = {
            "state": self.state.snapshot(),
            "stopping": self.stopping.snapshot(),
            "running": self.running.snapshot(),
            "best": Snapshot(self.best),
            "averages": self.averages.snapshot(),
            "fitting": Snapshot(values={"history": history}),
        }
        self.run.checkpoint.save(Snapshot.join(parts), self.fingerprint)

    def _load(self) -> Snapshot | None:
        """Read the checkpoint in the first process, and hand it to the others."""
        checkpoint, team = self.run.checkpoint, self.run.team
        saved = None
        if checkpoint is not None:
            self.fingerprint = fingerprint(self.state.model, self.data.training, self.config)
            saved = checkpoint.load(self.fingerprint) if team.rank == 0 else None
        if team.size == 1:
            return saved
        content = team.spread(b"" if saved is None else saved.to_bytes())
        return Snapshot.from_bytes(content) if content else None

    def _resume(self) -> None:
        saved, checkpoint = self._load(), self.run.checkpoint
        if saved is None or checkpoint is None:
            return
        with checkpoint.restoring():
            self.state.restore(saved.under("state"))
            self.stopping.restore(saved.under("stopping"))
            self.running.restore(saved.under("running"))
            self.best = saved.under("best").tensors
            self.averages.restore(saved.under("averages"))
            history = json.dumps(saved.under("fitting").values["history"])
            self.epochs = list(History.from_json(history).epochs)
