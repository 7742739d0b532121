"""What models trained on the same documents are worth beside each other: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from .encoding import Record
from .evaluation import Interval

__all__ = [
    "ALIKE",
    "BETTER",
    "WORSE",
    "Comparison",
    "Faithfulness",
    "Footprint",
    "LeftOut",
    "Paired",
    "Standing",
    "Training",
]

BETTER, WORSE, ALIKE = "better", "worse", "not told apart"
SURE = 0.05
"""How likely chance may be, after the correction for many comparisons."""


@dataclass(frozen=True, slots=True)
class Footprint(Record):
    """What it takes to answer, measured on texts of a stated length."""

    documents: int  # that were answered
    words: float  # of each, on average
    milliseconds: float  # of a document that comes alone, the median
    documents_per_second: float  # where many are answered together
    peak_bytes: int | None  # what loading and answering added to the memory; None: not known here
    device: str = "cpu"
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """What hangs on the words that explanations point at, beyond as many random ones.

    The words are cut out of the text and the model is asked again, whatever kind it is.
    """

    method: str
    documents: int
    lead: float  # by how much more the probability of the answer falls than without random words
    flips: float  # the share of answers that change without a fifth of the words
    random_flips: float  # the same without random words


@dataclass(frozen=True, slots=True)
class Training(Record):
    """One training of one contender, and how it did on the test documents."""

    contender: str
    seed: int | None  # None: it draws nothing
    accuracy: float
    macro_f1: float
    right: str  # a 1 for each test document that was answered rightly, and a 0 for each other
    seconds: float  # of the training
    parameters: int | None
    disk_bytes: int
    footprint: Footprint
    faithfulness: Faithfulness | None
    key: str = ""  # of data and settings: another key is another training


@dataclass(frozen=True, slots=True)
class Standing:
    """One contender over all its seeds: means."""

    name: str
    title: str
    ours: bool
    seeds: int
    accuracy: float
    deviation: float | None  # of the accuracy over the seeds; None for a single training
    interval: Interval  # of the accuracy, over documents and seeds
    macro_f1: float
    documents_per_second: float
    milliseconds: float
    peak_bytes: int | None
    disk_bytes: int
    parameters: int | None
    training_seconds: float
    faithfulness: Faithfulness | None


@dataclass(frozen=True, slots=True)
class Paired:
    """One contender beside the one that all are compared with, on the same documents."""

    name: str
    against: str
    difference: float  # of the accuracies, above zero where ``name`` is better
    interval: Interval  # over documents and seeds drawn again
    p_value: float  # of signs that are flipped document by document
    corrected: float  # the same after Holm, for all comparisons made
    won: int  # seeds of which ``name`` was better
    seeds: int

    @property
    def verdict(self) -> str:
        """Say which is better, where both the test and the interval can tell."""
        if self.corrected >= SURE or self.interval.low <= 0 <= self.interval.high:
            return ALIKE
        return BETTER if self.difference > 0 else WORSE


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was asked for and not trained, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """Contenders trained on the same documents and asked about the same others."""

    data: str
    test: str
    training_documents: int
    test_documents: int
    classes: tuple[str, ...]
    seeds: tuple[int, ...]
    against: str
    standings: tuple[Standing, ...]  # the most accurate first
    pairs: tuple[Paired, ...]
    left_out: tuple[LeftOut, ...] = ()
    version: str = ""
    date: str = ""

    def standing(self, name: str) -> Standing | None:
        """The standing of a contender, where it was trained."""
        return next((one for one in self.standings if one.name == name), None)
