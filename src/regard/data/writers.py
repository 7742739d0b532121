"""Rows of answers to a file, as a stream; the file has its name only when it is whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from ..errors import DataError
from ..files import naming, open_named, standard_output, write_file
from .formats.jsonlines import json_lines
from .formats.lines import STANDARD_INPUT, Dialect
from .formats.rows import Cell, Cells
from .formats.table import find_written_format
from .locks import hold_lock

__all__ = ["Cell", "Cells", "RowWriter", "is_done", "write_rows"]

_CHUNK = 4096  # rows that are written at once, and the rows in a group of a Parquet file


def write_rows(rows: Iterable[Cells], path: str) -> int:
    """Write rows to a file whose suffix names the format, or with ``-`` as JSON lines to stdout.

    In JSON lines every row has its own columns; elsewhere those of the first, and a later row may
    lack some but have no other. Returns how many rows were written.
    """
    if path == STANDARD_INPUT:
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007
            with standard_output() as out:
                out.write(json_lines([row]))
        with standard_output() as out:
            out.flush()
        return count
    with RowWriter(path) as writer:
        for part in _parts(rows):
            writer.write(part)
    return writer.rows


class RowWriter:
    """Appends rows to an unfinished file beside ``path``, which takes its name at the end.

    With a ``task``, which says what the rows come from, it notes after each part how far it got,
    so that a run that was killed or failed can be gone on with: what was written after the last
    note is cut off, and ``rows`` says how many rows are there. A file that was begun with
    another task is refused. With ``remember`` the task of a file that is done stays beside it, for
    ``is_done``. ``dialect`` says, asked when rows are there, how CSV is written.
    Rows may come from another thread: the end waits for a part that is being written, since Ctrl-C
    may have brought it about, and what is cleaned up must not be noted afterwards.
    """

    def __init__(
        self,
        path: str,
        *,
        task: Mapping[str, str] | None = None,
        resume: bool = False,
        dialect: Callable[[], Dialect] = Dialect,
        remember: bool = False,
    ) -> None:
        self._encoder = find_written_format(Path(path))(dialect)
        # A link stays one: what it leads to is written, and what is unfinished lies beside that.
        self._path = Path(os.path.realpath(path))
        if self._path.is_symlink():
            raise DataError(f"{path} is a link that leads nowhere but to itself; name another file")
        if self._path.exists() and not self._path.is_file():
            raise DataError(f"{path} is no file that rows can be written to; name another")
        self._unfinished = self._beside(".part")
        self._notes = self._beside(".progress")
        self._task = dict(task or {})
        self._resume = resume
        self._remember = remember
        self._file: BinaryIO | None = None
        self._content = blake2b(digest_size=16)  # of all bytes so far
        self._closing = ExitStack()
        self._busy = Lock()
        self.rows = 0

    def __enter__(self) -> RowWriter:
        with ExitStack() as stack:
            taken = f"another run is writing {self._path}; let it end, or name another file"
            stack.enter_context(hold_lock(self._beside(".lock"), taken=taken))
            try:
                self._begin()
            except BaseException:
                if self._file is not None:
                    self._file.close()
                self._drop_unfinished()
                raise
            self._closing = stack.pop_all()
        return self

    def _begin(self) -> None:
        if self._path.exists() and not self._unfinished.exists():
            # The file has its name: whoever wrote these notes was ended before they were removed.
            self._notes.unlink(missing_ok=True)
        if self._task and not self._resume and self._notes.exists():
            raise DataError(
                f"an unfinished run lies in {self._unfinished}; go on with --resume, or delete "
                f"{self._notes}"
            )
        size = self._adopt() if self._resume else 0
        self._file = open_named(self._unfinished, "r+b" if size else "wb")
        self._file.truncate(size)
        self._file.seek(size)

    def write(self, rows: Sequence[Cells]) -> None:
        """Append rows; they are safe when this returns."""
        with self._busy:
            assert self._file is not None, "only inside of with"
            encoded = self._encoder.encode(rows, self.rows + 1)
            self._content.update(encoded)
            self._file.write(encoded)
            self._file.flush()
            self.rows += len(rows)
            if self._task:
                with naming(self._unfinished):
                    os.fsync(self._file.fileno())
                self._note(self._file.tell())

    def write_none(self, like: Cells) -> None:
        """Say what columns rows would have, where there are none."""
        with self._busy:
            assert self._file is not None and not self.rows, "only inside of with, and no rows"
            self._file.write(self._encoder.encode_none(like))

    def __exit__(self, kind: object, *problem: object) -> None:
        with self._closing, self._busy:
            self._end(whole=kind is None)

    def _end(self, *, whole: bool) -> None:
        assert self._file is not None
        try:
            self._file.close()
            if whole:
                if self._remember:
                    write_file(_memory_of(self._path), json.dumps(self._task))
                self._encoder.finish(self._unfinished, self._path)
                self._notes.unlink(missing_ok=True)
        finally:
            self._file = None
            self._drop_unfinished()

    def _drop_unfinished(self) -> None:
        # What was noted can be gone on with until the file has its name.
        if not (self._task and self._notes.exists()):
            self._unfinished.unlink(missing_ok=True)

    def _beside(self, suffix: str) -> Path:
        return self._path.with_name(self._path.name + suffix)

    def _note(self, size: int) -> None:
        """Write down how far the file goes and what it holds, with a seal on these notes."""
        told = {
            "rows": self.rows,
            "bytes": size,
            "content": self._content.hexdigest(),
            "task": self._task,
        }
        write_file(self._notes, json.dumps({**told, "seal": _seal(told)}))

    def _adopt(self) -> int:
        """Take over what an earlier run left; return how many bytes of it are good."""
        again = f"delete {self._notes} to start again"
        try:
            found = json.loads(self._notes.read_text(encoding="utf-8"))
            if found.pop("seal") != _seal(found):
                raise ValueError("the notes are not as they were written")
            rows, size, content, task = (found[key] for key in ("rows", "bytes", "content", "task"))
        except FileNotFoundError:
            return 0  # it was killed before its first part, or there was none
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
            raise DataError(f"{self._notes} is damaged; {again}") from problem
        _require_same(self._task, task, f"{self._unfinished} was begun", again)
        if not self._unfinished.exists() or self._unfinished.stat().st_size < size:
            raise DataError(f"{self._unfinished} is shorter than it was; {again}")
        self._content = _digest(self._unfinished, size)
        if self._content.hexdigest() != content:
            raise DataError(f"{self._unfinished} was changed since; {again}")
        self._encoder.adopt(self._unfinished)
        self.rows = rows
        return size


def is_done(path: str, task: Mapping[str, str]) -> bool:
    """Whether the file is there already; one that was made by another task is an error.

    What a writer did not ``remember`` is taken for the same.
    """
    place = Path(os.path.realpath(path))
    if not place.exists():
        return False
    found = None
    with suppress(FileNotFoundError, ValueError, RecursionError):
        found = json.loads(_memory_of(place).read_text(encoding="utf-8"))
    if isinstance(found, dict):
        _require_same(task, found, f"{path} was made", "delete it to make it again")
    return True


def _memory_of(path: Path) -> Path:
    # Hidden, so that whoever reads all files of a folder leaves it out.
    return path.with_name(f".{path.name}.task")


def _require_same(
    task: Mapping[str, str], found: Mapping[str, object], what: str, again: str
) -> None:
    for name, value in task.items():
        if found.get(name) != value:
            raise DataError(f"{what} with {name} {found.get(name)}, now it is {value}; {again}")


def _seal(notes: Mapping[str, object]) -> str:
    """What tells notes from any others."""
    return blake2b(json.dumps(notes, sort_keys=True).encode(), digest_size=16).hexdigest()


def _digest(path: Path, size: int) -> blake2b:
    """What tells the first bytes of a file from any others, to be gone on with."""
    found = blake2b(digest_size=16)
    with path.open("rb") as file:
        while size and (block := file.read(min(size, 1 << 20))):
            found.update(block)
            size -= len(block)
    return found


def _parts(rows: Iterable[Cells]) -> Iterator[list[Cells]]:
    stream = iter(rows)
    while part := list(islice(stream, _CHUNK)):
        yield part
