"""What a look through a whole corpus found out about a model's attention: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import decode, encode
from .explanation import ClassName, Explanation

__all__ = ["ClassSentences", "Deciding", "Look", "Spread", "Suspect", "WordContext", "WordUse"]


@dataclass(frozen=True, slots=True)
class WordUse:
    """How one word was weighed where the model answered one class."""

    label: ClassName | None  # None: whatever the answer was
    count: int  # how often the word stood in such documents
    mean: float  # of its weights
    lift: float  # mean of weight x number of items it was shared among: 1 is an even share
    bins: tuple[int, ...]  # how many of its weights fell between two edges


@dataclass(frozen=True, slots=True)
class WordContext:
    """How the weight of one word changes with what stands around it."""

    word: str
    by: str  # what the weights are shares of: "sentence" or "document"
    edges: tuple[float, ...]  # one more than there are bins
    uses: tuple[WordUse, ...]  # the first whatever the answer, then one for each answer


@dataclass(frozen=True, slots=True)
class Spread:
    """How evenly one level of attention spreads its weight, over all rows of two items or more.

    Evenness is entropy over its maximum: 1 for uniform weights, 0 where one item has it all.
    """

    level: str  # "word" or "sentence"
    rows: int
    mean_items: float
    effective_items: float  # mean of exp(entropy): how many items count, as it were
    evenness: float  # mean
    uniform_rows: float  # the share of rows that are as good as uniform
    bins: tuple[int, ...]  # rows by evenness, in equal steps from 0 to 1


@dataclass(frozen=True, slots=True)
class Deciding:
    """A sentence without which answers lose most, in all documents where it is that sentence."""

    text: str
    count: int  # documents it decides
    drop: float  # mean probability that the answer loses without it
    flips: int  # documents whose answer is another without it
    documents: tuple[int, ...]  # places of some of them, from 0


@dataclass(frozen=True, slots=True)
class ClassSentences:
    """The sentences that decide for one class, those that carry most probability first."""

    label: ClassName
    documents: int  # how many were answered with this class
    sentences: tuple[Deciding, ...]


@dataclass(frozen=True, slots=True)
class Suspect:
    """A label that is perhaps wrong: the model is sure of another, and its reasons hold."""

    index: int  # the document's place, from 0
    labels: tuple[ClassName, ...]  # as given
    answer: ClassName
    probability: float
    verdict: str  # of the receipt
    comprehensiveness: float  # probability lost without the reasons, mean of words and sentences
    explanation: Explanation

    @property
    def strength(self) -> float:
        """What suspects are ordered by: sureness times how much hangs on the reasons."""
        return self.probability * max(self.comprehensiveness, 0.0)


@dataclass(frozen=True, slots=True)
class Look:
    """What a look through a corpus found: weights in context, spread, deciding sentences, labels.

    ``disagreements`` counts the sure answers that the labels contradict; the surest of them were
    ``measured``, and ``suspects`` are those whose reasons held.
    """

    documents: int
    words: tuple[WordContext, ...] = ()
    spreads: tuple[Spread, ...] = ()
    classes: tuple[ClassSentences, ...] = ()
    labelled: int = 0  # documents that came with a label
    disagreements: int = 0
    measured: int = 0
    suspects: tuple[Suspect, ...] = ()
    sure: float = 0.9  # how probable an answer must be to doubt a label
    title: str = ""

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the findings as one JSON object."""
        return encode(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Look:
        """Read what ``to_json`` wrote."""
        return decode(cls, text)
