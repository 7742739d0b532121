"""What was read, what caps cut, and what the data look like before training: plain data, and lines
for a terminal. Nothing is dropped without being counted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from .encoding import Record

__all__ = [
    "BadRow",
    "CaptionCheck",
    "Check",
    "ClassCut",
    "ClassSize",
    "DataCheck",
    "Lengths",
    "Overlap",
    "PairCheck",
    "ReadCounts",
    "RowFault",
    "TextCheck",
    "TruncationReport",
    "describe_left_out",
]

_SHOWN_CLASSES = 12

RowFault = Literal[
    "missing column",
    "missing text",
    "missing label",
    "missing value",
    "wrong type",
    "wrong number of fields",
    "broken quoting",
    "broken JSON",
    "invalid encoding",
    "unreadable file",
]
"""The kinds of bad rows, as the end report groups them."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be used, where it stands and why.

    ``line`` counts from 1 and is the line on which the row begins; in a Parquet file and in
    Python data it is the number of the row, and 0 stands for a file or folder as a whole.
    """

    file: str
    line: int
    fault: RowFault
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class ReadCounts(Record):
    """How many rows one file gave, and what became of the others."""

    file: str
    rows: int = 0  # read as documents
    skipped: tuple[
        tuple[str, int], ...
    ] = ()  # how many bad rows of each kind, the most frequent first
    ignored: int = 0  # blank lines, and files of other kinds in a folder of texts
    empty_texts: int = 0  # of the rows that were read
    encoding: str = "utf-8"
    examples: tuple[BadRow, ...] = ()  # the first few bad rows

    @property
    def skipped_rows(self) -> int:
        """How many rows were skipped for whatever reason."""
        return sum(count for _, count in self.skipped)

    def describe(self) -> list[str]:
        """Return the counts as lines for a terminal."""
        lines = [f"{self.file}: {self.rows:,} {'row' if self.rows == 1 else 'rows'} read"]
        if self.skipped:
            reasons = ", ".join(f"{count:,} {fault}" for fault, count in self.skipped)
            lines.append(f"  {self.skipped_rows:,} skipped: {reasons}")
            lines += [f"    {bad}" for bad in self.examples[:3]]
        if self.empty_texts:
            lines.append(f"  {self.empty_texts:,} texts are empty")
        if self.ignored:
            lines.append(f"  {self.ignored:,} blank lines or other files passed over")
        return lines


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
class TruncationReport(Record):
    """What caps on length took; a document of several labels counts once in ``total``."""

    total: ClassCut = ClassCut("")
    classes: tuple[ClassCut, ...] = ()
    max_sentences: int | None = None
    max_words: int | None = None  # in a sentence

    def describe(self) -> list[str]:
        """Return the report as lines for a terminal; none when nothing was cut."""
        if not self.total.documents_cut:
            return []
        caps = [
            f"{cap:,} {what}"
            for cap, what in (
                (self.max_sentences, "sentences per document"),
                (self.max_words, "words per sentence"),
            )
            if cap is not None
        ]
        cut = [entry for entry in self.classes if entry.documents_cut]
        return [
            f"cut to {' and '.join(caps)}: {_tell_cut(self.total)}",
            *(f"  {entry.label}: {_tell_cut(entry)}" for entry in cut),
        ]


@dataclass(frozen=True, slots=True)
class ClassSize:
    """How many training and validation documents have one label."""

    label: str
    training: int
    validation: int = 0


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long things are: so many per cent of them are at most this long."""

    median: int = 0
    percent_80: int = 0
    percent_95: int = 0
    percent_99: int = 0
    longest: int = 0

    def __str__(self) -> str:
        return (
            f"median {self.median:,}, 80 % have up to {self.percent_80:,}, "
            f"95 % up to {self.percent_95:,}, 99 % up to {self.percent_99:,}, "
            f"the longest {self.longest:,}"
        )


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many documents of another source are, word for word, training documents too."""

    name: str
    documents: int
    shared: int


@dataclass(frozen=True, slots=True)
class DataCheck(Record):
    """What was found in the data, of the training documents where nothing else is said."""

    documents: int
    validation_documents: int
    multilabel: bool
    classes: tuple[ClassSize, ...]  # none for documents without labels
    tokens: int
    distinct_words: int  # in all documents
    tokens_per_document: Lengths
    sentences_per_document: Lengths
    words_per_sentence: Lengths
    empty_documents: int
    duplicates: int  # documents whose text occurred before
    contradictions: int  # texts that occur with different labels
    overlaps: tuple[Overlap, ...] = ()
    readings: tuple[ReadCounts, ...] = ()
    truncation: TruncationReport = field(default_factory=TruncationReport)
    corpus_bytes: int = 0  # on disk
    memory_bytes: int | None = None  # an estimate for training
    seconds: float | None = None  # an estimate for training
    token: str = "word"  # what is counted: "letter" and "syllable" are the others

    @property
    def skipped_rows(self) -> int:
        """How many rows of all files were skipped."""
        return sum(counts.skipped_rows for counts in self.readings)

    @property
    def rare_classes(self) -> tuple[str, ...]:
        """The classes of fewer than two training documents, from which nothing can be learned."""
        return tuple(entry.label for entry in self.classes if entry.training < 2)

    @property
    def alike_classes(self) -> tuple[tuple[str, ...], ...]:
        """The classes whose labels differ in nothing but case or the spaces between their words."""
        alike: dict[str, list[str]] = {}
        for entry in self.classes:
            alike.setdefault(" ".join(entry.label.casefold().split()), []).append(entry.label)
        return tuple(tuple(labels) for labels in alike.values() if len(labels) > 1)

    @property
    def time(self) -> str:
        """How long training is likely to take, in words; nothing where nobody has estimated it."""
        return "" if self.seconds is None else f"about {_duration(self.seconds)}"

    def with_estimates(
        self, *, memory_bytes: int | None = None, seconds: float | None = None
    ) -> DataCheck:
        """The same findings with what training is likely to take."""
        return replace(self, memory_bytes=memory_bytes, seconds=seconds)

    def describe(self) -> list[str]:
        """Return the findings as lines for a terminal, the doubtful ones marked with ``!``."""
        held_out = f", {self.validation_documents:,} held out" if self.validation_documents else ""
        return [
            f"{self.documents:,} training documents{held_out}, {self.tokens:,} {self.token}s, "
            f"{self.distinct_words:,} distinct",
            *self._described_classes(),
            f"{self.token}s per document: {self.tokens_per_document}",
            f"sentences per document: {self.sentences_per_document}",
            f"{self.token}s per sentence: {self.words_per_sentence}",
            *(line for counts in self.readings for line in counts.describe()),
            *self.truncation.describe(),
            *(f"! {line}" for line in self._doubts()),
            *self._described_estimates(),
        ]

    def _described_classes(self) -> list[str]:
        if not self.classes:
            return []
        largest = sorted(self.classes, key=lambda entry: -entry.training)
        kind = "several per document" if self.multilabel else "one per document"
        names = _first([f"{entry.label} {entry.training:,}" for entry in largest])
        return [f"{len(largest):,} classes, {kind}: {names}"]

    def _doubts(self) -> list[str]:
        found = []
        if self.empty_documents:
            found.append(_tell(self.empty_documents, "training document has", "no words"))
        if self.duplicates:
            found.append(_tell(self.duplicates, "training document repeats", "an earlier text"))
        if self.contradictions:
            found.append(_tell(self.contradictions, "text occurs", "with different labels"))
        for overlap in self.overlaps:
            if overlap.shared:
                some = overlap.shared > 1
                found.append(
                    f"{overlap.shared:,} of {overlap.documents:,} {overlap.name} documents "
                    f"{'are training documents' if some else 'is a training document'} too: "
                    f"scores on {'them' if some else 'it'} flatter"
                )
        alone = sum(1 for entry in self.classes if entry.training == 1)
        if not self.multilabel and self.documents >= 10 and 2 * alone > self.documents:
            found.append(
                f"{alone:,} of {self.documents:,} training documents have a label that no other "
                "has: is it the right column?"
            )
        if self.rare_classes:
            names = _first(self.rare_classes)
            found.append(f"classes of fewer than two training documents: {names}")
        if self.alike_classes:
            names = _first([" and ".join(map(repr, labels)) for labels in self.alike_classes])
            found.append(
                f"labels that differ only in case or spaces are classes of their own: {names}; "
                "write them alike if they mean the same"
            )
        if len(self.classes) == 1:
            found.append(f"there is one class only, {self.classes[0].label}")
        return found

    def _described_estimates(self) -> list[str]:
        parts = []
        if self.seconds is not None:
            parts.append(self.time)
        if self.memory_bytes is not None:
            parts.append(f"about {_size(self.memory_bytes)} of memory")
        return [f"training takes {' and '.join(parts)}"] if parts else []


@dataclass(frozen=True, slots=True)
class PairCheck:
    """What was found in pairs of texts before a translator is trained on them."""

    pairs: int
    validation_pairs: int
    left_out: int  # training pairs with an empty side, or one that is too long
    source_pieces: int  # different ones
    target_pieces: int
    chosen: tuple[str, ...] = ()  # settings that the number of pairs decided
    seconds: float | None = None  # an estimate for training

    def describe(self) -> list[str]:
        """Return the findings as lines for a terminal, the doubtful ones marked with ``!``."""
        held_out = f", {self.validation_pairs:,} held out" if self.validation_pairs else ""
        lines = [
            f"{self.pairs:,} training pairs{held_out}; {self.source_pieces:,} different pieces to "
            f"read, {self.target_pieces:,} to write"
        ]
        if self.left_out:
            lines.append(f"! {self.left_out:,} pairs are left out: an empty side, or one too long")
        if self.chosen:
            lines.append(f"chosen for so many pairs: {', '.join(self.chosen)}")
        return [*lines, *_tell_time(self.seconds)]


@dataclass(frozen=True, slots=True)
class TextCheck:
    """What was found in texts before a BERT is trained on them."""

    texts: int
    validation_texts: int
    rows: int  # that a pass reads; a long text is several
    pieces: int  # of all training texts together
    different_pieces: int
    seconds: float | None = None  # an estimate for training
    notes: tuple[str, ...] = ()  # what else is doubtful

    def describe(self) -> list[str]:
        """Return the findings as lines for a terminal, the doubtful ones marked with ``!``."""
        held_out = f", {self.validation_texts:,} held out" if self.validation_texts else ""
        lines = [
            f"{self.texts:,} training texts{held_out}; {self.pieces:,} pieces, "
            f"{self.different_pieces:,} different ones, in {self.rows:,} rows",
            *(f"! {note}" for note in self.notes),
        ]
        return [*lines, *_tell_time(self.seconds)]


@dataclass(frozen=True, slots=True)
class CaptionCheck:
    """What was found in pictures and captions before a captioner is trained on them."""

    pictures: int
    captions: int
    validation_captions: int
    pieces: int  # different ones to write
    left_out: tuple[str, ...] = ()  # pictures that cannot be read, and why
    captions_left_out: int = 0  # empty, or too long
    seconds: float | None = None  # an estimate for training

    def describe(self) -> list[str]:
        """Return the findings as lines for a terminal, the doubtful ones marked with ``!``."""
        held_out = ""
        if self.validation_captions:
            held_out = f", {self.validation_captions:,} captions held out"
        lines = [
            f"{self.captions:,} captions of {self.pictures:,} pictures{held_out}; "
            f"{self.pieces:,} different words to write"
        ]
        lines += describe_left_out(self.left_out)
        if self.captions_left_out:
            lines.append(f"! {self.captions_left_out:,} captions are left out: empty, or too long")
        return [*lines, *_tell_time(self.seconds)]


Check = DataCheck | PairCheck | TextCheck | CaptionCheck
"""What was found in data before a training, as lines to describe it."""


def describe_left_out(pictures: Sequence[str], most: int = 10) -> list[str]:
    """Name the pictures that cannot be read, the first of them."""
    if not pictures:
        return []
    lines = [f"! {len(pictures):,} pictures are left out, since they cannot be read:"]
    lines += [f"!   {one}" for one in pictures[:most]]
    if len(pictures) > most:
        lines.append(f"!   and {len(pictures) - most:,} more")
    return lines


def _tell_cut(cut: ClassCut) -> str:
    share = f"{100 * cut.words_dropped / cut.words:.1f} %" if cut.words else "0 %"
    return (
        f"{cut.documents_cut:,} of {cut.documents:,} documents, "
        f"{cut.sentences_dropped:,} of {cut.sentences:,} sentences, "
        f"{cut.words_dropped:,} of {cut.words:,} words ({share})"
    )


def _tell_time(seconds: float | None) -> list[str]:
    """Say how long the training takes, where that was estimated."""
    return [] if seconds is None else [f"training takes about {_duration(seconds)}"]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{seconds / 3600:.1f} h"


def _size(count: int) -> str:
    return f"{count / 2**20:,.0f} MB" if count < 2**30 else f"{count / 2**30:,.1f} GB"


def _tell(count: int, of_one: str, rest: str) -> str:
    """Say what is so of one or of several: ``text occurs`` or ``texts occur``."""
    noun, verb = of_one.rsplit(" ", 1)
    if count > 1:
        noun, verb = f"{noun}s", "have" if verb == "has" else verb.removesuffix("s")
    return f"{count:,} {noun} {verb} {rest}"


def _first(names: Sequence[str]) -> str:
    """The first of many names, and how many are left."""
    more = len(names) - _SHOWN_CLASSES
    tail = f", and {more:,} more" if more > 0 else ""
    return f"{', '.join(names[:_SHOWN_CLASSES])}{tail}"
