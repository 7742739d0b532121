"""One of several shares of a data set, so that many machines can work at it, each by itself.

Rows are dealt out in blocks, one to each share in turn: every share reads the whole file, which is
cheap beside what is done with a row, and none needs to know how many rows there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ..errors import ConfigError

__all__ = ["Shard"]

T = TypeVar("T")
BLOCK = 1024  # rows


@dataclass(frozen=True, slots=True)
class Shard:
    """Share number ``number``, from 1, of ``count``."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read what is written as 3/16."""
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ConfigError(f"--shard is a number and how many there are, as 3/16, not {text!r}")
        return cls(int(found[1]), int(found[2]))

    def name(self, path: str) -> str:
        """Name the file of this share: ``x.jsonl`` becomes ``x.part-03-of-16.jsonl``."""
        whole, width = Path(path), len(str(self.count))
        part = f"part-{self.number:0{width}}-of-{self.count}"
        return str(whole.with_name(f"{whole.stem}.{part}{whole.suffix}"))

    def of(self, rows: Iterable[T]) -> Iterator[T]:
        """Pass on the rows of this share."""
        stream, place = iter(rows), 0
        while block := list(islice(stream, BLOCK)):
            if place % self.count == self.number - 1:
                yield from block
            place += 1
