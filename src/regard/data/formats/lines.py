"""The lines of a text file, decoded one at a time, so that a bad one spoils no other.

How the file was written is its dialect, so that an answer can be given in the same hand.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import itertools
import os
import stat
import sys
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, cast

from ...errors import DataError
from .encodings import (
    MARKS,
    SINGLE_BYTE,
    Guess,
    beginning,
    guess_encoding,
    has_plain_lines,
    is_utf_8,
    require_encoding,
    wide_encoding,
)

__all__ = [
    "LONGEST_ROW",
    "STANDARD_INPUT",
    "Dialect",
    "Lines",
    "NamedLines",
    "Quoting",
    "Resumed",
    "in_encoding_of",
    "open_bytes",
]

STANDARD_INPUT = "-"
LONGEST_ROW = 1 << 26  # bytes or characters, in one line or in several
_BLOCK = 1 << 20

Quoting = Literal["needed", "texts", "all"]
"""Which fields stand in quotes: those that must, all but numbers, or all."""


class NamedLines(Protocol):
    """Named lines, each with what is wrong with it or ``None``."""

    name: str

    def __iter__(self) -> Iterator[tuple[str, str | None]]: ...


class Lines:
    """The lines of a file with their line ends, each with what is wrong with it or ``None``.

    A line that cannot be decoded comes with escaped bytes, so that quotes in it still count.
    ``encoding`` says, once lines were read, how they were decoded, and ``mark`` with which byte
    order mark the file begins.
    """

    def __init__(self, path: Path | str, encoding: str | None = None) -> None:
        self.name = "standard input" if str(path) == STANDARD_INPUT else str(path)
        if encoding is not None:
            require_encoding(encoding)
        self.encoding = encoding or "utf-8"
        self.mark = b""
        self._path = path
        self._given = encoding
        self._told = ""  # how the encoding was chosen, which is said once
        self._stream: io.BufferedReader | None = None  # that is being read, or was

    def share_read(self) -> float | None:
        """How much of the file was read, from 0 to 1; None for a pipe, and before it is begun."""
        if self._stream is None:
            return None
        try:
            file = getattr(self._stream.raw, "fileobj", self._stream)  # what lies below gzip
            found = os.fstat(file.fileno())
            regular = stat.S_ISREG(found.st_mode) and found.st_size > 0
            return min(file.tell() / found.st_size, 1.0) if regular else None
        except OSError:  # no file at all
            return None
        except ValueError:  # whoever reads it, perhaps another thread, has come to its end
            return 1.0

    def __iter__(self) -> Iterator[tuple[str, str | None]]:
        number = 0
        self.encoding = self._given or "utf-8"
        try:
            with open_bytes(self._path) as stream:
                self._stream = stream
                for number, line in enumerate(self._lines(stream), 1):  # noqa: B007
                    yield line
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise DataError(f"{self.name} is damaged after line {number}: {problem}") from problem
        except UnicodeError as problem:
            reason = problem.reason if isinstance(problem, UnicodeDecodeError) else problem
            raise DataError(
                f"{self.name}:{number + 1}: cannot be read as {self.encoding}: {reason}"
            ) from problem
        except OSError as problem:
            raise DataError(f"cannot read {self.name}: {problem.strerror}") from problem

    def _lines(self, stream: io.BufferedReader) -> Iterator[tuple[str, str | None]]:
        head = stream.peek(_BLOCK)
        self.mark = next((mark for mark in MARKS if head.startswith(mark)), b"")
        open_question = self._given is None and self._settle(head)
        plain = has_plain_lines(self.encoding)
        begin = head if plain else beginning(head, self.encoding).encode("utf-8", "ignore")
        old_ends = b"\r" in begin and b"\n" not in begin
        if not plain or old_ends:
            yield from self._wide_lines(stream, "\r" if old_ends else "\n")
            return
        if head.startswith(b"\xef\xbb\xbf") and self.encoding.lower() in ("utf-8", "utf8"):
            stream.read(3)
        yield from self._narrow_lines(stream, open_question)

    def _settle(self, head: bytes) -> bool:
        """Choose the encoding from the beginning of the file; return whether that left it open."""
        if self.mark:
            self.encoding = MARKS[self.mark]
            return False
        wide = wide_encoding(head)
        if wide is not None:
            self._choose(Guess(wide, "as every second byte tells"), 1)
            return False
        if head.isascii():
            return True
        if not is_utf_8(head):
            if b"\0" in head:
                raise DataError(
                    f"{self.name} is no text: it holds zero bytes; if it is one in an encoding of "
                    "its own, pass that (--encoding utf-16, ...)"
                )
            self._weigh(head, 1)
        return False

    def _narrow_lines(
        self, stream: io.BufferedReader, open_question: bool
    ) -> Iterator[tuple[str, str | None]]:
        """Lines of an encoding in which the byte of a line end stands for nothing else."""
        encoding, also_utf_8 = self.encoding, self._may_mix()
        for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_ROW), b""), 1):
            if len(raw) == LONGEST_ROW:
                raise self._too_long(number)
            if open_question and not raw.isascii():
                open_question = False
                if not is_utf_8(raw):
                    # What comes later through a pipe is not waited for.
                    self._weigh(raw + (stream.peek() if stream.seekable() else b""), number)
                    encoding, also_utf_8 = self.encoding, self._may_mix()
            try:
                line = _decode_either(raw, encoding) if also_utf_8 else raw.decode(encoding)
            except UnicodeDecodeError as problem:
                escaped = raw.decode("ascii", "surrogateescape")
                yield escaped, _describe(problem, encoding)
            else:
                yield line, None

    def _may_mix(self) -> bool:
        """Whether some line may be UTF-8 though the file is not; by accident all but none is."""
        return self._given is None and self.encoding in SINGLE_BYTE

    def _wide_lines(self, stream: BinaryIO, end: str) -> Iterator[tuple[str, str | None]]:
        """Lines that can be found only after decoding."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        errors = "surrogatepass" if encoding.startswith("utf") else "strict"
        lines = io.TextIOWrapper(stream, encoding, errors, newline=end)
        try:
            read = iter(lambda: lines.readline(LONGEST_ROW), "")
            for number, line in enumerate(read, 1):
                if len(line) == LONGEST_ROW:
                    raise self._too_long(number)
                yield line, None
        finally:
            lines.detach()

    def _too_long(self, number: int) -> DataError:
        return DataError(
            f"{self.name}:{number}: the line is longer than {LONGEST_ROW >> 20} MiB, which no "
            "row may be; are its line ends missing?"
        )

    def _weigh(self, sample: bytes, number: int) -> None:
        """Choose the encoding that a sample, which begins on this line and is no UTF-8, shows."""
        guess = guess_encoding(sample)
        if guess is not None:
            before = next(
                place for place, line in enumerate(sample.split(b"\n")) if not line.isascii()
            )
            self._choose(guess, number + before)

    def _choose(self, guess: Guess, number: int) -> None:
        self.encoding = guess.encoding
        rivals = f" but may be {' or '.join(guess.rivals)}" if guess.rivals else ""
        told = (
            f"{self.name}:{number}: not UTF-8; read as {guess.encoding}, {guess.reason}{rivals}; "
            "if letters look wrong, pass the file's encoding (--encoding)"
        )
        if told != self._told:
            self._told = told
            warnings.warn(told, stacklevel=2)


class Resumed:
    """Lines of which the first was looked at and put back."""

    def __init__(
        self, name: str, first: tuple[str, str | None], rest: Iterator[tuple[str, str | None]]
    ) -> None:
        self.name = name
        self._lines = itertools.chain([first], rest)

    def __iter__(self) -> Iterator[tuple[str, str | None]]:
        return self._lines


def _decode_either(raw: bytes, encoding: str) -> str:
    """Decode a line that is UTF-8 as such, and any other from its encoding."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode(encoding)


def _describe(problem: UnicodeDecodeError, encoding: str) -> str:
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
            if sys.stdin is None:  # closed when the program was started
                raise DataError("standard input is closed; give a file in the place of -")
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


@dataclass(frozen=True, slots=True)
class Dialect:
    """What CSV leaves open, as the file has it that was read; by default as we write it."""

    delimiter: str | None = None  # None: as the suffix says
    names: tuple[str, ...] = ()  # of the columns
    encoding: str = "utf-8"
    mark: bool = False  # whether a byte order mark begins the file
    line_end: str = "\r\n"
    quoting: Quoting = "needed"
    separator_line: bool = False  # whether Excel's ``sep=;`` stands above the header
    protects: bool = False  # whether what a spreadsheet would compute is made text


def in_encoding_of(lines: Lines, dialect: Dialect) -> Dialect:
    """The dialect with the encoding, and the byte order mark, that lines were read with."""
    encoding = codecs.lookup(lines.encoding).name
    if encoding == "utf-8-sig":
        encoding = "utf-8"
    if encoding in ("utf-16", "utf-32"):
        # Its parts are written one by one, and only the first may have a mark.
        encoding += "-be" if lines.mark in (codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE) else "-le"
    return replace(dialect, encoding=encoding, mark=bool(lines.mark))
