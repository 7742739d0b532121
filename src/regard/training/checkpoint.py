"""The state of a run: as named tensors and plain values, on disk, and the way back into the run."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from safetensors.torch import load, save
from torch import Tensor, nn

from ..config import Plain, to_dict
from ..errors import ConfigError, ModelError, RegardError
from ..files import naming, open_named
from ..records.encoding import Json
from .batches import B, Batches
from .config import TrainingConfig

__all__ = ["Checkpoint", "Snapshot", "fingerprint", "read_snapshot", "write_snapshot"]

FORMAT = 2
ANEW = "start again without resuming (regard train --overwrite)"

_MARK, _NONE = b"sha256 ", b"0" * 64
"""Before the plain values stands the digest of the whole file, taken with zeros in its place."""
T = TypeVar("T")


class Checkpoint:
    """A folder that keeps the state of a run, so that a killed one can go on.

    ``settings`` says what else than the training's own settings must be the same for that: the
    network's, the text's, the data's digest. The folder holds one file, ``state.safetensors``:
    tensors, and in its header the plain values as JSON.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Plain] | None = None,
        *,
        resume: bool = False,
        every_seconds: float = 300.0,
    ) -> None:
        self.folder = folder
        self.resume = resume
        self._settings = dict(settings or {})
        self._every_seconds = every_seconds
        self._saved_at = time.monotonic()

    @property
    def path(self) -> Path:
        """The file that holds the state."""
        return self.folder / "state.safetensors"

    @property
    def due(self) -> bool:
        """Whether the last state was saved, or the run begun, long enough ago."""
        return time.monotonic() - self._saved_at >= self._every_seconds

    def load(self, settings: Mapping[str, Plain]) -> Snapshot | None:
        """Return the saved state, or None to start anew; that of another run is an error."""
        if not self.resume or not self.path.exists():
            return None
        try:
            saved = read_snapshot(self.path)
        except ModelError as problem:
            raise ModelError(f"{problem}; {ANEW}") from problem
        head = saved.under("checkpoint")
        if head.values.get("format") != FORMAT:
            raise ModelError(
                f"the checkpoint {self.path} has format {head.values.get('format')}, this version "
                f"reads {FORMAT}; resume with the version that began, or {ANEW}"
            )
        with self.restoring():
            self._require_same(cast(dict[str, Json], head.values["settings"]), settings)
        return saved.under("run")

    @contextmanager
    def restoring(self) -> Iterator[None]:
        """Make it one line where a state that was read is not that of any run."""
        try:
            yield
        except (KeyError, ValueError, TypeError, RuntimeError, AttributeError) as problem:
            if isinstance(problem, RegardError):
                raise
            reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
            raise ModelError(
                f"the checkpoint {self.path} is not that of such a run ({reason}); {ANEW}"
            ) from problem

    def save(self, run: Snapshot, settings: Mapping[str, Plain]) -> None:
        """Put the state of the run in the place of the one saved before."""
        head = Snapshot(values={"format": FORMAT, "settings": {**self._settings, **settings}})
        write_snapshot(self.path, Snapshot.join({"checkpoint": head, "run": run}))
        self._saved_at = time.monotonic()

    def remove(self) -> None:
        """Delete the state, once the model is saved for good; the folder goes too when empty."""
        self.path.unlink(missing_ok=True)
        self.path.with_name(f"{self.path.name}.partial").unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _require_same(self, saved: Mapping[str, Json], settings: Mapping[str, Plain]) -> None:
        asked: Mapping[str, Json] = {**self._settings, **settings}
        # Settings, which have a dot in their names, first: a digest tells a person nothing.
        for name in sorted({*saved, *asked}, key=lambda name: ("." not in name, name)):
            if saved.get(name) != asked.get(name):
                raise ConfigError(
                    f"cannot resume from {self.folder}: it was begun with {name} = "
                    f"{saved.get(name)}, now it is {asked.get(name)}; use the same settings and "
                    f"data, or {ANEW}"
                )


def fingerprint(model: nn.Module, batches: Batches[B], config: TrainingConfig) -> dict[str, Plain]:
    """Say in a few plain values what a run is made of; runs that differ in one cannot be joined."""
    shapes = [f"{name} {tuple(weight.shape)}" for name, weight in model.state_dict().items()]
    # One batch is read in a moment; it tells other data, another order or another vocabulary.
    first = next(iter(batches.read(0)))
    content = b"".join(part.cpu().numpy().tobytes() for part in first.tensors)
    return {
        **{f"training.{name}": value for name, value in to_dict(config).items()},
        "network shape": _short_digest("\n".join(shapes).encode()),
        "batches": sum(batches.count(epoch) for epoch in range(config.epochs)),
        "first batch": _short_digest(content),
    }


def _short_digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Tensors and plain values by name: what a part of a training needs to go on."""

    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    values: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def join(cls, parts: Mapping[str, Snapshot]) -> Snapshot:
        """Put snapshots together, each under its name."""
        return cls(
            {f"{name}/{key}": t for name, part in parts.items() for key, t in part.tensors.items()},
            {f"{name}/{key}": v for name, part in parts.items() for key, v in part.values.items()},
        )

    def under(self, name: str) -> Snapshot:
        """The part that ``join`` put under ``name``."""
        return Snapshot(_below(f"{name}/", self.tensors), _below(f"{name}/", self.values))

    def to_bytes(self) -> bytes:
        """Return the snapshot as a safetensors file, the plain values as JSON in its header."""
        # safetensors wants each tensor alone in its memory: views and shared ones are copied apart.
        apart = {
            name: t.detach().to("cpu", copy=True).contiguous() for name, t in self.tensors.items()
        }
        return save(apart, {"values": _MARK.decode() + _NONE.decode() + json.dumps(self.values)})

    @classmethod
    def from_bytes(cls, content: bytes) -> Snapshot:
        """Read what ``to_bytes`` gave, onto the CPU."""
        header = json.loads(content[_header(content)])
        values = header["__metadata__"]["values"]
        if values.startswith(_MARK.decode()):
            values = values[len(_MARK) + len(_NONE) :]
        return cls(load(content), json.loads(values))


def write_snapshot(path: Path, snapshot: Snapshot) -> None:
    """Write the snapshot under a temporary name, then put it in the place of an older one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    content = snapshot.to_bytes()
    with open_named(partial, "wb") as file, naming(partial):
        file.write(_with_digest(content, _digest(content)))
        file.flush()
        # Renamed before its bytes are on the disk, it could be found empty after a power cut.
        os.fsync(file.fileno())
    partial.replace(path)


def read_snapshot(path: Path) -> Snapshot:
    """Read what ``write_snapshot`` wrote."""
    try:
        content = path.read_bytes()
        digest = content[_header(content)].partition(_MARK)[2][: len(_NONE)]
        # A file that was written before there were digests has none.
        if digest and _digest(_with_digest(content, _NONE)) != digest:
            raise ValueError("its bytes are not those that were written")
        return Snapshot.from_bytes(content)
    except Exception as problem:  # whatever bytes can make the readers of JSON and tensors raise
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
        raise ModelError(f"the checkpoint {path} is damaged ({reason})") from problem


def _header(content: bytes) -> slice:
    """Where the header is: after its length in eight bytes, and before the tensors."""
    return slice(8, 8 + int.from_bytes(content[:8], "little"))


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _with_digest(content: bytes, digest: bytes) -> bytes:
    """Put a digest into the header, in the place of the one that is there."""
    head = _header(content)
    place = content.find(_MARK, head.start, head.stop) + len(_MARK)
    return content[:place] + digest + content[place + len(digest) :]


def _below(prefix: str, named: Mapping[str, T]) -> dict[str, T]:
    return {
        name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)
    }
