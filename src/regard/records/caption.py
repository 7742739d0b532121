"""What a model wrote about a picture, and which cells of it each word looked at: plain data."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .alignment import AlignmentReceipt, count_effective
from .encoding import Record, decode, encode
from .weights import Span, require_inside

__all__ = ["COVERED_WEIGHT", "Caption", "CaptionEvaluation", "CaptionScores"]

COVERED_WEIGHT = 0.95
"""A receipt covers the cells that hold this share of a word's weight, half of all at most."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Caption:
    """A picture, what was written about it, and how much each word looked at which cell.

    Row n of ``weights`` belongs to word n and sums to one over the cells of the picture, which lie
    in a grid, row by row from the top left. A word is whatever piece the model writes in.
    """

    name: str  # what the picture is called
    text: str
    spans: tuple[Span, ...]  # of each word, in the text
    weights: NDArray[np.float32]  # (words, cells)
    rows: int  # of the grid
    columns: int
    picture: bytes = b""  # a small JPEG file of it; nothing where it is not to be shown
    width: int = 0  # of that file, in pixels
    height: int = 0
    score: float = 0.0  # what it was chosen by, among all that could have been written
    ended: bool = True  # False: the limit of its length came before its end
    receipt: AlignmentReceipt | None = None  # whether what was looked at matters, where measured
    references: tuple[str, ...] = ()  # what people wrote about it, where that is known
    loss: float | None = None  # what each word of theirs costs the model, on average

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float32)
        shape = (len(self.spans), self.rows * self.columns)
        if weights.shape != shape:
            raise DataError(f"weights of shape {weights.shape} do not fit words and cells {shape}")
        if not np.isfinite(weights).all():
            raise DataError("some weights are not finite numbers; has the model diverged?")
        require_inside(self.spans, self.text)
        if self.receipt is not None and len(self.receipt.written) not in (0, shape[0]):
            raise DataError(
                f"a receipt of {len(self.receipt.written)} words does not fit {shape[0]} words"
            )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def __repr__(self) -> str:
        return f"Caption({self.name!r}, {self.text!r})"

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they are written."""
        return tuple(self.text[start:end] for start, end in self.spans)

    @property
    def effective_counts(self) -> NDArray[np.float64]:
        """How many cells each word looked at, (words,), by the entropy of its weights."""
        return count_effective(self.weights)

    def to_json(self) -> str:
        """Return the caption as one line of JSON, from which it can be read back unchanged."""
        return encode(
            _Written(
                self.name,
                self.text,
                self.spans,
                tuple(tuple(row) for row in self.weights.tolist()),
                self.rows,
                self.columns,
                base64.b64encode(self.picture).decode("ascii"),
                self.width,
                self.height,
                self.score,
                self.ended,
                self.receipt,
                self.references,
                self.loss,
            )
        )

    @classmethod
    def from_json(cls, text: str) -> Caption:
        """Read what ``to_json`` wrote."""
        found = decode(_Written, text)
        cells = found.rows * found.columns
        if any(len(row) != cells for row in found.weights):
            raise DataError(f"the weights of this caption do not fit {cells} cells")
        try:
            picture = base64.b64decode(found.picture, validate=True)
        except binascii.Error as problem:
            raise DataError(f"the picture of this caption is damaged: {problem}") from problem
        return cls(
            found.name,
            found.text,
            found.spans,
            np.array(found.weights, dtype=np.float32).reshape(len(found.weights), cells),
            found.rows,
            found.columns,
            picture,
            found.width,
            found.height,
            found.score,
            found.ended,
            found.receipt,
            found.references,
            found.loss,
        )

    # The rest is for a person at a prompt: the record hands itself to a view, imported late,
    # because views know records and not the other way round.

    def to_html(self, title: str = "Where it looked") -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.caption.page import render

        return render([self], title=title)

    def _repr_html_(self) -> str:
        from ..views.caption.page import notebook

        return notebook([self])

    def to_text(self, width: int = 80) -> str:
        """Return the caption and where its words looked as plain text without colour."""
        from ..views.caption.terminal import Terminal, render

        return render(self, Terminal(width=width, depth="none"))

    def show(self) -> None:
        """Print it, in colour where the terminal can."""
        from ..views.caption.terminal import Terminal, render

        print(render(self, Terminal.here()))

    def write_image(self, path: str | Path) -> None:
        """Write a picture for each word, PNG or SVG by the name of the file; needs ``plots``."""
        from ..views.caption.picture import write

        write(self, Path(path))


@dataclass(frozen=True, slots=True)
class _Written:
    """A caption as JSON holds it."""

    name: str
    text: str
    spans: tuple[tuple[int, int], ...]
    weights: tuple[tuple[float, ...], ...]
    rows: int
    columns: int
    picture: str = ""
    width: int = 0
    height: int = 0
    score: float = 0.0
    ended: bool = True
    receipt: AlignmentReceipt | None = None
    references: tuple[str, ...] = ()
    loss: float | None = None


@dataclass(frozen=True, slots=True)
class CaptionScores(Record):
    """How near captions come to those of people, over all pictures together.

    BLEU counts words in lower case and no punctuation, against all references of a picture, as
    published figures do; the signature says how sacrebleu counted.
    """

    pictures: int
    bleu_1: float  # 0 to 100
    bleu_2: float
    bleu_3: float
    bleu_4: float
    signature: str
    exact: float  # the share that is written like one of its references, by these words
    loss: float | None = None  # of a word of the references, on average
    unended: int = 0  # how many came to the limit of their length
    effective_count: float | None = None  # cells looked at by a word, on average
    left_out: tuple[str, ...] = ()  # pictures that could not be read, and why
    title: str = ""

    def describe(self) -> list[str]:
        """Say the scores in a few lines for a person."""
        bleu = (self.bleu_1, self.bleu_2, self.bleu_3, self.bleu_4)
        lines = [
            f"{self.pictures:,} pictures" + (f" of {self.title}" if self.title else ""),
            "  ".join(f"BLEU-{n} {value:.2f}" for n, value in enumerate(bleu, 1)),
            f"  {self.signature}",
            f"exactly like a reference: {self.exact:.1%}",
        ]
        if self.loss is not None:
            lines.append(f"loss of a word of the references: {self.loss:.3f}")
        if self.effective_count is not None:
            lines.append(f"a word looked at {self.effective_count:.1f} cells of the picture")
        if self.unended:
            lines.append(f"{self.unended:,} came to the limit of their length before their end")
        if self.left_out:
            lines.append(f"{len(self.left_out):,} pictures could not be read:")
            lines += [f"  {one}" for one in self.left_out[:10]]
        return lines


@dataclass(frozen=True, slots=True)
class CaptionEvaluation:
    """Scores, and the captions that went worst, worst first."""

    scores: CaptionScores
    worst: tuple[Caption, ...] = ()

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the scores as a JSON object; the captions are for the page."""
        return self.scores.to_json(indent=indent)

    def describe(self) -> list[str]:
        """Say the scores in a few lines for a person."""
        return self.scores.describe()
