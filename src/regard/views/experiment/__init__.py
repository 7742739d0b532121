"""Experiments: as a picture and in a terminal."""

from __future__ import annotations

from .picture import render_plot
from .terminal import experiment_lines

__all__ = ["experiment_lines", "render_plot"]
