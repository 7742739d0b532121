"""Texts to tokens, sentences and ids of words in C, as ``text.tokenize`` defines them."""

from __future__ import annotations

from .scanner import (
    BeginningTable,
    Encoded,
    Likeness,
    Nearness,
    RunTable,
    Scanner,
    ScannerRules,
    Search,
    WordTable,
    look_up,
    why_not,
)

__all__ = [
    "BeginningTable",
    "Encoded",
    "Likeness",
    "Nearness",
    "RunTable",
    "Scanner",
    "ScannerRules",
    "Search",
    "WordTable",
    "available",
    "describe",
    "look_up",
]


def available() -> bool:
    """Say whether texts can be scanned in C here."""
    return not why_not()


def describe() -> str:
    """Say in a line whether texts are scanned in C, or why they are not."""
    problem = why_not()
    return f"native: not used, {problem}; Python runs instead" if problem else "native"
