"""The saved folder: named parts, with one writer and one reader for every kind of model.

    model/
      config.json          what it is: settings, facts, history, and the digests of all files
      weights.safetensors  the network
      vocab.txt, ...       further parts, as the kind of model has them
      card.md              for people: what it was trained on, how it scored, how to load it

It is written whole or not at all. ``config.json`` keeps the SHA-256 of every file and of itself,
so a changed bit is found before anything is read; ``card.md`` alone may be edited. Folders of
format 1 have no digests, and are read without.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .. import __version__
from ..config import Plain, from_dict
from ..errors import ConfigError, DataError, ModelError, RegardError
from ..files import naming
from ..records.encoding import Json
from ..records.history import History
from .card import Card
from .exchange import recover_folder, replace_folder, require_place

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "FORMAT",
    "SavedFolder",
    "is_bert",
    "is_model",
    "open_folder",
    "read_config",
    "require_free",
    "seal",
    "task_of",
    "write_folder",
    "write_weights",
]

FORMAT = 2
CONFIG, WEIGHTS, CARD = "config.json", "weights.safetensors", "card.md"
_FIRST_PARTS = {
    *("vocab.txt", "seen.safetensors", "baseline.safetensors", "baseline.txt"),
    *("source_units.json", "target_units.json"),
}
"""The parts of folders of format 1, which do not list them."""
_EVERY = ("format", "version", "task", "model", "validation", "facts", "history", "digests")
"""What ``config.json`` says in every folder."""
_FILES = (CONFIG, WEIGHTS)
_AGAIN = "copy or train it again"
_LONGEST = 200  # characters of a problem that an error repeats

T = TypeVar("T", bound="DataclassInstance")


def write_folder(
    folder: Path,
    about: Mapping[str, object],
    parts: Mapping[str, Callable[[Path], None]],
    card: Card,
) -> None:
    """Write what a model is, and each part to the file of its name, in one step.

    A model that is already there is replaced, and nothing else: reports beside it stay.
    """
    require_free(folder)

    def write(fresh: Path) -> None:
        for name, part in parts.items():
            part(fresh / name)
        said = {"format": FORMAT, "version": __version__, **about}
        _write_json(fresh / CONFIG, said)
        seal(fresh)
        (fresh / CARD).write_text(card.write(said), encoding="utf-8", errors="backslashreplace")
        for path in fresh.iterdir():
            # The writer of safetensors lets one user alone read its files; others follow the umask.
            path.chmod((fresh / CONFIG).stat().st_mode)
        if folder.exists():
            _keep_others(folder, fresh)

    try:
        with naming(folder):  # what is full is the disk of this folder, whichever file it was
            replace_folder(folder, write)
    except SafetensorError as problem:
        raise ModelError(f"{folder} cannot be written ({_in_short(problem)})") from problem


def write_weights(weights: Mapping[str, Tensor]) -> Callable[[Path], None]:
    """Return the part that holds the weights of a network."""
    together = {name: tensor.cpu().contiguous() for name, tensor in weights.items()}
    return lambda path: save_file(together, path)


def seal(folder: Path) -> None:
    """Write the digests of all files of a folder, as they are now, into its ``config.json``."""
    about = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    digests = {name: _file_digest(folder / name) for name in names if name not in (CONFIG, CARD)}
    about["digests"] = digests
    _write_json(folder / CONFIG, about)
    digests[CONFIG] = _own_digest((folder / CONFIG).read_text(encoding="utf-8"))
    _write_json(folder / CONFIG, about)


def read_config(folder: Path) -> dict[str, Any] | None:
    """Return what the configuration of a folder says; None where it has none that can be read."""
    if not (folder / CONFIG).is_file():
        return None  # a pipe would keep whoever opens it waiting
    try:
        about = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return about if isinstance(about, dict) else None


def is_bert(folder: Path) -> bool:
    """Whether a folder holds a BERT as everyone exchanges them."""
    about = read_config(folder)
    return about is not None and about.get("model_type") == "bert" and "format" not in about


def is_model(folder: Path) -> bool:
    """Whether a folder is a saved model, sound or not."""
    if is_bert(folder):
        return True
    if not (folder / CONFIG).is_file() or not (folder / WEIGHTS).is_file():
        return False
    try:
        about = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(about, dict) and "format" in about


def require_free(folder: Path) -> None:
    """Raise ``ModelError`` unless there is nothing at ``folder``, or a model to replace."""
    require_place(folder)
    # "nothing/../data.csv" leads to a file, though the system says that there is no such path.
    place = folder.resolve()
    if not place.exists() or is_model(place):
        return
    if not place.is_dir() or any(place.iterdir()):
        raise ModelError(f"{folder} exists and is not a saved model; name another folder")


def task_of(folder: Path) -> str:
    """Return what the model of a saved folder does, such as "classify"."""
    if is_bert(folder):
        return "pretrain"
    about, _ = _read_config(folder)
    return _task(about)


def open_folder(
    folder: Path, task: str, *, says: Collection[str], parts: Collection[str]
) -> SavedFolder:
    """Open a saved folder; one that is missing, foreign, changed or of another task is an error.

    So is one whose ``config.json`` says more than ``says``, or lists more than ``parts``, beside
    what every folder has: a newer version wrote it, and answers would not be the ones it gives.
    """
    about, text = _read_config(folder)
    found = _task(about)
    if found != task:
        raise ModelError(
            f"{folder} holds a model for the task {found!r}, not {task!r}; "
            f"{CARD} in it says how to use it"
        )
    _verify(folder, about, text)
    opened = SavedFolder(folder, about)
    if about["format"] != 1:
        opened.require_known("config.json says", about, {*_EVERY, *says})
        opened.require_known("it has", cast(dict[str, Json], about["digests"]), {*_FILES, *parts})
    return opened


@dataclass(frozen=True, eq=False)
class SavedFolder:
    """A saved folder whose files are as they were written; what they say is not yet believed."""

    path: Path
    about: Mapping[str, Json]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Make whatever reading the folder raises one line about it, and leave our own errors."""
        try:
            yield
        except ConfigError as problem:
            raise ModelError(f"{self.path}/{CONFIG}: {_in_short(problem)}") from problem
        except DataError as problem:
            raise ModelError(f"{self.path}: {_in_short(problem)}; {_AGAIN}") from problem
        except RegardError:
            raise
        except Exception as problem:
            raise self._damaged(problem) from problem
        except BaseException as problem:
            # What a library in Rust gives up with is no Exception.
            if type(problem).__module__ != "pyo3_runtime":
                raise
            raise self._damaged(problem) from problem

    def require_known(self, place: str, found: Iterable[str], known: Collection[str]) -> None:
        """Raise ``ModelError`` where a folder has something that this version does not know."""
        unknown = next((name for name in found if name not in known), None)
        if unknown is not None:
            made = _in_short(self.about.get("version"))
            raise ModelError(
                f"{self.path} was made by a newer regard ({made}): {place} "
                f"{_in_short(repr(unknown))}, which this one ({__version__}) does not know; "
                "upgrade regard"
            )

    def settings(self, name: str, kind: type[T]) -> T:
        """Read a section of settings."""
        section = self.section(name)
        # Of a network from outside the package a newer regard says nothing: from_dict refuses.
        if kind.__module__.partition(".")[0] == __package__.partition(".")[0]:
            known = [field.name for field in fields(kind)]
            self.require_known(f"config.json says of {name}", section, known)
        return from_dict(kind, section)

    def section(self, name: str) -> Mapping[str, Plain]:
        """Return a section of plain values."""
        values = self.value(name)
        if not isinstance(values, dict):
            raise self.wrong(name, "an object")
        for key, value in values.items():
            if isinstance(value, list | dict):
                raise self.wrong(f"{name}.{key}", "a plain value")
        return cast(Mapping[str, Plain], values)

    def number(self, name: str, *, least: float, most: float) -> float:
        """Return a number that lies within limits."""
        value = self.value(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(name, "a number")
        if not least <= value <= most:
            raise self.wrong(name, f"a number from {least:g} to {most:g}")
        return float(value)

    def flag(self, name: str) -> bool:
        """Return what is true or false."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def value(self, name: str) -> Json:
        """Return what ``config.json`` says of something."""
        if name not in self.about:
            raise ModelError(f"{self.path}/{CONFIG} has no {name!r}; {_AGAIN}")
        return self.about[name]

    def history(self) -> History | None:
        """Return how the training went, where that is known."""
        told = self.about.get("history")
        return None if told is None else History.from_json(json.dumps(told))

    def part(self, name: str) -> Path:
        """Return the file of a part that the model cannot do without."""
        if not (self.path / name).is_file():
            raise ModelError(f"{self.path} has no {name}; {_AGAIN}")
        return self.path / name

    def weights(self, build: Callable[[], nn.Module]) -> Mapping[str, Tensor]:
        """Read the weights of the network that ``build`` makes.

        Their shapes are compared before anything is made, so that settings that ask for more
        memory than the file has weights take none.
        """
        path = self.part(WEIGHTS)
        with safe_open(path, "pt") as file:
            shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
        try:
            _require_fit(build, shapes)
        except (RuntimeError, MemoryError) as problem:
            # What torch says begins with a line about its own doings.
            reason = _in_short(str(problem).partition(":\n")[2] or problem)
            raise ModelError(
                f"{self.path}: {WEIGHTS} does not fit the rest ({reason}); {_AGAIN}"
            ) from problem
        weights = load_file(path)
        for name, weight in weights.items():
            if not weight.is_floating_point() or not bool(torch.isfinite(weight).all()):
                raise ModelError(f"{path}: {name} holds what is no number; {_AGAIN}")
        return weights

    def wrong(self, name: str, expected: str) -> ModelError:
        """Return the error that something is not what it should be."""
        found = _in_short(repr(self.about.get(name.partition(".")[0])))
        return ModelError(
            f"{self.path}/{CONFIG}: {name} must be {expected}, found {found}; {_AGAIN}"
        )

    def _damaged(self, problem: BaseException) -> ModelError:
        what = f"{type(problem).__name__}: {_in_short(problem)}"
        if "digests" not in self.about:
            return ModelError(f"{self.path} is damaged ({what}); {_AGAIN}")
        return ModelError(
            f"{self.path} cannot be read ({what}) though its files are as they were written: "
            "another program made them, or this is a mistake of regard"
        )


def _read_config(folder: Path) -> tuple[dict[str, Json], str]:
    """Read ``config.json`` and its text; a missing, foreign or too new folder is an error."""
    recover_folder(folder)
    if not folder.is_dir():
        if folder.exists():
            raise ModelError(f"{folder} is a file; name the folder that regard train wrote")
        raise ModelError(
            f"there is no folder {folder}; train a model with: regard train DATA --out {folder}"
        )
    for path in folder.iterdir():
        if path.exists() and not path.is_file() and not path.is_dir():
            # Whoever opens a pipe waits until somebody writes to it.
            raise ModelError(f"{path} is no file; {_AGAIN}")
    try:
        text = (folder / CONFIG).read_text(encoding="utf-8")
        about = json.loads(text)
    except FileNotFoundError:
        raise ModelError(f"{folder} is not a saved model: it has no {CONFIG}") from None
    except (OSError, ValueError, RecursionError, MemoryError) as problem:
        raise ModelError(
            f"{folder}/{CONFIG} cannot be read ({_in_short(problem)}); {_AGAIN}"
        ) from problem
    known = about.get("format") if isinstance(about, dict) else None
    if not isinstance(known, int) or isinstance(known, bool) or known < 1:
        raise ModelError(f"{folder}/{CONFIG} was not written by regard: it names no format")
    if known > FORMAT:
        raise ModelError(
            f"{folder} was saved in format {_in_short(known)} by regard "
            f"{_in_short(about.get('version'))}; this is {__version__}, which reads up to format "
            f"{FORMAT}: upgrade regard"
        )
    return cast(dict[str, Json], about), text


def _verify(folder: Path, about: Mapping[str, Json], text: str) -> None:
    """Raise ``ModelError`` where a file is not as it was written; format 1 cannot tell.

    ``text`` is that of ``config.json``, from which ``about`` was read.
    """
    if about["format"] == 1:
        return
    digests = about.get("digests")
    if not isinstance(digests, dict) or digests.get(CONFIG) != _own_digest(text):
        raise ModelError(f"{folder}/{CONFIG} is not as it was written; {_AGAIN}")
    for name, digest in digests.items():
        # A part that is not there is missed by whoever needs it.
        if name != CONFIG and (folder / name).is_file() and _file_digest(folder / name) != digest:
            raise ModelError(f"{folder}/{name} is not as it was written; {_AGAIN}")


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _own_digest(text: str) -> str:
    """The digest of all that ``config.json`` says, but for this digest itself and the layout."""
    # Numbers as they are written: two writings of one number are two contents.
    about = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    about["digests"].pop(CONFIG, None)
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode("ascii")).hexdigest()


def _write_json(path: Path, about: Mapping[str, object]) -> None:
    path.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _keep_others(folder: Path, fresh: Path) -> None:
    """Give the new folder what else lies in the old one, such as reports."""
    for path in folder.iterdir():
        if path.name not in {CONFIG, WEIGHTS, CARD, *_FIRST_PARTS, *_listed(folder)}:
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, fresh / path.name)


def _listed(folder: Path) -> set[str]:
    try:
        return set(json.loads((folder / CONFIG).read_text(encoding="utf-8"))["digests"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _task(about: Mapping[str, Json]) -> str:
    # The first folders were all classifiers, and did not say so.
    return _in_short(about.get("task", "classify"))


def _require_fit(build: Callable[[], nn.Module], shapes: Mapping[str, Sequence[int]]) -> None:
    """Raise ``RuntimeError`` unless a network takes weights of these shapes; needs no memory."""
    with torch.device("meta"), _WithoutDraws():
        try:
            model = build()
        except NotImplementedError:  # a network from outside that looks at the weights it draws
            return
        model.load_state_dict({name: torch.empty(tuple(shape)) for name, shape in shapes.items()})


class _WithoutDraws(TorchFunctionMode):
    """Leaves weights undrawn: without memory there are none, and yet torch would take long."""

    def __torch_function__(  # type: ignore[no-untyped-def]
        self, function, types, arguments=(), named=None
    ):
        if function is torch.Tensor.normal_:
            return arguments[0]
        if getattr(function, "__module__", None) == nn.init.__name__:
            return named["tensor"] if named and "tensor" in named else arguments[0]
        return function(*arguments, **(named or {}))


def _in_short(problem: object) -> str:
    text = " ".join(str(problem).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
