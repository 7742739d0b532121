"""The kinds of pieces that there are, and a file that keeps which ones a model knows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ...config import from_dict
from ...errors import ConfigError, DataError, ModelError
from .listed import ListedUnits
from .pieces import Units, UnitsConfig
from .subwords import SubwordUnits

__all__ = ["build_units", "load_units", "save_units"]


def build_units(texts: Iterable[str], config: UnitsConfig) -> Units:
    """Find the pieces that the training texts are best cut into."""
    if config.kind == "subwords":
        return SubwordUnits.from_texts(texts, config)
    return ListedUnits.from_texts(texts, config)


def save_units(units: Units, path: Path) -> None:
    """Write the pieces to a JSON file."""
    path.write_text(json.dumps(units.to_dict(), indent=1), encoding="utf-8")


def load_units(path: Path) -> Units:
    """Read what ``save_units`` wrote."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict) or not isinstance(values.get("config"), dict):
            raise DataError("it names no settings")
        config = from_dict(UnitsConfig, values["config"])
        if config.kind == "subwords":
            return SubwordUnits.from_model(values.get("model"), config)
        return ListedUnits.from_pieces(values.get("pieces"), config)
    except (ConfigError, DataError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} holds no pieces of text: {error}") from error
