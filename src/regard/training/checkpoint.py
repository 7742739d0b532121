"""The state of a run on disk: written now and then, and the way back into the run."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from torch import nn

from ..config import Plain, to_dict
from ..errors import ConfigError, ModelError, RegardError
from ..records.encoding import Json
from .batches import B, Batches
from .config import TrainingConfig
from .snapshot import Snapshot, read_snapshot, write_snapshot

__all__ = ["Checkpoint", "fingerprint"]

FORMAT = 2
ANEW = "begin anew without resuming (regard train --overwrite)"


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
        "network shape": _digest("\n".join(shapes).encode()),
        "batches": sum(batches.count(epoch) for epoch in range(config.epochs)),
        "first batch": _digest(content),
    }


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()
