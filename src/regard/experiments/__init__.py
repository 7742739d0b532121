"""Small experiments that show why attention is needed: ``regard experiment list``."""

from __future__ import annotations

from .running import ExperimentConfig

__all__ = ["EXPERIMENTS", "ExperimentConfig"]

EXPERIMENTS: dict[str, type[ExperimentConfig]] = {}
