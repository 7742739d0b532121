"""Marks of readers in a file of SQLite: several may write, and what was acknowledged stays.

In WAL mode with full synchronisation, so that neither a crash of a process nor one of the machine
loses a mark once ``add`` has returned.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..errors import DataError
from ..records.marks import Mark

__all__ = ["MarkStore"]

_FIELDS = ("text", "start", "end", "kind", "label", "model", "reader")
_TABLE = """
create table if not exists marks (
    id integer primary key,
    text text not null, start integer not null, "end" integer not null,
    kind text not null, label text not null,
    model text not null, reader text not null, made real not null,
    unique (text, start, "end", reader)
)
"""
WAIT = 10.0  # seconds for another writer


class MarkStore:
    """The marks in a file, which is made when it is not there. Threads may share it."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        with self._open() as database:
            database.execute("pragma journal_mode = wal")
            database.execute(_TABLE)

    def add(self, mark: Mark) -> None:
        """Keep a mark; a reader who marks the same passage again has changed their mind."""
        names = ", ".join(f'"{name}"' for name in _FIELDS)
        values = [getattr(mark, name) for name in _FIELDS]
        with self._open() as database:
            database.execute(
                f"insert or replace into marks ({names}, made) values (?, ?, ?, ?, ?, ?, ?, ?)",
                [*values, time.time()],
            )

    def remove(self, mark: Mark) -> None:
        """Take a mark back."""
        with self._open() as database:
            database.execute(
                'delete from marks where text = ? and start = ? and "end" = ? and reader = ?',
                [mark.text, mark.start, mark.end, mark.reader],
            )

    def read(self, text: str | None = None) -> list[Mark]:
        """Return all marks, or those of one text, in the order in which they were made."""
        names = ", ".join(f'"{name}"' for name in _FIELDS)
        where, values = ("", []) if text is None else ("where text = ?", [text])
        with self._open() as database:
            rows = database.execute(f"select {names} from marks {where} order by id", values)
            return [Mark(*row) for row in rows.fetchall()]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=WAIT)) as database:
                database.execute("pragma synchronous = full")
                with database:
                    yield database
        except UnicodeEncodeError as problem:
            raise DataError(
                "a text with half a character (a lone surrogate) takes no mark"
            ) from problem
        except sqlite3.Error as problem:
            raise DataError(f"{self._path} cannot hold marks: {problem}") from problem
