"""Every error this package raises on purpose.

RegardError
    ConfigError      a setting that is unknown, missing or out of range
    DataError        a file or a row that cannot be read as asked
    ModelError       a saved model that is broken, foreign or too new
    TrainingError    a training that cannot go on
    NotFittedError   an estimator asked to predict before fit or load
    MissingExtra     an optional package that the request needs

Each message says what was asked, what was found and what to do, in one line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "ConfigError",
    "DataError",
    "MissingExtra",
    "ModelError",
    "NotFittedError",
    "RegardError",
    "TrainingError",
    "nearest",
    "suggestion",
]


class RegardError(Exception):
    """Base of every error raised on purpose; catch this to catch them all."""


class ConfigError(RegardError, ValueError):
    """A setting is unknown, missing or out of range."""


class DataError(RegardError, ValueError):
    """A file or a row cannot be read as asked."""


class ModelError(RegardError):
    """A saved model is broken, foreign or too new."""


class TrainingError(RegardError):
    """A training cannot go on: its loss is no number any more."""


class NotFittedError(RegardError, ValueError, AttributeError):
    """An estimator was asked to predict before fit or load."""


class MissingExtra(RegardError, ImportError):
    """An optional package that the request needs is not installed."""

    def __init__(self, package: str, extra: str | None, purpose: str) -> None:
        """Name the extra that brings the package; None: it comes with any installation."""
        wanted = package if extra is None else f"'regard[{extra}]'"
        super().__init__(
            f"{purpose} needs {package}, which is not installed; run: pip install {wanted}"
        )


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is written most like ``name``, if one is."""
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1)), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return how an error about an unknown ``name`` goes on: the nearest one, or all there are."""
    names = sorted(known)
    close = nearest(name, names)
    return f"did you mean {close!r}?" if close else f"there are {', '.join(names) or 'none'}"
