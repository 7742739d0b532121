"""What a model decided about one input, what counted, and how faithful that was measured to be.

Plain data, no tensors, no model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError, suggestion
from .encoding import Record
from .weights import Span, Weights, importance, per_word, phrases, require_inside

__all__ = [
    "CHANCE",
    "ERROR_RATE",
    "FAITHFUL",
    "LEAST_LEAD",
    "NOT_MEASURED",
    "TOO_SHORT",
    "UNDECIDED",
    "WEAK",
    "Change",
    "ClassName",
    "Decision",
    "ErasureCurve",
    "Explanation",
    "Judgement",
    "Piece",
    "Receipt",
    "ReceiptMeasure",
    "Shares",
]

ClassName = str | int
FAITHFUL, WEAK, CHANCE = "faithful", "weak", "no better than chance"
TOO_SHORT, NOT_MEASURED = "too short to tell", "not measured"
ERROR_RATE = 0.01
"""How often scores that are dealt out at random may be taken for more than that."""
LEAST_LEAD = 0.05
"""Probability that must hang on the heaviest pieces beyond what hangs on random ones.

The answers of networks with fresh weights, which mean nothing, stay below 0.03.
"""
UNDECIDED = "not decided by the source"  # of what was written: it would be without a source


@dataclass(frozen=True, slots=True)
class Piece:
    """A word or sentence as it is written, where it stands, and its weight."""

    text: str
    span: Span
    weight: float
    score: float | None = None  # with its sign, where the method knows one


@dataclass(frozen=True, slots=True)
class ReceiptMeasure:
    """One number about an explanation, beside what random rankings of the pieces get on average."""

    name: str  # "comprehensiveness", "sufficiency", "flip", "agreement"
    value: float
    random: float | None = None
    level: str = ""  # what was ranked: "word" or "sentence"


@dataclass(frozen=True, slots=True)
class ErasureCurve:
    """The probability of the label while pieces are taken away, the heaviest first.

    One number for each bin of the receipt; those of random rankings are means.
    """

    level: str  # "word" or "sentence"
    piece_count: int  # of the document
    taken: tuple[int, ...]  # how many pieces each bin is
    without: tuple[float, ...]  # the probability without them
    alone: tuple[float, ...]  # the probability of them alone
    random_without: tuple[float, ...]
    random_alone: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What can be said of the scores of one level, and how likely chance alone would say it.

    The model was asked without many random sets of pieces. ``agreement`` is the correlation of
    what the answer lost with what the scores of each set add up to; ``p_value`` is the share of
    shuffles of the scores, their own order counted, that agree as well.
    """

    level: str  # "word" or "sentence"
    verdict: str  # one of those named above
    p_value: float | None = None  # None: nothing was tested
    agreement: float | None = None  # from -1 to 1
    lead: float | None = None  # how much more probability hangs on the heaviest than on random ones
    sets: int = 0  # how many were taken away
    shuffles: int = 0  # how many orders of the scores were tried

    @property
    def slight(self) -> bool:
        """Whether the scores fit better than by luck, but next to nothing hangs on the heaviest."""
        return self.verdict == CHANCE and self.p_value is not None and self.p_value <= ERROR_RATE


@dataclass(frozen=True, slots=True)
class Receipt:
    """How faithful an explanation was measured to be, by asking the model again without pieces."""

    verdict: str  # words and sentences together: where they differ, "weak"
    measures: tuple[ReceiptMeasure, ...]
    bins: tuple[float, ...] = ()  # the shares of the pieces that were erased
    curves: tuple[ErasureCurve, ...] = ()
    random_rankings: int = 0  # how many the baseline is the mean of
    margin: float = 0.0  # by how many of their standard deviations the random ones are beaten
    rivals: float | None = None  # the share of random rankings that do as well
    erasure: str = "delete"  # how the pieces were taken away
    judgements: tuple[Judgement, ...] = ()  # words and sentences apart

    def measure(self, name: str, level: str = "") -> ReceiptMeasure | None:
        """The measure of that name, at that level, if it was taken."""
        return next((one for one in self.measures if (one.name, one.level) == (name, level)), None)

    def judgement(self, level: str) -> Judgement | None:
        """What is said of the words or of the sentences, if they were looked at."""
        return next((one for one in self.judgements if one.level == level), None)

    def curve(self, level: str) -> ErasureCurve | None:
        """The curve of the words or of the sentences, if it was taken."""
        return next((curve for curve in self.curves if curve.level == level), None)


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a decision once some sentences are taken away."""

    removed: tuple[Span, ...]  # in the order in which they were taken away
    probability: float  # of the label that was decided on, without them
    flips: bool  # whether the decision is then another
    label: ClassName | None = None  # the likeliest label without them; None for multi-label data
    random_flips: float = 0.0  # the share of random sets of as many sentences that flip it too


@dataclass(frozen=True, slots=True)
class Shares:
    """What a network and the n-grams beside it put into an answer, in log-odds that add up.

    ``total`` is ``network + start`` and what the ``ngrams`` of all words add: exact, word by word.
    """

    against: ClassName | None  # the label that the answer is weighed against; None: none of it
    total: float
    network: float
    start: float  # what the n-grams say of any text
    ngrams: Weights
    network_words: Weights | None = None  # the network's part by word, as the method has it


@dataclass(frozen=True, slots=True)
class Decision:
    """One thing the model decided: a label, or a word it wrote."""

    label: ClassName
    probability: float
    weights: tuple[Weights, ...]
    against: ClassName | None = None  # why not this label instead, where that was the question
    change: Change | None = None  # what would change the decision, where that was the question
    receipt: Receipt | None = None  # how faithful these weights are, where it was measured
    shares: Shares | None = None  # what network and n-grams put into it, where both answer

    def level(self, name: str) -> Weights | None:
        """The weights called ``name``, such as ``"word"`` or ``"sentence"``, if there are any."""
        return next((weights for weights in self.weights if weights.name == name), None)

    @property
    def words(self) -> Weights | None:
        """What words are ranked and drawn by: their share of the document where it is known."""
        return self.importance() or self.level("word")

    @property
    def phrases(self) -> Weights | None:
        """Each word by the phrase that it stands in: what the words about it say together."""
        words = self.words
        return phrases(words, self.level("sentence")) if words is not None else None

    @property
    def sentences_per_word(self) -> Weights | None:
        """Each sentence by what it says a word, where words are known too."""
        sentences, words = self.level("sentence"), self.level("word")
        return None if sentences is None or words is None else per_word(sentences, words)

    def importance(self, *, length_corrected: bool = False) -> Weights | None:
        """Each word's share of the document: word weight x sentence weight where both exist."""
        words, sentences = self.level("word"), self.level("sentence")
        if words is None or words.by != "sentence":
            return words
        if sentences is None:
            return None
        return importance(words, sentences, length_corrected=length_corrected)


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Record):
    """What a model decided about one input, and what counted: to be saved, sent and drawn."""

    source: str  # the text itself, never altered
    method: str  # "attention", "erasure", ...
    decisions: tuple[Decision, ...]  # one a label that was explained, the first the likeliest
    probabilities: tuple[tuple[ClassName, float], ...] = ()  # of every label
    unknown: tuple[Span, ...] = ()  # words that are not in the vocabulary
    read_as: tuple[tuple[Span, str], ...] = ()  # those of them that are read as known words
    unread: tuple[Span, ...] = ()  # what a cap kept from the model
    true_labels: tuple[ClassName, ...] | None = None  # None: not known
    erasure: str | None = None  # how the method took pieces away, where it did
    several: bool = False  # whether a text may have several labels, or none
    spelt: bool = False  # whether what is weighed as words are the letters of one word

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.decisions:
            raise DataError("an explanation needs its source text and at least one decision")
        levels = [weights.pieces for decision in self.decisions for weights in decision.weights]
        for spans in (self.unknown, [span for span, _ in self.read_as], self.unread, *levels):
            require_inside(spans, self.source)

    def __repr__(self) -> str:
        first = self.decisions[0]
        parts = ", ".join(f"{len(weights)} {weights.name} weights" for weights in first.weights)
        answer = f"{first.label!r} {first.probability:.3f}"
        return f"Explanation({answer} by {self.method}, {parts or 'no weights'})"

    @property
    def label(self) -> ClassName:
        """The label explained first: the likeliest unless another was asked for."""
        return self.decisions[0].label

    @property
    def answered(self) -> tuple[ClassName, ...]:
        """The labels that the model gives: the likeliest, or of several those likelier than not."""
        ranked = sorted(self.probabilities, key=lambda pair: -pair[1])
        if self.several:
            return tuple(label for label, share in ranked if share > 0.5)
        return tuple(label for label, _ in ranked[:1])

    @property
    def probability(self) -> float:
        """How probable the model thinks that label."""
        return self.decisions[0].probability

    @property
    def receipt(self) -> Receipt | None:
        """How faithful the explanation of that label was measured to be, if it was."""
        return self.decisions[0].receipt

    def decision(self, label: ClassName | None = None) -> Decision:
        """The decision about ``label``, or the first one."""
        for decision in self.decisions:
            if label is None or decision.label == label:
                return decision
        known = [str(decision.label) for decision in self.decisions]
        raise DataError(f"label {label!r} was not explained; {suggestion(str(label), known)}")

    def words(self, count: int = 10, *, label: ClassName | None = None) -> list[Piece]:
        """The words that speak most for the label, by their importance, heaviest first."""
        weights = self.decision(label).words
        return self._pieces(weights, weights.heaviest(count)) if weights else []

    def words_against(self, count: int = 10, *, label: ClassName | None = None) -> list[Piece]:
        """The words that speak against the label, strongest first; attention knows none."""
        weights = self.decision(label).words
        return self._pieces(weights, weights.opposing(count)) if weights else []

    def sentences(self, count: int = 3, *, label: ClassName | None = None) -> list[Piece]:
        """The sentences that speak most for the label; none where sentences were not weighed."""
        weights = self.decision(label).level("sentence")
        return self._pieces(weights, weights.heaviest(count)) if weights else []

    def sentences_against(self, count: int = 3, *, label: ClassName | None = None) -> list[Piece]:
        """The sentences that speak against the label, strongest first; attention knows none."""
        weights = self.decision(label).level("sentence")
        return self._pieces(weights, weights.opposing(count)) if weights else []

    def _pieces(self, weights: Weights, places: Sequence[int]) -> list[Piece]:
        return [self._piece(weights, place) for place in places]

    def _piece(self, weights: Weights, place: int) -> Piece:
        start, end = weights.pieces[place]
        score = None if weights.scores is None else weights.scores[place]
        return Piece(self.source[start:end], (start, end), weights.values[place], score)

    # The rest is for a person at a prompt: the record hands itself to a view, imported late,
    # because views know records and not the other way round.

    def to_html(self, title: str = "Explanation") -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.explanation.page import render

        return render([self], title=title)

    def _repr_html_(self) -> str:
        from ..views.explanation.page import notebook

        return notebook(self)

    def to_text(self, width: int = 80) -> str:
        """Return the explanation as plain text without colour, for logs and mails."""
        from ..views.explanation.terminal import Terminal, render

        return render(self, Terminal(width=width, depth="none"))

    def show(self) -> None:
        """Print the explanation, in colour where the terminal can."""
        from ..views.explanation.terminal import Terminal, render

        print(render(self, Terminal.here()))

    def write_image(self, path: str | Path) -> None:
        """Write a picture, PNG or SVG by the name of the file; needs the extra ``plots``."""
        from ..views.explanation.picture import write

        write(self, Path(path))
