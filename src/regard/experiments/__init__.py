"""Small experiments that show why attention is needed: ``regard experiment list``.

Each is settings that run themselves with a seed; numbers and a chart come out. Those that ask
about the same data are in one file.
"""

from __future__ import annotations

from .addition import Addition
from .cues import Penalty, PoolingComparison
from .gradients import Gradients
from .planted import Planted
from .running import ExperimentConfig, run_experiment
from .sequences import Depth, Length, Order, ScoreComparison, Symbols
from .shapes import Shapes
from .transliteration import Transliteration
from .vectors import Vectors

__all__ = ["EXPERIMENTS", "ExperimentConfig", "run_experiment"]

EXPERIMENTS: dict[str, type[ExperimentConfig]] = {
    "addition": Addition,
    "symbols": Symbols,
    "length": Length,
    "transliteration": Transliteration,
    "order": Order,
    "gradients": Gradients,
    "depth": Depth,
    "planted": Planted,
    "scores": ScoreComparison,
    "pooling": PoolingComparison,
    "penalty": Penalty,
    "vectors": Vectors,
    "shapes": Shapes,
}
"""Every experiment by its name on the command line."""
