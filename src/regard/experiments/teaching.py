"""Teaching a network to write, and asking after every epoch how much it writes right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..data.pairs import EncodedPairs
from ..models.seq2seq import Seq2Seq, Seq2SeqConfig
from ..nn.decoding.search import Hypothesis
from ..records.experiment import Curve
from ..tasks.generate import ForcedLoss, ForcingConfig, GenerationConfig, TokenLoss, generate
from ..training.batches import PlannedBatches
from ..training.config import TrainingConfig
from ..training.devices import device_of
from ..training.loop import RunningLoss, train
from ..training.seeds import derived_seed, seeded
from .running import Tell

__all__ = [
    "Lesson",
    "Milestone",
    "build",
    "curve",
    "effective_count",
    "first_over",
    "right",
    "study",
    "teach",
    "written",
]

_TOGETHER = 1000  # sources that are written about at once


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """Pairs to learn from, pairs to be asked about, and how many ids both sides have."""

    training: EncodedPairs
    held_out: EncodedPairs
    id_count: int


@dataclass(frozen=True, slots=True)
class Milestone:
    """How far a network has come after an epoch."""

    epoch: int
    loss: float  # of the training pairs, the mean over the epoch
    exact: float  # the share of held-out targets that it wrote without a mistake

    def __str__(self) -> str:
        return f"epoch {self.epoch}, loss {self.loss:.4f}, exact match {self.exact:.4f}"


def build(network: Seq2SeqConfig, lesson: Lesson, seed: int) -> Seq2Seq:
    """Make the network of a lesson, with weights drawn from the seed."""
    with seeded(derived_seed(seed, "weights")):
        return network.build(source_size=lesson.id_count, target_size=lesson.id_count)


def teach(model: Seq2Seq, lesson: Lesson, config: TrainingConfig) -> Iterator[Milestone]:
    """Train the model in place, and yield after every epoch; to stop early, stop asking.

    Every step is told the true tokens before it; the held-out targets are written freely.
    """
    batches = PlannedBatches(lesson.training, config)
    loss = ForcedLoss(TokenLoss(), ForcingConfig())
    running = RunningLoss(device_of(model))
    for step in train(model, batches, loss=loss, config=config):
        running.add(step)
        if step.ends_epoch:
            exact = float(right(model, lesson.held_out).mean())
            yield Milestone(step.epoch, running.mean, exact)
            running = RunningLoss(device_of(model))


def study(
    model: Seq2Seq,
    lesson: Lesson,
    config: TrainingConfig,
    tell: Tell,
    *,
    done: Callable[[Sequence[Milestone]], bool] = lambda history: False,
) -> list[Milestone]:
    """Train the model in place to the end, or until ``done``; return how it went by epoch."""
    history: list[Milestone] = []
    for progress in teach(model, lesson, config):
        history.append(progress)
        tell(str(progress))
        if done(history):
            break
    return history


def curve(name: str, history: Sequence[Milestone]) -> Curve:
    """Draw exact match by epoch."""
    return Curve(name, tuple((float(one.epoch), one.exact) for one in history))


def first_over(history: Sequence[Milestone], target: float) -> float | None:
    """The first epoch after which more than the target was written right, if there was one."""
    return next((float(one.epoch) for one in history if one.exact > target), None)


def right(model: Seq2Seq, pairs: EncodedPairs) -> NDArray[np.bool_]:
    """Say of each pair whether the model, on its own, writes exactly the target, (pairs,)."""
    targets = pairs.batch(np.arange(len(pairs))).target.rows()
    found = written(model, pairs)
    return np.array(
        [
            hypothesis.ids.tolist() == target.tolist()
            for hypothesis, target in zip(found, targets, strict=True)
        ]
    )


def effective_count(model: Seq2Seq, pairs: EncodedPairs) -> float | None:
    """How many items of the source a step looks at: exp(entropy), on average over all steps."""
    entropies = [
        -(hypothesis.weights * hypothesis.weights.clamp(min=1e-12).log()).sum(1)
        for hypothesis in written(model, pairs)
        if hypothesis.weights is not None
    ]
    if not entropies:
        return None
    return float(np.mean(np.concatenate([one.exp().numpy() for one in entropies])))


def written(model: Seq2Seq, pairs: EncodedPairs) -> list[Hypothesis]:
    """Let the model write about each source, greedily, without seeing a target."""
    found: list[Hypothesis] = []
    for places in np.array_split(np.arange(len(pairs)), -(-len(pairs) // _TOGETHER)):
        source = pairs.batch(places).source
        found += [best for best, *_ in generate(model, source, GenerationConfig(method="greedy"))]
    return found
