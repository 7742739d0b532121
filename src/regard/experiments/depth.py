"""Depth against width: as many parameters in one, two or three layers.

Each layer of a stacked LSTM hands its whole sequence to the next. The networks differ in how many
layers they have, and in how wide those may be for the same number of parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..config import checked_settings, require
from ..models.seq2seq import PRESETS, Seq2SeqConfig
from ..records.experiment import Chart, Finding, Row
from ..training.seeds import derived_seed
from .running import Stopwatch, Tell, training_of, under
from .sequences import Rows, draw_lesson
from .teaching import Lesson, build, curve, study

__all__ = ["Depth", "as_large_as"]

_STACK = replace(PRESETS["addition"], cell="lstm", decoder="sutskever", directions=1, bridge="copy")


@dataclass(frozen=True)
@checked_settings
class Depth:
    """How wide a single layer is, and how deep its rivals of the same size are."""

    name: ClassVar[str] = "depth"
    title: ClassVar[str] = "Depth against width: sorting by LSTMs of as many parameters"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "cells in a layer", "parameters")

    deepest: int = 3
    hidden_size: int = 96  # of the single layer
    symbols: int = 20
    shortest: int = 4
    longest: int = 8
    examples: int = 8_000
    held_out: int = 1_000
    epochs: int = 10
    batch_size: int = 64
    learning_rate: float = 5e-3

    def __post_init__(self) -> None:
        require(self.deepest >= 1, f"deepest must be at least 1, got {self.deepest}")

    @classmethod
    def quick(cls) -> Depth:
        """Small networks and a few short rows."""
        return cls(hidden_size=16, longest=5, examples=200, held_out=20, epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach the same rows to networks of one layer, two, and so on."""
        shape = Rows(self.symbols, self.shortest, self.longest)
        lesson = draw_lesson(
            "sort", shape, training=self.examples, held_out=self.held_out, seed=seed
        )
        config = training_of(self, derived_seed(seed, "training"))
        wanted = parameter_count(replace(_STACK, hidden_size=self.hidden_size), lesson)
        rows, curves = [], []
        for layers in range(1, self.deepest + 1):
            name, clock = f"{layers} {'layer' if layers == 1 else 'layers'}", Stopwatch()
            network = as_large_as(wanted, replace(_STACK, layers=layers), lesson)
            history = study(build(network, lesson, seed), lesson, config, under(name, tell))
            sizes = (network.hidden_size, parameter_count(network, lesson))
            rows.append(Row(name, (history[-1].exact, *sizes), clock.seconds))
            curves.append(curve(name, history))
        return Finding(seed, tuple(rows), Chart("lines", "epoch", "exact match", tuple(curves)))


def as_large_as(wanted: int, network: Seq2SeqConfig, lesson: Lesson) -> Seq2SeqConfig:
    """Return the network with the width that brings its parameters nearest to those wanted."""
    widths = [replace(network, hidden_size=1)]
    while parameter_count(widths[-1], lesson) < wanted:
        widths.append(replace(network, hidden_size=widths[-1].hidden_size + 1))
    return min(widths[-2:], key=lambda one: abs(parameter_count(one, lesson) - wanted))


def parameter_count(network: Seq2SeqConfig, lesson: Lesson) -> int:
    """How many parameters a network has."""
    return sum(weight.numel() for weight in build(network, lesson, 0).parameters())
