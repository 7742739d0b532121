"""The lines of a text file, decoded one at a time, so that a bad one spoils no other."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import re
import sys
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from ..errors import DataError

__all__ = ["STANDARD_INPUT", "Lines", "Resumed", "Source", "open_bytes"]

STANDARD_INPUT = "-"

_LONGEST_LINE = 1 << 28
_BLOCK = 1 << 20
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
# What Western European texts hold beyond ASCII. Another byte, a run of four or a euro sign far
# from any digit speaks for a broken UTF-8 file or for another part of the world.
_WESTERN = "àáâãäåæçèéêëìíîïñòóôõöøœùúûüýßšžÀÁÂÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÖØŒÙÚÛÜ‘’“”–—…•€£§°«»´·¡¿®™©½\xa0"
_NOT_WESTERN = re.compile(
    b"[^\\x00-\\x7f"
    + re.escape(_WESTERN.encode("cp1252"))
    + rb"]|[\x80-\xff]{4}|(?<![0-9 ])\x80(?! ?[0-9])"
)


class Source(Protocol):
    """Named lines, each with what is wrong with it or ``None``."""

    name: str

    def __iter__(self) -> Iterator[tuple[str, str | None]]: ...


class Lines:
    """The lines of a file with their line ends, each with what is wrong with it or ``None``.

    A line that cannot be decoded comes with escaped bytes, so that quotes in it still count.
    ``encoding`` says, once lines were read, how they were decoded.
    """

    def __init__(self, path: Path | str, encoding: str | None = None) -> None:
        self.name = "standard input" if str(path) == STANDARD_INPUT else str(path)
        self.encoding = encoding or "utf-8"
        self._path = path
        self._given = encoding

    def __iter__(self) -> Iterator[tuple[str, str | None]]:
        number = 0
        self.encoding = self._given or "utf-8"
        try:
            with open_bytes(self._path) as stream:
                for number, line in enumerate(self._lines(stream), 1):  # noqa: B007
                    yield line
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise DataError(f"{self.name} is damaged after line {number}: {problem}") from problem
        except UnicodeDecodeError as problem:
            raise DataError(
                f"{self.name}:{number + 1}: cannot be read as {self.encoding}: {problem.reason}"
            ) from problem

    def _lines(self, stream: io.BufferedReader) -> Iterator[tuple[str, str | None]]:
        head = stream.peek(_BLOCK)
        for mark, encoding in _BYTE_ORDER_MARKS.items():
            if head.startswith(mark) and self._given is None:
                self.encoding = encoding
        old_ends = b"\r" in head and b"\n" not in head
        if self.encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")) or old_ends:
            yield from self._wide_lines(stream, "\r" if old_ends else "\n")
            return
        if head.startswith(b"\xef\xbb\xbf") and self.encoding.lower() in ("utf-8", "utf8"):
            stream.read(3)
        yield from self._narrow_lines(stream)

    def _narrow_lines(self, stream: BinaryIO) -> Iterator[tuple[str, str | None]]:
        """Lines of an encoding in which the byte of a line end stands for nothing else."""
        encoding = self.encoding
        seen_beyond_ascii = False
        for number, raw in enumerate(iter(lambda: stream.readline(_LONGEST_LINE), b""), 1):
            if len(raw) == _LONGEST_LINE:
                raise DataError(f"{self.name}:{number}: the line is longer than 256 MiB")
            try:
                line = raw.decode(encoding)
                seen_beyond_ascii = seen_beyond_ascii or not raw.isascii()
            except UnicodeDecodeError as problem:
                guess = self._given is None and not seen_beyond_ascii
                if not guess or _NOT_WESTERN.search(raw):
                    yield raw.decode(encoding, "surrogateescape"), _described(problem, encoding)
                    continue
                self._assume_western(number)
                line = raw.decode("cp1252")
            yield line, None

    def _wide_lines(self, stream: BinaryIO, end: str) -> Iterator[tuple[str, str | None]]:
        """Lines that can be found only after decoding."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        errors = "surrogatepass" if encoding.startswith("utf") else "strict"
        lines = io.TextIOWrapper(stream, encoding, errors, newline=end)
        try:
            for line in lines:
                yield line, None
        finally:
            lines.detach()

    def _assume_western(self, number: int) -> None:
        # A line of cp1252 that happens to be UTF-8 too is all but impossible, so the lines
        # after this one are still tried as UTF-8 first.
        if self.encoding != "cp1252":
            self.encoding = "cp1252"
            warnings.warn(
                f"{self.name}:{number}: not UTF-8; read as cp1252, as Excel writes it in Western "
                "Europe; if letters look wrong, pass the file's encoding (--encoding)",
                stacklevel=2,
            )


class Resumed:
    """Lines of which the first was looked at and put back."""

    def __init__(
        self, name: str, first: tuple[str, str | None], rest: Iterator[tuple[str, str | None]]
    ) -> None:
        self.name = name
        self._lines = itertools.chain([first], rest)

    def __iter__(self) -> Iterator[tuple[str, str | None]]:
        return self._lines


def _described(problem: UnicodeDecodeError, encoding: str) -> str:
    wrong = problem.object[problem.start]
    return (
        f"not valid {encoding}: byte 0x{wrong:02x} at position {problem.start + 1} of the line; "
        "if the whole file has another encoding, pass it (--encoding cp1252, cp949, ...)"
    )


@contextlib.contextmanager
def open_bytes(path: Path | str) -> Iterator[io.BufferedReader]:
    """Open a file, or standard input for ``-``, undoing gzip where there is some."""
    with contextlib.ExitStack() as stack:
        if str(path) == STANDARD_INPUT:
            stream = _with_peek(sys.stdin.buffer, stack)
        else:
            try:
                opened = Path(path).open("rb", buffering=0)  # noqa: SIM115
            except OSError as problem:
                raise DataError(f"cannot read {path}: {problem.strerror}") from problem
            stream = stack.enter_context(io.BufferedReader(opened, _BLOCK))
        if stream.peek(2)[:2] == b"\x1f\x8b":
            packed = stack.enter_context(gzip.open(stream))
            stream = _with_peek(packed, stack)
        yield stream


def _with_peek(stream: object, stack: contextlib.ExitStack) -> io.BufferedReader:
    # Standard input is not wrapped again: that would wait for a full block of a slow pipe.
    if isinstance(stream, io.BufferedReader):
        return stream
    wrapped: io.BufferedReader = io.BufferedReader(cast(io.RawIOBase, stream), _BLOCK)
    stack.callback(wrapped.detach)
    return wrapped
