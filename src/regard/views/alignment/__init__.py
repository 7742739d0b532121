"""Alignments: on a page, in a terminal, as a picture."""

from __future__ import annotations

from .page import render

__all__ = ["render"]
