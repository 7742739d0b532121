"""What caps on length took from the documents of each class."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import decode, encode

__all__ = ["ClassCut", "TruncationReport"]


@dataclass(frozen=True, slots=True)
class ClassCut:
    """How much there was in the documents of one class, and how much of it the caps took."""

    label: str
    documents: int = 0
    documents_cut: int = 0
    sentences: int = 0
    sentences_dropped: int = 0
    words: int = 0
    words_dropped: int = 0  # those of dropped sentences included


@dataclass(frozen=True, slots=True)
class TruncationReport:
    """What caps on length took; a document of several labels counts once in ``total``."""

    total: ClassCut = ClassCut("")
    classes: tuple[ClassCut, ...] = ()
    max_sentences: int | None = None
    max_words: int | None = None  # in a sentence

    def to_json(self) -> str:
        """Return the report as one JSON object."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> TruncationReport:
        """Read what ``to_json`` wrote."""
        return decode(cls, text)

    def describe(self) -> list[str]:
        """Return the report as lines for a terminal; none when nothing was cut."""
        if not self.total.documents_cut:
            return []
        caps = [
            f"{cap:,} {what}"
            for cap, what in (
                (self.max_sentences, "sentences a document"),
                (self.max_words, "words a sentence"),
            )
            if cap is not None
        ]
        cut = [entry for entry in self.classes if entry.documents_cut]
        return [
            f"cut to {' and '.join(caps)}: {_described(self.total)}",
            *(f"  {entry.label}: {_described(entry)}" for entry in cut),
        ]


def _described(cut: ClassCut) -> str:
    return (
        f"{cut.documents_cut:,} of {cut.documents:,} documents, "
        f"{cut.sentences_dropped:,} of {cut.sentences:,} sentences, "
        f"{cut.words_dropped:,} of {cut.words:,} words ({_share(cut.words_dropped, cut.words)})"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"
