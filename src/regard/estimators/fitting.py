"""A fit as every estimator does it: Ctrl-C, a folder to work in, a check, training, facts.

The check says what the training is likely to take, from a few steps that are not kept.

What an estimator adds is its own: how its data are prepared, its network, loss and judge, and what
it does with the trained network before it is done.
"""

from __future__ import annotations

import copy
import itertools
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Generic

import torch
from torch import nn

from ..config import Plain, require
from ..data.columns import Columns
from ..data.readers import Reader
from ..data.splits import SplitBy
from ..records.data import Check
from ..records.history import History
from ..text.document import Document
from ..training.batches import B, Batches
from ..training.checkpoint import Checkpoint
from ..training.config import TrainingConfig
from ..training.interrupts import Interrupts
from ..training.loop import count_steps, train
from ..training.observers import Observer
from ..training.state import M, TrainingState
from ..training.teams import Alone, Team
from .label_forms import LabelForm
from .recipes import BALANCED, Recipe
from .trainer import FitData, Objective, Run, Trainer, training_facts

__all__ = [
    "FEWEST_TO_SPLIT",
    "Fit",
    "FitOptions",
    "Holdout",
    "Pace",
    "Reason",
    "begin_fit",
    "measure_pace",
]

FEWEST_TO_SPLIT = 20  # documents or pairs; with fewer, all are trained on


@dataclass(frozen=True, slots=True)
class Reason:
    """What people marked in a text as the reason for its label, to be learnt from as a short text.

    It is learnt from wherever its text is, and nothing is ever judged by it.
    """

    document: Document  # the passages, with the label
    place: int | None = None  # of the document that they stand in; None: in none of the training


@dataclass(frozen=True, eq=False)
class FitOptions:
    """What goes with a fit beside its data and settings."""

    split: SplitBy = "random"
    columns: Columns = field(default_factory=Columns)  # names the group or time column to split by
    readers: tuple[Reader, ...] = ()  # where the documents come from, to tell what was not read
    weights: Iterable[float] | None = None  # how much each document counts, in their order
    reasons: Sequence[Reason] = ()  # what people marked in the documents, or in other texts
    label_form: LabelForm = field(default_factory=LabelForm)  # in which labels are given back
    test: Iterable[Document] | None = None  # only looked for among the training documents
    vectors: Path | None = None  # pretrained word vectors
    recipe: Recipe = BALANCED  # when to learn word vectors from the texts, to start from
    unlabelled: Iterable[Document] | None = None  # more texts for that, which needs no labels
    work: Path | None = None  # where corpus and checkpoints lie; a temporary folder when None
    resume: bool = False
    choose_method: bool = True  # whether to measure which explanations suit the fitted model
    baseline: bool = False  # whether one is fitted afterwards, which takes time too
    observers: tuple[Observer, ...] = ()
    team: Team = field(default_factory=Alone)
    interrupts: Interrupts | None = None  # who notes Ctrl-C; the fit itself when None
    on_check: Callable[[Check], None] | None = None  # sees what was found before training starts
    on_fitted: Callable[[], None] | None = (
        None  # may save: the model answers, and what is left to choose can be ended by Ctrl-C
    )

    def read_as(self) -> dict[str, Plain]:
        """How the files of the training were read, for a model to remember: nothing without files.

        An encoding is remembered only where it was asked for: others are found out file by file.
        """
        if not self.readers:
            return {}
        columns = self.columns
        facts = {"source_column": columns.text, "target_column": columns.target}
        if columns.target is None:
            facts = {"text_column": columns.text, "label_column": columns.label}
        facts |= {"labels_separator": columns.labels_separator, "encoding": columns.encoding}
        facts |= {"group_column": columns.group, "time_column": columns.time}
        return {name: value for name, value in facts.items() if value is not None}

    def origin(self) -> dict[str, Plain]:
        """Which files the training read, for a model to remember: nothing without files."""
        if not self.readers:
            return {}
        return {"data": ", ".join(Path(reader.name).name for reader in self.readers)}


@dataclass(frozen=True, slots=True)
class Holdout:
    """How much to hold out, and by which seed."""

    fraction: float
    seed: int

    def __post_init__(self) -> None:
        share = self.fraction
        require(
            isinstance(share, Real) and 0 <= share < 1,
            f"validation must be from 0 to below 1, got {share!r}",
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """One fit under way: what goes with it, and where its files lie."""

    options: FitOptions
    folder: Path  # of the corpus and the checkpoint
    run: Run

    def train(
        self,
        model: M,
        data: FitData[M, B],
        *,
        loss: Objective[M, B],
        config: TrainingConfig,
        settings: Mapping[str, Mapping[str, Plain]],
        check: Callable[[Pace], Check],
        member: int = 0,
    ) -> History:
        """Train the model, or continue from a checkpoint where that is asked for.

        A checkpoint that was made with other ``settings`` is refused. Before the training, the
        observer of the check is told what ``check`` makes of the pace of a few trial steps, which
        are not kept. Where several models are trained, ``member`` numbers them, and only the first
        is told of.
        """
        if self.options.on_check is not None and member == 0:
            self.options.on_check(check(measure_pace(model, data, loss=loss, config=config)))
        run = replace(self.run, checkpoint=self._checkpoint(settings, member))
        return Trainer(model, data, loss=loss, config=config, run=run).train()

    def facts(
        self,
        model: nn.Module,
        history: History,
        *,
        scores: tuple[str, ...],
        data: Mapping[str, Plain],
    ) -> dict[str, Plain]:
        """What a fitted model remembers: when, on which data, how it went, how they were read.

        ``scores`` names what the judge may have given, and ``data`` says what was trained on.
        """
        return {
            "date": time.strftime("%Y-%m-%d"),
            **self.options.origin(),
            **data,
            **training_facts(model, history, scores),
            **self.options.read_as(),
        }

    def announce(self) -> None:
        """Tell whoever asked for the fit that the model answers, and may be saved."""
        if self.options.on_fitted is not None:
            self.options.on_fitted()

    def _checkpoint(
        self, settings: Mapping[str, Mapping[str, Plain]], member: int
    ) -> Checkpoint | None:
        if self.options.work is None:
            return None
        named = {
            f"{part}.{name}": value
            for part, values in settings.items()
            for name, value in values.items()
        }
        folder = self.folder / (f"checkpoint-{member + 1}" if member else "checkpoint")
        return Checkpoint(folder, named, resume=self.options.resume)


@contextmanager
def begin_fit(options: FitOptions) -> Iterator[Fit]:
    """Note Ctrl-C while fitting, unless whoever asks does so already, and give a folder."""
    with ExitStack() as stack:
        interrupts = options.interrupts or stack.enter_context(Interrupts())
        folder = stack.enter_context(_work_folder(options.work))
        yield Fit(options, folder, Run(None, options.observers, options.team, interrupts))


@contextmanager
def _work_folder(folder: Path | None) -> Iterator[Path]:
    """Give the folder, or a temporary one where none is named."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    # Where mapped files cannot be deleted yet, the system clears them away later.
    with tempfile.TemporaryDirectory(prefix="regard-", ignore_cleanup_errors=True) as temporary:
        yield Path(temporary)


TRIAL_STEPS = 6
"""How many steps are timed at most, after a first one: the first call of anything is slow."""
TRIAL_SECONDS = 1.0
"""After so long no further step is begun."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How quick a training is."""

    token_seconds: float  # of training on one token
    judge_seconds: float  # of one validation

    def seconds(self, tokens: int, epochs: int) -> float:
        """How long all epochs take at most, each on so many tokens and with a validation."""
        return epochs * (tokens * self.token_seconds + self.judge_seconds)


def measure_pace(
    model: M,
    data: FitData[M, B],
    *,
    loss: Objective[M, B],
    config: TrainingConfig,
    clock: Callable[[], float] = time.perf_counter,
) -> Pace:
    """Take a few steps with a copy of the model, and judge it on one batch; nothing is kept."""
    longer = replace(config, epochs=TRIAL_STEPS + 1)  # enough steps, however few batches there are
    trial = copy.deepcopy(model)
    state = TrainingState(trial, longer, total_steps=count_steps(data.training, longer))
    device = state.device
    steps = train(trial, data.training, loss=loss.to(device), config=longer, state=state)
    next(steps)
    began = now = _wait_for(device, clock)
    tokens = 0
    for step in itertools.islice(steps, TRIAL_STEPS):
        tokens += step.tokens
        now = _wait_for(device, clock)
        if now - began >= TRIAL_SECONDS:
            break
    steps.close()
    return Pace((now - began) / max(1, tokens), _time_judge(trial, data, device, clock))


def _time_judge(
    model: M, data: FitData[M, B], device: torch.device, clock: Callable[[], float]
) -> float:
    """How long the validation data take, from the first batch of them."""
    if data.validation is None:
        return 0.0
    began = _wait_for(device, clock)
    data.judge(model, _First(data.validation), Alone())
    return (_wait_for(device, clock) - began) * data.validation.count(0)


def _wait_for(device: torch.device, clock: Callable[[], float]) -> float:
    """The time when the device has done all that it was asked to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return clock()


@dataclass(frozen=True, eq=False)
class _First(Generic[B]):
    """The first batch of others."""

    batches: Batches[B]

    def count(self, epoch: int) -> int:
        return min(1, self.batches.count(epoch))

    def read(self, epoch: int, start: int = 0) -> Iterator[B]:
        return itertools.islice(self.batches.read(epoch, start), 1)

    def share(self, rank: int, size: int) -> _First[B]:
        return _First(self.batches.share(rank, size))
