"""Tensors and plain values by name, in one file that is there whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from ..errors import ModelError
from ..files import naming, open_named
from ..records.encoding import Json

__all__ = ["Snapshot", "read_snapshot", "write_snapshot"]

T = TypeVar("T")


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
        return save(apart, {"values": json.dumps(self.values)})

    @classmethod
    def from_bytes(cls, content: bytes) -> Snapshot:
        """Read what ``to_bytes`` gave, onto the CPU."""
        # The format: the header's length in eight bytes, the header as JSON, the tensors.
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        return cls(load(content), json.loads(header["__metadata__"]["values"]))


def write_snapshot(path: Path, snapshot: Snapshot) -> None:
    """Write the snapshot under a temporary name, then put it in the place of an older one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    with open_named(partial, "wb") as file, naming(partial):
        file.write(snapshot.to_bytes())
        file.flush()
        # Renamed before its bytes are on the disk, it could be found empty after a power cut.
        os.fsync(file.fileno())
    partial.replace(path)


def read_snapshot(path: Path) -> Snapshot:
    """Read what ``write_snapshot`` wrote."""
    try:
        return Snapshot.from_bytes(path.read_bytes())
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as problem:
        raise ModelError(
            f"the checkpoint {path} is damaged ({problem}); delete it to start from the beginning"
        ) from problem


def _below(prefix: str, named: Mapping[str, T]) -> dict[str, T]:
    return {
        name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)
    }
