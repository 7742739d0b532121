"""Rows of symbols to copy, reverse or sort: what a network must carry from one side to the other.

Five experiments ask what helps it: attention (``symbols``, ``length``), one score or another
(``scores``), the order of reading (``order``), or depth (``depth``). A symbol is an id; the
reserved ones come first, and symbols are sorted by their ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..config import checked_settings, require
from ..data.pairs import EncodedPairs
from ..models.seq2seq import PRESETS, Seq2Seq, Seq2SeqConfig
from ..nn.decoding.decoders import DecoderName
from ..nn.recurrence import CellName
from ..records.experiment import Chart, Curve, Finding, ResultRow
from ..text.units import RESERVED
from ..training.config import TrainingConfig
from ..training.seeds import derived_seed
from .running import Stopwatch, Tell, training_of, under
from .teaching import Lesson, Milestone, build, curve, effective_count, first_over, right, study

__all__ = [
    "DECODERS",
    "READINGS",
    "TASKS",
    "Depth",
    "Length",
    "Order",
    "Rows",
    "ScoreComparison",
    "Symbols",
    "draw_lesson",
    "draw_pairs",
]

_SMALL = PRESETS["addition"]
_STACK = replace(_SMALL, cell="lstm", decoder="sutskever", directions=1, bridge="copy")
# One direction, since a second one reads backwards in any case.
_FORWARD = replace(_SMALL, decoder="sutskever", directions=1, bridge="copy")
DECODERS: dict[str, DecoderName] = {"with attention": "luong", "without": "sutskever"}
"""The two that are compared, by the names in the tables."""
READINGS: dict[str, Seq2SeqConfig] = {
    "as it is": _FORWARD,
    "backwards": replace(_FORWARD, reverse_source=True),
    "twice": replace(_FORWARD, repeat_source=2),
}
"""How the source is read, by the names in the table."""
TASKS: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]] = {
    "copy": lambda row: row,
    "reverse": lambda row: row[::-1],
    "sort": np.sort,
}
"""What is to be written about a row, by the name of the task."""


@dataclass(frozen=True)
class Rows:
    """How many different symbols there are, and how many of them a row has."""

    symbols: int
    shortest: int
    longest: int

    @property
    def id_count(self) -> int:
        """How many ids there are, the reserved ones counted."""
        return len(RESERVED) + self.symbols


def draw_lesson(task: str, rows: Rows, *, training: int, held_out: int, seed: int) -> Lesson:
    """Draw pairs for both sides; a held-out source that is also trained on is drawn again."""
    random = np.random.default_rng(derived_seed(seed, "pairs"))
    seen = [_draw_row(random, rows) for _ in range(training)]
    known = {row.tobytes() for row in seen}
    asked: list[NDArray[np.int64]] = []
    while len(asked) < held_out:
        row = _draw_row(random, rows)
        if row.tobytes() not in known:
            asked.append(row)
    return Lesson(_pair(task, seen), _pair(task, asked), rows.id_count)


def draw_pairs(task: str, rows: Rows, *, count: int, seed: int) -> EncodedPairs:
    """Draw pairs alone, to ask about rows of other lengths."""
    random = np.random.default_rng(derived_seed(seed, "pairs", rows.shortest, rows.longest))
    return _pair(task, [_draw_row(random, rows) for _ in range(count)])


def _draw_row(random: np.random.Generator, rows: Rows) -> NDArray[np.int64]:
    length = random.integers(rows.shortest, rows.longest + 1)
    return random.integers(len(RESERVED), rows.id_count, length)


def _pair(task: str, sources: list[NDArray[np.int64]]) -> EncodedPairs:
    return EncodedPairs(sources, [TASKS[task](row) for row in sources])


@dataclass(frozen=True)
class _RowsToLearn:
    """How many rows there are, how long they are, and how long they are learnt from."""

    symbols: int = 20
    shortest: int = 4
    longest: int = 12
    examples: int = 8_000
    held_out: int = 1_000
    hidden_size: int = 64
    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 5e-3

    def lesson(self, task: str, seed: int) -> Lesson:
        """Draw the rows of a task."""
        rows = Rows(self.symbols, self.shortest, self.longest)
        return draw_lesson(task, rows, training=self.examples, held_out=self.held_out, seed=seed)


@dataclass(frozen=True)
class _Taught:
    """A network after its lesson, and how it got there."""

    model: Seq2Seq
    lesson: Lesson
    history: Sequence[Milestone]

    @property
    def exact(self) -> float:
        """The share of held-out rows that it writes without a mistake."""
        return self.history[-1].exact

    @property
    def looked_at(self) -> float | None:
        """How many items a step looks at, where there is attention."""
        return effective_count(self.model, self.lesson.held_out)


class _Teacher:
    """Teaches networks in turn, and notes a row and a curve of each."""

    def __init__(self, config: TrainingConfig, seed: int, tell: Tell) -> None:
        self.config, self.seed, self.tell = config, seed, tell
        self.rows: list[ResultRow] = []
        self.curves: list[Curve] = []

    def teach(
        self,
        name: str,
        network: Seq2SeqConfig,
        lesson: Lesson,
        measure: Callable[[_Taught], tuple[float | None, ...]],
    ) -> None:
        """Teach a lesson; ``measure`` gives the numbers of the row."""
        clock = Stopwatch()
        model = build(network, lesson, self.seed)
        history = study(model, lesson, self.config, under(name, self.tell))
        self.rows.append(ResultRow(name, measure(_Taught(model, lesson, history)), clock.seconds))
        self.curves.append(curve(name, history))

    def finding(self, level: float | None = None) -> Finding:
        """What came out; ``level`` is marked in the chart."""
        chart = Chart("lines", "epoch", "exact match", tuple(self.curves), level=level)
        return Finding(self.seed, tuple(self.rows), chart)


@dataclass(frozen=True)
@checked_settings
class Symbols(_RowsToLearn):
    """Copying, reversing and sorting rows of symbols, with attention and without."""

    name: ClassVar[str] = "symbols"
    title: ClassVar[str] = "Copying, reversing, sorting: rows written without a mistake"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "items looked at by a step")

    @classmethod
    def quick(cls) -> Symbols:
        """A few short rows, looked at twice."""
        return cls(longest=5, examples=200, held_out=20, hidden_size=12, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach each task to two networks that differ in nothing but attention."""
        teacher = _Teacher(training_of(self, derived_seed(seed, "training")), seed, tell)
        for task in TASKS:
            lesson = self.lesson(task, seed)
            for way, decoder in DECODERS.items():
                network = replace(_SMALL, decoder=decoder, hidden_size=self.hidden_size)
                teacher.teach(
                    f"{task}, {way}", network, lesson, lambda one: (one.exact, one.looked_at)
                )
        return teacher.finding()


@dataclass(frozen=True)
@checked_settings
class ScoreComparison(_RowsToLearn):
    """The score functions of attention beside one another, on rows to be reversed."""

    name: ClassVar[str] = "scores"
    title: ClassVar[str] = "Score functions of attention: rows reversed without a mistake"
    columns: ClassVar[tuple[str, ...]] = (
        "exact match",
        "first epoch over target",
        "items looked at by a step",
    )
    # All but ``context``, which is ``general`` behind a tanh.
    compared: ClassVar[tuple[str, ...]] = (
        *("dot", "general", "general_diag"),
        *("concat", "additive", "location"),
    )

    epochs: int = 6
    target: float = 0.9

    @classmethod
    def quick(cls) -> ScoreComparison:
        """A few short rows."""
        return cls(longest=5, examples=100, held_out=10, hidden_size=12, epochs=1)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach the same rows to networks that differ in their score alone."""
        teacher = _Teacher(training_of(self, derived_seed(seed, "training")), seed, tell)
        lesson = self.lesson("reverse", seed)
        for score in self.compared:
            network = replace(_SMALL, score=score, hidden_size=self.hidden_size)
            teacher.teach(score, network, lesson, self._measure)
        return teacher.finding(self.target)

    def _measure(self, taught: _Taught) -> tuple[float | None, ...]:
        return taught.exact, first_over(taught.history, self.target), taught.looked_at


@dataclass(frozen=True)
@checked_settings
class Order:
    """Two tricks from before attention: read the source backwards, or read it twice.

    Backwards, the first item to be written is the last that was read (Sutskever et al. 2014).
    Twice, all of them have been seen when the second reading begins (Zaremba and Sutskever 2014).
    """

    name: ClassVar[str] = "order"
    title: ClassVar[str] = "Copying without attention: the source as it is, backwards, or twice"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "first epoch over target")

    symbols: int = 10
    length: int = 8
    examples: int = 8_000
    held_out: int = 1_000
    cell: CellName = "lstm"
    hidden_size: int = 96
    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 4e-3
    target: float = 0.5

    @classmethod
    def quick(cls) -> Order:
        """A few short rows."""
        return cls(length=3, examples=200, held_out=20, hidden_size=12, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach the same rows, read in three ways."""
        config = replace(training_of(self, derived_seed(seed, "training")), schedule="constant")
        teacher = _Teacher(config, seed, tell)
        rows = Rows(self.symbols, self.length, self.length)
        counts = {"training": self.examples, "held_out": self.held_out}
        lesson = draw_lesson("copy", rows, **counts, seed=seed)
        for name, network in READINGS.items():
            sized = replace(network, cell=self.cell, hidden_size=self.hidden_size)
            teacher.teach(name, sized, lesson, self._measure)
        return teacher.finding(self.target)

    def _measure(self, taught: _Taught) -> tuple[float | None, ...]:
        return taught.exact, first_over(taught.history, self.target)


@dataclass(frozen=True)
@checked_settings
class Depth(_RowsToLearn):
    """Depth against width: as many parameters in one, two or three layers.

    Each layer of a stacked LSTM hands its whole sequence to the next. The networks differ in how
    many layers they have, and in how wide those may be for the same number of parameters.
    """

    name: ClassVar[str] = "depth"
    title: ClassVar[str] = "Depth against width: sorting by LSTMs of as many parameters"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "cells in a layer", "parameters")

    longest: int = 8
    hidden_size: int = 96  # of the single layer
    epochs: int = 10
    deepest: int = 3

    def __post_init__(self) -> None:
        require(self.deepest >= 1, f"deepest must be at least 1, got {self.deepest}")

    @classmethod
    def quick(cls) -> Depth:
        """Small networks and a few short rows."""
        return cls(hidden_size=16, longest=5, examples=200, held_out=20, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach the same rows to networks of one layer, two, and so on."""
        teacher = _Teacher(training_of(self, derived_seed(seed, "training")), seed, tell)
        lesson = self.lesson("sort", seed)
        wanted = count_parameters(replace(_STACK, hidden_size=self.hidden_size), lesson)
        for layers in range(1, self.deepest + 1):
            network = as_large_as(wanted, replace(_STACK, layers=layers), lesson)
            sizes = (network.hidden_size, count_parameters(network, lesson))
            name = f"{layers} {'layer' if layers == 1 else 'layers'}"
            teacher.teach(name, network, lesson, partial(_exact_and, sizes))
        return teacher.finding()


def _exact_and(sizes: tuple[int, int], taught: _Taught) -> tuple[float | None, ...]:
    return (taught.exact, *sizes)


def as_large_as(wanted: int, network: Seq2SeqConfig, lesson: Lesson) -> Seq2SeqConfig:
    """Return the network with the width that brings its parameters nearest to those wanted."""
    widths = [replace(network, hidden_size=1)]
    while count_parameters(widths[-1], lesson) < wanted:
        widths.append(replace(network, hidden_size=widths[-1].hidden_size + 1))
    return min(widths[-2:], key=lambda one: abs(count_parameters(one, lesson) - wanted))


def count_parameters(network: Seq2SeqConfig, lesson: Lesson) -> int:
    """How many parameters a network has."""
    return sum(weight.numel() for weight in build(network, lesson, 0).parameters())


@dataclass(frozen=True)
@checked_settings
class Length:
    """The bottleneck: one state of a fixed size for a row of any length, against attention.

    Two networks learn to copy rows of all lengths; then each is asked about rows of one length at
    a time. Without attention all of a row must go through the encoder's last state.
    """

    name: ClassVar[str] = "length"
    title: ClassVar[str] = "Copying by length: rows written without a mistake"
    columns: ClassVar[tuple[str, ...]] = tuple(DECODERS)

    symbols: int = 20
    longest: int = 24
    every: int = 3  # lengths from one that is asked about to the next
    examples: int = 8_000
    asked: int = 300  # rows of each length
    hidden_size: int = 64
    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 5e-3

    def __post_init__(self) -> None:
        require(
            1 <= self.every <= self.longest,
            f"every must be from 1 to the longest, {self.longest}, got {self.every}",
        )

    @classmethod
    def quick(cls) -> Length:
        """A few short rows."""
        return cls(longest=6, examples=200, asked=10, hidden_size=12, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach both networks rows of all lengths, then ask length by length."""
        found = {
            way: self._shares(self._teach(decoder, seed, under(way, tell)), seed)
            for way, decoder in DECODERS.items()
        }
        lengths = range(self.every, self.longest + 1, self.every)
        rows = [
            ResultRow(f"{length} symbols", tuple(values))
            for length, *values in zip(lengths, *found.values(), strict=True)
        ]
        curves = [
            Curve(way, tuple(zip(map(float, lengths), shares, strict=True)))
            for way, shares in found.items()
        ]
        chart = Chart("lines", "symbols in the row", "exact match", tuple(curves))
        return Finding(seed, tuple(rows), chart)

    def _teach(self, decoder: DecoderName, seed: int, tell: Tell) -> Seq2Seq:
        rows = Rows(self.symbols, 1, self.longest)
        lesson = draw_lesson("copy", rows, training=self.examples, held_out=self.asked, seed=seed)
        network = replace(_SMALL, decoder=decoder, hidden_size=self.hidden_size)
        model = build(network, lesson, seed)
        config = training_of(self, derived_seed(seed, "training"))
        study(model, lesson, config, tell)
        return model

    def _shares(self, model: Seq2Seq, seed: int) -> list[float]:
        """The share that is right at every length."""
        return [
            float(
                right(
                    model,
                    draw_pairs(
                        "copy", Rows(self.symbols, length, length), count=self.asked, seed=seed
                    ),
                ).mean()
            )
            for length in range(self.every, self.longest + 1, self.every)
        ]
