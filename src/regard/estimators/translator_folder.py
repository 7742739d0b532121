"""The saved folder of a translator.

model/
  config.json          settings, scores: everything but pieces and numbers
  source_units.json    the pieces that sources are read in
  target_units.json    the pieces that targets are written in
  weights.safetensors  the network
  card.md              what it was trained on, how it scored, how to load it
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from safetensors.torch import load_file, save_file
from torch import Tensor

from .. import __version__
from ..config import Plain, from_dict, to_dict
from ..models.seq2seq import Seq2SeqConfig
from ..records.history import History
from ..tasks.generate import GenerationConfig
from ..text.unit_kinds import load_units, save_units
from ..text.units import Units, UnitsConfig
from ..training.config import TrainingConfig
from ..training.forcing import ForcingConfig
from .saving import FORMAT, read_config, reading, replace_folder, require_task
from .translator_card import translator_card

__all__ = ["SavedTranslator", "TranslatorSettings", "read_translator", "write_translator"]


@dataclass(frozen=True)
class TranslatorSettings:
    """What a translator was fitted with, whatever its parameters have become since."""

    network: Seq2SeqConfig
    training: TrainingConfig
    units: UnitsConfig
    forcing: ForcingConfig
    generation: GenerationConfig
    validation: float = 0.1  # share of the training data

    def to_dict(self) -> dict[str, dict[str, Plain]]:
        """Return every part's settings as plain values, by the name of the part."""
        return {
            "network": to_dict(self.network),
            "training": to_dict(self.training),
            "units": to_dict(self.units),
            "forcing": to_dict(self.forcing),
            "generation": to_dict(self.generation),
        }


@dataclass(frozen=True)
class SavedTranslator:
    """Everything that makes a fitted translator again."""

    settings: TranslatorSettings
    source_units: Units
    target_units: Units
    weights: Mapping[str, Tensor]
    history: History | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)


def write_translator(folder: Path, saved: SavedTranslator) -> None:
    """Write the folder in one step; a model that is already there is replaced, and nothing else."""
    replace_folder(folder, lambda fresh: _write_parts(fresh, saved))


def read_translator(folder: Path) -> SavedTranslator:
    """Read a saved folder; one that is damaged, or no translator's, is an error."""
    about = read_config(folder)
    require_task(folder, about, "translate")
    with reading(folder):
        return _read_parts(folder, about)


def _write_parts(folder: Path, saved: SavedTranslator) -> None:
    about = {
        "format": FORMAT,
        "version": __version__,
        "task": "translate",
        "model": saved.settings.network.name,
        **saved.settings.to_dict(),
        "validation": saved.settings.validation,
        "facts": dict(saved.facts),
        "history": None if saved.history is None else json.loads(saved.history.to_json()),
    }
    (folder / "config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    save_units(saved.source_units, folder / "source_units.json")
    save_units(saved.target_units, folder / "target_units.json")
    save_file(
        {name: tensor.contiguous() for name, tensor in saved.weights.items()},
        folder / "weights.safetensors",
    )
    text = translator_card(about)
    (folder / "card.md").write_text(text, encoding="utf-8", errors="backslashreplace")


def _read_parts(folder: Path, about: Mapping[str, object]) -> SavedTranslator:
    history = about.get("history")
    return SavedTranslator(
        settings=TranslatorSettings(
            network=from_dict(Seq2SeqConfig, _part(about, "network")),
            training=from_dict(TrainingConfig, _part(about, "training")),
            units=from_dict(UnitsConfig, _part(about, "units")),
            forcing=from_dict(ForcingConfig, _part(about, "forcing")),
            generation=from_dict(GenerationConfig, _part(about, "generation")),
            validation=float(cast(float, about["validation"])),
        ),
        source_units=load_units(folder / "source_units.json"),
        target_units=load_units(folder / "target_units.json"),
        weights=load_file(folder / "weights.safetensors"),
        history=None if history is None else History.from_json(json.dumps(history)),
        facts=_part(about, "facts"),
    )


def _part(about: Mapping[str, object], name: str) -> Mapping[str, Plain]:
    return cast(Mapping[str, Plain], about[name])
