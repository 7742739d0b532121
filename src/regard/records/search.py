"""What a search for better settings has tried, and how each trial did: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .encoding import Record

__all__ = ["LOWER_IS_BETTER", "Search", "Trial", "TrialEnd"]

TrialEnd = Literal["done", "given up", "failed"]
"""How a trial ended: trained to its end, given up by its learning curve, or by an error."""
LOWER_IS_BETTER = ("loss",)
"""The scores of which the lowest is the best."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One training with settings of its own."""

    number: int  # from 1, in the order in which they were tried
    settings: Mapping[str, str | int | float | bool | None]  # by part and name
    end: TrialEnd
    scores: Mapping[str, float]  # on the documents held out; of one given up, at its last epoch
    epochs: int
    seconds: float  # of training
    reason: str = ""  # why it failed


@dataclass(frozen=True, slots=True)
class Search(Record):
    """All trials of a search, each judged by the same documents."""

    by: str  # the score that decides
    trials: tuple[Trial, ...]
    training_documents: int
    held_out_documents: int
    data: str = ""
    version: str = ""
    date: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict)  # settings that all trials share
    folds: int = 0  # in each a part of the documents is held out; 0: some are, for good

    @property
    def ranked(self) -> tuple[Trial, ...]:
        """The trials, the best first; those that were not trained to their end come last."""
        sign = 1 if self.by in LOWER_IS_BETTER else -1
        ends = ("done", "given up", "failed")

        def key(trial: Trial) -> tuple[int, float, int]:
            score = trial.scores.get(self.by, 0.0)
            return ends.index(trial.end), sign * score, trial.number

        return tuple(sorted(self.trials, key=key))

    @property
    def best(self) -> Trial | None:
        """The trial with the best score, of those that were trained to their end."""
        first = next(iter(self.ranked), None)
        return first if first is not None and first.end == "done" else None
