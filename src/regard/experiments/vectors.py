"""Word vectors learnt from a corpus, and which words lie near one another in them.

The corpus is the documentation of the Python libraries that are installed here, or any file of
texts. What was learnt can be written to a file that ``regard train --vectors`` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..config import checked_settings
from ..data.columns import Columns
from ..data.docstrings import collect_docstrings
from ..data.readers import read_documents
from ..errors import DataError
from ..records.experiment import Chart, Curve, Finding, ResultRow
from ..training.seeds import derived_seed
from .running import Tell
from .skipgram import LearntVectors, SkipGramConfig, learn_vectors

__all__ = ["Vectors"]


@dataclass(frozen=True)
@checked_settings
class Vectors:
    """Which corpus is read, how vectors are learnt from it, and which words are looked up."""

    name: ClassVar[str] = "vectors"
    title: ClassVar[str] = "Word vectors of a corpus: words near one another, seen from two sides"
    columns: ClassVar[tuple[str, ...]] = ("occurrences", "nearest", "all words")

    corpus: str | None = None  # a file of texts; none: the documentation of libraries here
    text_column: str = "text"
    per_library: int = 400  # texts of each library
    words: str = "array matrix function list string integer true graph error file"
    neighbours: int = 5
    size: int = 64
    window: int = 5
    min_count: int = 10
    epochs: int = 3
    save_to: str | None = None  # a file for the vectors

    @classmethod
    def quick(cls) -> Vectors:
        """A few texts, read once."""
        return cls(per_library=15, min_count=5, size=16, epochs=1)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Learn vectors, and look up the neighbours of some words."""
        tell("reading the corpus")
        texts = self._texts()
        for lap in learn_vectors(texts, self._learning(seed)):
            tell(f"epoch {lap.epoch}, loss {lap.loss:.4f}, {len(lap.vectors.words):,} words")
        if self.save_to is not None:
            lap.vectors.save(Path(self.save_to))
        rows = [self._row(word, lap.vectors) for word in self._asked(lap.vectors)]
        notes = [f"{word}: {self._near(word, lap.vectors)}" for word in self._asked(lap.vectors)]
        return Finding(seed, tuple(rows), self._map(lap.vectors), tuple(notes))

    def _texts(self) -> list[str]:
        if self.corpus is None:
            # The seed draws what is learnt, not what is read: all seeds know the same words.
            return [document.text for document in collect_docstrings(self.per_library)]
        if Path(self.corpus).suffix.lower() == ".txt":
            return Path(self.corpus).read_text(encoding="utf-8").splitlines()
        columns = Columns(text=self.text_column, label=None, carry=False)
        return [document.text for document in read_documents(self.corpus, columns)]

    def _learning(self, seed: int) -> SkipGramConfig:
        return SkipGramConfig(
            size=self.size,
            window=self.window,
            min_count=self.min_count,
            epochs=self.epochs,
            seed=derived_seed(seed, "vectors"),
        )

    def _asked(self, vectors: LearntVectors) -> list[str]:
        """The words to look up that the corpus has."""
        found = [word for word in self.words.split() if word in vectors.words]
        if not found:
            some = ", ".join(word for word in vectors.words if word.isalpha())[:80]
            raise DataError(f"the corpus has none of the words {self.words!r}; it has {some}")
        return found

    def _row(self, word: str, vectors: LearntVectors) -> ResultRow:
        place = vectors.words.index(word)
        units = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
        everywhere = float((units @ units[place]).mean())
        nearest = vectors.nearest(word, 1)[0].similarity
        return ResultRow(word, (int(vectors.counts[place]), nearest, everywhere))

    def _near(self, word: str, vectors: LearntVectors) -> str:
        found = vectors.nearest(word, self.neighbours)
        return ", ".join(f"{one.word} {one.similarity:.2f}" for one in found)

    def _map(self, vectors: LearntVectors) -> Chart:
        """Draw the words looked up and their neighbours along their two principal directions."""
        drawn = list(self._asked(vectors))
        for word in self._asked(vectors):
            drawn += [one.word for one in vectors.nearest(word, self.neighbours)]
        places = _flattened(vectors, list(dict.fromkeys(drawn)))
        curves = [Curve(word, ((x, y),)) for word, (x, y) in places.items()]
        return Chart("map", "first direction", "second direction", tuple(curves))


def _flattened(vectors: LearntVectors, words: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Where each word lies along the two directions in which the words differ most."""
    chosen = vectors.vectors[[vectors.words.index(word) for word in words]].astype(np.float64)
    units = chosen / np.linalg.norm(chosen, axis=1, keepdims=True)
    _, _, axes = np.linalg.svd(units - units.mean(0), full_matrices=False)
    flat = units @ axes[:2].T
    return {word: (float(x), float(y)) for word, (x, y) in zip(words, flat, strict=True)}
