"""What a look through a corpus found: on a page and in a terminal."""

from __future__ import annotations

from .page import render
from .terminal import summary

__all__ = ["render", "summary"]
