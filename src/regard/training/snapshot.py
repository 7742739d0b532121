"""Tensors and plain values by name, in one file that is there whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from safetensors.torch import load, save
from torch import Tensor

from ..errors import ModelError
from ..files import naming, open_named
from ..records.encoding import Json

__all__ = ["Snapshot", "read_snapshot", "write_snapshot"]

T = TypeVar("T")
_MARK, _NONE = b"sha256 ", b"0" * 64
"""Before the plain values stands the digest of the whole file, taken with zeros in its place."""


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
