"""Reading which words belong together: lines such as ``0-0 1-2 2?1``, one for each pair."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import DataError
from ...records.translation import GoldLinks, Link
from .lines import Lines

__all__ = ["parse_links", "read_links"]

_LINK = re.compile(r"(\d+)([-?])(\d+)", re.ASCII)


def parse_links(line: str) -> GoldLinks:
    """Read the links of one pair: ``i-j`` is sure, ``i?j`` is possible, words counted from 0.

    An empty line is a pair without links.
    """
    found: dict[str, set[Link]] = {"-": set(), "?": set()}
    for part in line.split():
        match = _LINK.fullmatch(part)
        if match is None:
            raise DataError(
                f"{part!r} is no link; write 3-2 for a sure one, 3?2 for a possible one"
            )
        source, kind, target = match.groups()
        found[kind].add((int(source), int(target)))
    return GoldLinks(frozenset(found["-"]), frozenset(found["?"]))


def read_links(path: Path | str) -> Iterator[GoldLinks]:
    """Read the links of one pair from each line of a file, in the format of Pharaoh."""
    lines = Lines(path, "utf-8")
    for number, (line, problem) in enumerate(lines, 1):
        try:
            if problem:
                raise DataError(problem)
            yield parse_links(line)
        except DataError as wrong:
            raise DataError(f"{lines.name}:{number}: {wrong}") from wrong
