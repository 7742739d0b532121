"""Pictures with what people wrote about them: read from files, and as ids to make batches of.

A file of captions names its pictures or holds them, and has a caption a row or a list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError, suggestion
from ..records.data import BadRow
from .columns import Columns, Found, Row, is_missing, shown_value
from .formats.delimited import delimited_rows
from .formats.lines import Lines
from .formats.table import find_format
from .pairs import EncodedPairs
from .pictures import Given, PictureBatch, PictureFile, open_picture
from .readers import OnBadRow, Reader
from .targets import TargetBatch

__all__ = [
    "CAPTION_COLUMNS",
    "PICTURE_COLUMNS",
    "CaptionColumns",
    "Captioned",
    "EncodedCaptions",
    "caption_pictures",
    "find_captions",
    "read_captioned",
    "read_captions",
]

PICTURE_COLUMNS = (
    *("image", "picture", "photo", "jpeg", "png", "bytes"),
    *("image_path", "path", "file", "file_name", "filename", "image_name", "image_id"),
)
"""What the column of the pictures may be called, where nobody says it; the first that is there."""
CAPTION_COLUMNS = ("caption", "captions", "sentence", "sentences", "text", "description")
"""What the column of the captions may be called."""
_NAMES = ("image_id", "file_name", "filename", "name", "id")  # of pictures that come as bytes
_FOLDERS = (".", "images", "Images", "pictures", "photos")  # below the folder of the file
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq", ".json", ".txt")
_PICTURE, _NAME = "a picture", "its name"  # the fields that documents carry


@dataclass(frozen=True, slots=True)
class Captioned:
    """A picture, and a caption of it; None where there is only the picture."""

    picture: Given
    caption: str | None
    name: str = ""

    def open(self) -> PictureFile:
        """Read the bytes of the picture."""
        return open_picture(self.picture, name=self.name)


def caption_pictures(
    pictures: Iterable[Given], captions: Iterable[str | Sequence[str]]
) -> list[Captioned]:
    """Put pictures and their captions together: a caption each, or a list of several."""
    given, told = list(pictures), list(captions)
    if len(given) != len(told):
        raise DataError(f"{len(given):,} pictures do not fit {len(told):,} captions")
    found = []
    for number, (picture, some) in enumerate(zip(given, told, strict=True), 1):
        name = str(picture) if isinstance(picture, str | Path) else f"picture {number}"
        if not isinstance(some, str | list | tuple) or not all(
            isinstance(one, str) for one in some
        ):
            raise DataError(f"number {number} of the captions is {shown_value(some)}, no string")
        for caption in [some] if isinstance(some, str) else some:
            found.append(Captioned(picture, caption, name))
    return found


@dataclass(frozen=True, slots=True)
class CaptionColumns:
    """Where pictures and captions stand in a file; None: found by the usual names."""

    picture: str | None = None
    caption: str | None = None
    encoding: str | None = None


def find_captions(path: Path | str) -> Path:
    """Return the file of captions: the path itself or, in a folder, the one that is there."""
    place = Path(path)
    if not place.is_dir():
        return place
    tables = sorted(one for one in place.iterdir() if one.suffix.lower() in _TABLES)
    named = [one for one in tables if one.stem.lower() in ("captions", "metadata", "results")]
    if len(named or tables) != 1:
        names = ", ".join(one.name for one in tables[:5]) or "none"
        raise DataError(
            f"{place} must hold one file of captions, such as captions.csv; found {names}"
        )
    return (named or tables)[0]


def read_captions(
    path: Path | str,
    columns: CaptionColumns = CaptionColumns(),
    *,
    on_bad_row: OnBadRow = "stop",
    tell: Callable[[str], None] | None = None,
) -> Reader:
    """Read a file of captions, or a folder that holds one: a document for each caption.

    Pictures come as bytes, or as paths below the folder of the file. ``read_captioned`` makes of
    the documents what an estimator takes.
    """
    place = find_captions(path)
    if not place.exists():
        raise DataError(f"there is no file {place}")
    picture = columns.picture or _find_column(place, PICTURE_COLUMNS, "--source-column", columns)
    caption = columns.caption or _find_column(place, CAPTION_COLUMNS, "--target-column", columns)
    # Of the picture a format needs to know nothing: it may be bytes, which no text is.
    asked = Columns(text=caption, label=None, encoding=columns.encoding)
    return Reader(
        str(path),
        lambda: _captions(_rows(place, asked), place, picture, caption),
        columns=Columns(text=caption, label=None, encoding=columns.encoding),
        on_bad_row=on_bad_row,
        tell=tell,
    )


def read_captioned(documents: Reader) -> Iterator[Captioned]:
    """Give pictures with their captions, as ``read_captions`` reads them."""
    for document in documents:
        yield Captioned(document.fields[_PICTURE], document.text, str(document.fields[_NAME]))


def _rows(path: Path, columns: Columns) -> Iterator[Found]:
    form = find_format(path)
    if form.read_path is not None and path.is_file():
        return form.read_path(path, columns)
    # A list of captions that is called captions.txt is a table too.
    read = delimited_rows if path.suffix.lower() == ".txt" else form.read_lines
    assert read is not None  # every format has one of the two
    return read(Lines(path, columns.encoding), columns)


def _find_column(path: Path, usual: Sequence[str], option: str, columns: CaptionColumns) -> str:
    """The first of the usual names that the file has a column of."""
    # A table has its columns whatever a row holds; an object of JSON has its own.
    known = (Row,) if find_format(path).read_path is None else (Row, BadRow)
    for name in usual:
        asked = Columns(text=name, label=None, encoding=columns.encoding)
        try:
            first = next((one for one in _rows(path, asked) if isinstance(one, known)), None)
        except DataError as problem:
            if "has no column" not in str(problem):
                raise
            continue
        if not isinstance(first, Row) or name in first.values:
            return name
    raise DataError(f"{path} has no column {suggestion(usual[0], usual)}; use {option}")


def _captions(rows: Iterator[Found], path: Path, picture: str, caption: str) -> Iterator[Found]:
    """A row for each caption; a cell may hold several."""
    for found in rows:
        if not isinstance(found, Row):
            yield found
            continue
        values, told = found.values, found.values.get(caption)
        if picture not in values:
            names = ", ".join(values)
            raise DataError(
                f"{path} has no column {picture!r}; it has {names}; use --source-column"
            )
        given = _picture(values.get(picture), path.parent)
        if given is None:
            yield BadRow(str(path), found.line, "missing value", f"no picture in {picture!r}")
            continue
        some = told if isinstance(told, list | tuple) else [told]
        if not some:
            yield BadRow(str(path), found.line, "missing text", f"no captions in {caption!r}")
        for one in some:
            yield Row(
                found.line,
                {caption: one, _PICTURE: given, _NAME: _name(values, picture, found.line)},
            )


def _picture(value: object, folder: Path) -> Given:
    """The bytes of a picture, or its path; None where there is none."""
    if isinstance(value, Mapping):  # as tables of the Hugging Face hub have them
        inside = value.get("bytes")
        return _picture(value.get("path") if inside is None else inside, folder)
    if isinstance(value, str) and not is_missing(value):
        places = [folder / below / value for below in _FOLDERS]
        return next((place for place in places if place.is_file()), places[0])
    return value if isinstance(value, bytes) else None


def _name(values: Mapping[str, object], picture: str, line: int) -> str:
    """What a picture is called: its path, or what the row calls it."""
    for name in (picture, *_NAMES):
        value = values.get(name)
        if isinstance(value, Mapping):
            value = value.get("path")
        if isinstance(value, str | int) and not is_missing(value):
            return str(value)
    return f"row {line}"


class EncodedCaptions:
    """Captions as ids, each about one of some pictures; a picture may have several."""

    def __init__(
        self,
        pictures: np.ndarray,
        places: ArrayLike,
        captions: Sequence[ArrayLike],
        *,
        cells: int,
    ) -> None:
        self.pictures = pictures  # (pictures, channels, rows, columns), possibly in a mapped file
        self.places: NDArray[np.int64] = np.asarray(places, dtype=np.int64)  # one a caption
        self.cells = cells
        if len(self.places) != len(captions):
            raise DataError(f"{len(captions)} captions cannot be about {len(self.places)} pictures")
        self._captions = EncodedPairs([()] * len(captions), captions)

    def __len__(self) -> int:
        """How many captions there are."""
        return len(self.places)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many cells and ids each caption has, the end counted, (captions,)."""
        return self._captions.lengths + self.cells

    def batch(self, indices: ArrayLike) -> TargetBatch[PictureBatch]:
        """Gather the chosen captions with their pictures, in the order given, as one batch."""
        chosen = np.asarray(indices, dtype=np.int64)
        target = self._captions.batch(chosen).target
        return TargetBatch(self.look_at(self.places[chosen]), target)

    def look_at(self, pictures: ArrayLike) -> PictureBatch:
        """Gather pictures by their numbers, in the order given."""
        chosen = np.asarray(pictures, dtype=np.int64)
        return PictureBatch(torch.from_numpy(self.pictures[chosen]), self.cells)
