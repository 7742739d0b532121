"""Captions: on a page, in a terminal, as a picture."""

from __future__ import annotations

from .page import render, render_errors

__all__ = ["render", "render_errors"]
