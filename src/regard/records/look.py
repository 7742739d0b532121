"""What a look through a corpus found out about a model, or about two of them: plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .encoding import Record
from .explanation import ClassName, Explanation

__all__ = [
    "Answer",
    "ChangedDocument",
    "ClassSentences",
    "Deciding",
    "Difference",
    "Evenness",
    "Look",
    "Suspect",
    "WordContext",
    "WordUse",
]


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
class Evenness:
    """How evenly one level of attention spreads its weight, over all rows of two items or more.

    Evenness is entropy over its maximum: 1 for uniform weights, 0 where one item has it all.
    """

    level: str  # "word" or "sentence"
    rows: int
    mean_items: float
    effective_items: float  # mean of exp(entropy): how many items share the weight
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
class Look(Record):
    """What a look through a corpus found: weights in context, spread, deciding sentences, labels.

    ``disagreements`` counts the sure answers that the labels contradict; the surest of them were
    ``measured``, and ``suspects`` are those whose reasons held.
    """

    documents: int
    words: tuple[WordContext, ...] = ()
    spreads: tuple[Evenness, ...] = ()
    classes: tuple[ClassSentences, ...] = ()
    labelled: int = 0  # documents that came with a label
    disagreements: int = 0
    measured: int = 0
    suspects: tuple[Suspect, ...] = ()
    sure: float = 0.9  # how probable an answer must be to doubt a label
    title: str = ""

    def to_html(self) -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.look import render

        return render(self)

    def _repr_html_(self) -> str:
        from ..views.look import summary
        from ..views.notebook import card

        return card(summary(self), whole=self.to_html())


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model said of one document."""

    labels: tuple[ClassName, ...]  # one, or for multi-label data all that hold
    probability: float  # of the first label, or of the likeliest where none holds
    explanation: Explanation | None = None  # kept for the documents that are shown


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document about which two models disagree."""

    index: int  # its place, from 0
    start: str  # how its text begins
    old: Answer
    new: Answer
    overlap: float  # the share of their reasons that both have, 0 to 1
    label_changed: bool
    true_labels: tuple[ClassName, ...] | None = None  # None: not known

    @property
    def outcome(self) -> str:
        """What the change did where the truth is known: "corrected", "broken", or nothing said."""
        if self.true_labels is None or not self.label_changed:
            return ""
        truth = set(map(str, self.true_labels))
        right = [set(map(str, answer.labels)) == truth for answer in (self.old, self.new)]
        return {(False, True): "corrected", (True, False): "broken"}.get((right[0], right[1]), "")


@dataclass(frozen=True, slots=True)
class Usual:
    """What another seed alone changes: the old model against others that were trained alike."""

    models: int  # others
    documents: int  # compared, of all of them together
    label_changes: int
    reason_changes: int  # by the threshold that was learnt from them
    mean_overlap: float


@dataclass(frozen=True, slots=True)
class Difference(Record):
    """Which documents two models answer otherwise, or for other reasons.

    The reasons of a document count as changed where their overlap is below ``least_overlap``.
    """

    old: str  # the names of the models
    new: str
    documents: int
    changes: tuple[ChangedDocument, ...]  # changed labels first, then the least overlap first
    label_changes: int = 0
    reason_changes: int = 0  # documents with the same label for other reasons
    corrected: int = 0
    broken: int = 0
    mean_overlap: float = 1.0
    overlaps: tuple[int, ...] = ()  # documents by overlap, in equal steps from 0 to 1
    least_overlap: float = 0.5
    method: str = ""
    usual: Usual | None = None  # None: nobody knows what another seed changes
    data: str = ""  # the name of the file, where the documents come from one
    only_old: tuple[ClassName, ...] = ()  # labels that the new model lacks
    only_new: tuple[ClassName, ...] = ()  # labels that the old model lacks

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.changes)

    @property
    def within_usual(self) -> bool:
        """Whether no more changed than another seed changes, as far as the numbers can tell.

        Both shares, of labels and of reasons, must lie below the usual one or within what chance
        adds to it nineteen times of twenty.
        """
        if not self.changes:
            return True
        usual = self.usual
        return usual is not None and all(
            found / self.documents <= _at_most(known, usual.documents, self.documents)
            for found, known in (
                (self.label_changes, usual.label_changes),
                (self.reason_changes, usual.reason_changes),
            )
        )

    def to_html(self) -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.difference import render

        return render(self)

    def _repr_html_(self) -> str:
        from ..views.difference import summary
        from ..views.notebook import card

        return card(summary(self), whole=self.to_html())


def _at_most(known: int, documents: int, others: int) -> float:
    """The share that other documents may have by chance where so many of these have it."""
    share = (known + 1) / (documents + 2)
    return share + 1.645 * math.sqrt(share * (1 - share) * (1 / documents + 1 / others))
