"""The saved folder: what is in it, how it is written, and what is said when it is broken.

    model/
      config.json          settings, classes, scores: everything but words and numbers
      vocab.txt            one word a line; the line's number is its id
      weights.safetensors  the network
      card.md              what it was trained on, how it scored, how to load it
      baseline.*           TF-IDF with logistic regression, to compare with (optional)
      seen.safetensors     a fingerprint of each training text, to know it again (optional)

A folder is written under a temporary name and renamed, so that there is a whole one or none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file
from torch import Tensor

from .. import __version__, config
from ..config import Plain
from ..data.labels import LabelIndex
from ..errors import ModelError, suggestion
from ..models import MODELS
from ..models.base import ModelConfig
from ..records.history import History
from ..tasks.baselines import TfidfBaseline
from ..text.tokenize import TextConfig
from ..text.vocab import Vocab
from ..training.config import TrainingConfig
from .card import card
from .saving import FORMAT, read_config, reading, replace_folder, require_task

__all__ = ["Saved", "Settings", "read_folder", "write_folder"]

_SEEN = "seen.safetensors"


@dataclass(frozen=True)
class Settings:
    """What a classifier was fitted with, whatever its parameters have become since."""

    network: ModelConfig
    text: TextConfig
    training: TrainingConfig
    validation: float = 0.1  # share of the training data


@dataclass(frozen=True)
class Saved:
    """Everything that makes a fitted classifier again."""

    settings: Settings
    labels: LabelIndex
    temperature: float
    vocab: Vocab
    weights: Mapping[str, Tensor]
    history: History | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)
    baseline: TfidfBaseline | None = None
    seen: NDArray[np.uint64] | None = None  # fingerprints of the training texts


def write_folder(folder: Path, saved: Saved) -> None:
    """Write the folder in one step; a model that is already there is replaced, and nothing else."""
    replace_folder(folder, lambda fresh: _write_parts(fresh, saved))


def read_folder(folder: Path, models: Mapping[str, type[ModelConfig]] | None = None) -> Saved:
    """Read a saved folder; ``models`` adds networks from outside the package, by name."""
    about = read_config(folder)
    require_task(folder, about, "classify")
    known = {**MODELS, **(models or {})}
    name = str(about.get("model"))
    if name not in known:
        raise ModelError(f"{folder} holds a network called {name!r}; {suggestion(name, known)}")
    with reading(folder):
        saved = _read_parts(folder, about, known[name])
    _require_fit(folder, saved)
    return saved


def _read_parts(folder: Path, about: Mapping[str, object], network: type[ModelConfig]) -> Saved:
    history = about.get("history")
    text = config.from_dict(TextConfig, _settings(about, "text"))
    classes = tuple(cast(list[str | int], about["classes"]))
    return Saved(
        settings=Settings(
            network=config.from_dict(network, _settings(about, "network")),
            text=text,
            training=config.from_dict(TrainingConfig, _settings(about, "training")),
            validation=float(cast(float, about.get("validation", 0.1))),
        ),
        labels=LabelIndex(classes, bool(about["multilabel"])),
        temperature=float(cast(float, about["temperature"])),
        vocab=Vocab.load(folder / "vocab.txt", lowercase=text.lowercase),
        weights=load_file(folder / "weights.safetensors"),
        history=None if history is None else History.from_json(json.dumps(history)),
        facts=_settings(about, "facts"),
        baseline=TfidfBaseline.load(folder),
        seen=load_arrays(folder / _SEEN)["fingerprints"] if (folder / _SEEN).exists() else None,
    )


def _require_fit(folder: Path, saved: Saved) -> None:
    """A vocabulary of another length would give words the vectors of others."""
    vectors = saved.weights.get("embedding.weight")
    if vectors is not None and len(vectors) != len(saved.vocab):
        raise ModelError(
            f"{folder}/vocab.txt has {len(saved.vocab):,} words, weights.safetensors vectors of "
            f"{len(vectors):,}; copy or train it again"
        )


def _write_parts(folder: Path, saved: Saved) -> None:
    settings = saved.settings
    about = {
        "format": FORMAT,
        "version": __version__,
        "model": settings.network.name,
        "classes": list(saved.labels.classes),
        "multilabel": saved.labels.multilabel,
        "temperature": saved.temperature,
        "text": config.to_dict(settings.text),
        "network": config.to_dict(settings.network),
        "training": config.to_dict(settings.training),
        "validation": settings.validation,
        "facts": dict(saved.facts),
        "history": None if saved.history is None else json.loads(saved.history.to_json()),
    }
    (folder / "config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    saved.vocab.save(folder / "vocab.txt")
    save_file(
        {name: tensor.contiguous() for name, tensor in saved.weights.items()},
        folder / "weights.safetensors",
    )
    if saved.baseline is not None:
        saved.baseline.save(folder)
    if saved.seen is not None:
        save_arrays({"fingerprints": saved.seen}, folder / _SEEN)
    (folder / "card.md").write_text(card(about), encoding="utf-8", errors="backslashreplace")


def _settings(about: Mapping[str, object], part: str) -> Mapping[str, Plain]:
    return cast(Mapping[str, Plain], about[part])
