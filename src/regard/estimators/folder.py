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
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file
from torch import Tensor

from .. import __version__, config
from ..config import Plain
from ..data.labels import LabelIndex
from ..errors import ConfigError, ModelError, suggestion
from ..models import MODELS
from ..models.base import ModelConfig
from ..records.history import History
from ..tasks.baselines import BASELINE_FILES, TfidfBaseline
from ..text.tokenize import TextConfig
from ..text.vocab import Vocab
from ..training.config import TrainingConfig
from .card import card

__all__ = ["FORMAT", "Saved", "Settings", "read_folder", "require_free", "write_folder"]

FORMAT = 1
_NEEDED = ("config.json", "vocab.txt", "weights.safetensors")
_SEEN = "seen.safetensors"
_PARTS = (*_NEEDED, "card.md", _SEEN, *BASELINE_FILES)


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


def require_free(folder: Path) -> None:
    """Raise ``ModelError`` unless there is nothing at ``folder``, or a model to replace."""
    if not folder.exists() or all((folder / name).is_file() for name in _NEEDED):
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise ModelError(f"{folder} exists and is not a saved model; name another folder")


def write_folder(folder: Path, saved: Saved) -> None:
    """Write the folder in one step; a model that is already there is replaced, and nothing else."""
    require_free(folder)
    place = folder.resolve()  # a link stays one, and a name such as "." is not one
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as beside:
        fresh, old = Path(beside, "new"), Path(beside, "old")
        fresh.mkdir()
        _write_parts(fresh, saved)
        if place.exists():
            _keep_others(place, fresh)
            place.rename(old)
        try:
            fresh.rename(place)
        except OSError:
            if old.exists():
                old.rename(place)
            raise


def _keep_others(folder: Path, fresh: Path) -> None:
    """Give the new folder what else lies in the old one, such as reports."""
    for path in folder.iterdir():
        if path.name not in _PARTS:
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, fresh / path.name)


def read_folder(folder: Path, models: Mapping[str, type[ModelConfig]] | None = None) -> Saved:
    """Read a saved folder; ``models`` adds networks from outside the package, by name."""
    about = _read_config(folder)
    known = {**MODELS, **(models or {})}
    name = str(about.get("model"))
    if name not in known:
        raise ModelError(f"{folder} holds a network called {name!r}; {suggestion(name, known)}")
    try:
        saved = _read_parts(folder, about, known[name])
    except (KeyError, TypeError, ValueError, OSError, SafetensorError) as problem:
        if isinstance(problem, ConfigError):
            raise ModelError(f"{folder}/config.json: {problem}") from problem
        raise ModelError(
            f"{folder} is damaged ({type(problem).__name__}: {problem}); copy or train it again"
        ) from problem
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
    for path in folder.iterdir():
        # The writer of safetensors lets one user alone read its files; others follow the umask.
        path.chmod((folder / "config.json").stat().st_mode)


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
