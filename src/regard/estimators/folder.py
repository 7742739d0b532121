"""The saved folder: what is in it, how it is written, and what is said when it is broken.

    model/
      config.json          settings, classes, scores: everything but words and numbers
      vocab.txt            one word a line; the line's number is its id
      weights.safetensors  the network
      card.md              what it was trained on, how it scored, how to load it
      baseline.*           TF-IDF with logistic regression, to compare with (optional)

A folder is written under a temporary name and renamed, so that there is a whole one or none.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from .. import __version__, config
from ..config import Plain
from ..errors import ConfigError, ModelError, suggestion
from ..models import MODELS
from ..models.base import ModelConfig
from ..records.history import History
from ..tasks.baselines import TfidfBaseline
from ..text.tokenize import TextConfig
from ..text.vocab import Vocab
from ..training.config import TrainingConfig
from .card import card

__all__ = ["FORMAT", "Saved", "is_model_folder", "read_folder", "write_folder"]

FORMAT = 1
Classes = tuple[str | int, ...]


@dataclass(frozen=True)
class Saved:
    """Everything that makes a fitted classifier again."""

    network: ModelConfig
    text: TextConfig
    training: TrainingConfig
    classes: Classes
    multilabel: bool
    temperature: float
    vocab: Vocab
    weights: Mapping[str, Tensor]
    history: History | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)
    baseline: TfidfBaseline | None = None


def is_model_folder(folder: Path) -> bool:
    """Whether ``folder`` looks like one of ours."""
    return (folder / "config.json").is_file() and (folder / "weights.safetensors").is_file()


def write_folder(folder: Path, saved: Saved) -> None:
    """Write the folder in one step; one of ours that is already there is replaced."""
    if (
        folder.exists()
        and not is_model_folder(folder)
        and (folder.is_file() or any(folder.iterdir()))
    ):
        raise ModelError(f"{folder} exists and is not a saved model; name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = folder.with_name(f".{folder.name}.new-{os.getpid()}")
    old = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    try:
        _write_parts(fresh, saved)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def read_folder(folder: Path, models: Mapping[str, type[ModelConfig]] | None = None) -> Saved:
    """Read a saved folder; ``models`` adds networks from outside the package, by name."""
    about = _read_config(folder)
    known = {**MODELS, **(models or {})}
    name = str(about.get("model"))
    if name not in known:
        raise ModelError(f"{folder} holds a network called {name!r}; {suggestion(name, known)}")
    try:
        history = about.get("history")
        text = config.from_dict(TextConfig, _settings(about, "text"))
        return Saved(
            network=config.from_dict(known[name], _settings(about, "network")),
            text=text,
            training=config.from_dict(TrainingConfig, _settings(about, "training")),
            classes=tuple(cast(list[str | int], about["classes"])),
            multilabel=bool(about["multilabel"]),
            temperature=float(cast(float, about["temperature"])),
            vocab=Vocab.load(folder / "vocab.txt", lowercase=text.lowercase),
            weights=load_file(folder / "weights.safetensors"),
            history=None if history is None else History.from_json(json.dumps(history)),
            facts=_settings(about, "facts"),
            baseline=TfidfBaseline.load(folder),
        )
    except (KeyError, TypeError, ValueError, OSError, SafetensorError) as problem:
        if isinstance(problem, ConfigError):
            raise ModelError(f"{folder}/config.json: {problem}") from problem
        raise ModelError(
            f"{folder} is damaged ({type(problem).__name__}: {problem}); copy or train it again"
        ) from problem


def _write_parts(folder: Path, saved: Saved) -> None:
    about = {
        "format": FORMAT,
        "version": __version__,
        "model": saved.network.name,
        "classes": list(saved.classes),
        "multilabel": saved.multilabel,
        "temperature": saved.temperature,
        "text": config.to_dict(saved.text),
        "network": config.to_dict(saved.network),
        "training": config.to_dict(saved.training),
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
    # Its own writer leaves the file readable by one user alone; the folder's other files are not.
    (folder / "weights.safetensors").chmod((folder / "config.json").stat().st_mode)
    (folder / "card.md").write_text(card(about), encoding="utf-8", errors="backslashreplace")


def _read_config(folder: Path) -> dict[str, object]:
    if not folder.is_dir():
        raise ModelError(
            f"there is no folder {folder}; train a model with: regard train DATA --out {folder}"
        )
    try:
        about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} is not a saved model: it has no config.json") from None
    except (OSError, ValueError) as problem:
        raise ModelError(
            f"{folder}/config.json cannot be read ({problem}); copy or train it again"
        ) from problem
    if not isinstance(about, dict) or not isinstance(about.get("format"), int):
        raise ModelError(f"{folder}/config.json was not written by regard: it names no format")
    if about["format"] > FORMAT:
        raise ModelError(
            f"{folder} was saved in format {about['format']} by regard {about.get('version')}; "
            f"this is {__version__}, which reads up to format {FORMAT}: upgrade regard"
        )
    return about


def _settings(about: Mapping[str, object], part: str) -> Mapping[str, Plain]:
    return cast(Mapping[str, Plain], about[part])
