"""What every saved folder has in common: it is written whole or not at all, and says what it is."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError
from torch import Tensor, nn

from .. import __version__
from ..errors import ConfigError, ModelError
from ..tasks.baselines import BASELINE_FILES

__all__ = [
    "FORMAT",
    "load_weights",
    "read_config",
    "reading",
    "replace_folder",
    "require_free",
    "require_task",
    "task_of",
]

FORMAT = 1
_NEEDED = {
    "classify": ("config.json", "vocab.txt", "weights.safetensors"),
    "translate": (
        "config.json",
        "source_units.json",
        "target_units.json",
        "weights.safetensors",
    ),
}
"""The files by which a saved model is known, for each task."""
_PARTS = {name for names in _NEEDED.values() for name in names}
_PARTS |= {"card.md", "seen.safetensors", *BASELINE_FILES}
_USE = {
    "classify": "a classifier; use regard predict, or DocumentClassifier.load",
    "translate": "a translator; use regard translate, or Translator.load",
}


def load_weights(
    model: nn.Module, weights: Mapping[str, Tensor], folder: Path | str, *, fits: str
) -> None:
    """Put the weights of a folder into the network that the rest of it, ``fits``, describes."""
    try:
        model.load_state_dict(dict(weights))
    except RuntimeError as problem:
        raise ModelError(
            f"{folder}: weights.safetensors does not fit {fits}; copy or train it again"
        ) from problem
    model.eval()


def require_free(folder: Path) -> None:
    """Raise ``ModelError`` unless there is nothing at ``folder``, or a model to replace."""
    if not folder.exists():
        return
    if any(all((folder / name).is_file() for name in names) for names in _NEEDED.values()):
        return
    if not folder.is_dir() or any(folder.iterdir()):
        raise ModelError(f"{folder} exists and is not a saved model; name another folder")


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Write a folder in one step; a model that is already there is replaced, and nothing else."""
    require_free(folder)
    place = folder.resolve()  # a link stays one, and a name such as "." is not one
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as beside:
        fresh, old = Path(beside, "new"), Path(beside, "old")
        fresh.mkdir()
        write(fresh)
        for path in fresh.iterdir():
            # The writer of safetensors lets one user alone read its files; others follow the umask.
            path.chmod((fresh / "config.json").stat().st_mode)
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


def read_config(folder: Path) -> dict[str, object]:
    """Read ``config.json``; a folder that is missing, foreign or too new is an error."""
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


def task_of(folder: Path) -> str:
    """Return what the model of a saved folder does: "classify" or "translate"."""
    return _task(read_config(folder))


def require_task(folder: Path, about: Mapping[str, object], task: str) -> None:
    """Raise ``ModelError`` where the model does something else than ``task``."""
    found = _task(about)
    if found != task:
        raise ModelError(f"{folder} holds {_USE.get(found, f'a model for the task {found!r}')}")


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Make whatever fails inside an error about the folder."""
    try:
        yield
    except ConfigError as problem:
        raise ModelError(f"{folder}/config.json: {problem}") from problem
    except (KeyError, TypeError, ValueError, OSError, SafetensorError) as problem:
        raise ModelError(
            f"{folder} is damaged ({type(problem).__name__}: {problem}); copy or train it again"
        ) from problem


def _task(about: Mapping[str, object]) -> str:
    # The first folders were all classifiers, and did not say so.
    return str(about.get("task", "classify"))
