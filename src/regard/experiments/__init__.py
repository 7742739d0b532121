"""Small experiments that show why attention is needed: ``regard experiment list``.

Each is a file: settings, what it does with a seed, and the numbers and the chart that come out.
"""

from __future__ import annotations

from .addition import Addition
from .depth import Depth
from .gradients import Gradients
from .length import Length
from .order import Order
from .penalty import Penalty
from .planted import Planted
from .pooling import Pooling
from .running import ExperimentConfig, run_experiment
from .scores import Scores
from .symbols import Symbols
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
    "scores": Scores,
    "pooling": Pooling,
    "penalty": Penalty,
    "vectors": Vectors,
}
"""Every experiment by its name on the command line."""
