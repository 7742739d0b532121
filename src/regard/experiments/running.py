"""What every experiment is: settings that can be run with a seed, and what they find."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import Field
from typing import ClassVar, Protocol, Self

from ..config import to_dict
from ..records.experiment import Experiment, Finding, Setting
from ..training.config import TrainingConfig

__all__ = ["ExperimentConfig", "Stopwatch", "Tell", "run_experiment", "training_of", "under"]

Tell = Callable[[str], None]
"""Is told, in a line, how far an experiment has come."""


class ExperimentConfig(Protocol):
    """The settings of an experiment: a frozen, flat dataclass that knows how to run itself."""

    name: ClassVar[str]
    title: ClassVar[str]  # what it shows, in a line
    columns: ClassVar[tuple[str, ...]]  # the numbers that it finds for every row
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]  # what makes it a dataclass

    @classmethod
    def quick(cls) -> Self:
        """Settings that take a second or two: to see that it runs, not what it shows."""
        ...

    def run(self, seed: int, tell: Tell) -> Finding:
        """Run it; all random draws come from the seed."""
        ...


class _Taught(Protocol):
    """Settings that say how a network is trained."""

    @property
    def epochs(self) -> int: ...

    @property
    def batch_size(self) -> int: ...

    @property
    def learning_rate(self) -> float: ...


def training_of(settings: _Taught, seed: int) -> TrainingConfig:
    """Return how to train by the settings of an experiment; the rest is as always."""
    return TrainingConfig(
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        seed=seed,
    )


def run_experiment(
    config: ExperimentConfig, seeds: Sequence[int], tell: Tell = lambda line: None
) -> Experiment:
    """Run an experiment once a seed, one after the other."""
    findings = [
        config.run(seed, under(f"seed {seed}", tell) if len(seeds) > 1 else tell) for seed in seeds
    ]
    settings = tuple(Setting(name, value) for name, value in to_dict(config).items())
    return Experiment(config.name, config.title, config.columns, settings, tuple(findings))


def under(name: str, tell: Tell) -> Tell:
    """Tell the same, with a name before every line."""
    return lambda line: tell(f"{name}, {line}")


class Stopwatch:
    """Says how many seconds have gone by since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return time.perf_counter() - self._began
