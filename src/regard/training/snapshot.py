"""Tensors and plain values by name, in one file that is there whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from ..errors import ModelError
from ..records.encoding import Json

__all__ = ["Snapshot", "read_snapshot", "write_snapshot"]


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Tensors and plain values by name: what a part of a training needs to go on."""

    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    values: Mapping[str, Json] = field(default_factory=dict)

    def under(self, name: str) -> Snapshot:
        """The part that ``join`` put under ``name``."""
        prefix = f"{name}/"
        return Snapshot(
            {
                key.removeprefix(prefix): t
                for key, t in self.tensors.items()
                if key.startswith(prefix)
            },
            {
                key.removeprefix(prefix): v
                for key, v in self.values.items()
                if key.startswith(prefix)
            },
        )

    @classmethod
    def join(cls, parts: Mapping[str, Snapshot]) -> Snapshot:
        """Put snapshots together, each under its name."""
        return cls(
            {f"{name}/{key}": t for name, part in parts.items() for key, t in part.tensors.items()},
            {f"{name}/{key}": v for name, part in parts.items() for key, v in part.values.items()},
        )


def write_snapshot(path: Path, snapshot: Snapshot) -> None:
    """Write the snapshot under a temporary name, then put it in the place of an older one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    # safetensors wants each tensor alone in its memory; views and shared ones are copied apart.
    tensors = {
        name: t.detach().to("cpu", copy=True).contiguous() for name, t in snapshot.tensors.items()
    }
    save_file(tensors, partial, metadata={"values": json.dumps(snapshot.values)})
    # Renamed before its bytes are on the disk, a file could be found empty after a power cut.
    _flush(partial)
    partial.replace(path)
    _flush(path.parent)


def read_snapshot(path: Path) -> Snapshot:
    """Read what ``write_snapshot`` wrote, onto the CPU."""
    try:
        with safe_open(path, framework="pt") as file:
            values = json.loads(file.metadata()["values"])
            names: list[str] = file.keys()
            tensors: dict[str, Tensor] = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as problem:
        raise ModelError(
            f"the checkpoint {path} is damaged ({problem}); delete it to start from the beginning"
        ) from problem
    return Snapshot(tensors, values)


def _flush(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
