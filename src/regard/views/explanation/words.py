"""What every view says about an explanation beside the text itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...records.explanation import Decision, Explanation
from ...records.weights import Weights, pieces_holding_half, sum_by
from ..drawing.words import method_in_words, percent, two_digits, write_signed
from .folding import is_even
from .stop_words import says_little

__all__ = [
    "Heavy",
    "groups",
    "heavy_words",
    "how_to_read",
    "is_answer",
    "is_right",
    "method_name",
    "name_answer",
    "ngram_words",
    "notes",
    "opposing_words",
    "question",
    "tell_answer",
    "tell_finding",
    "tell_shares",
    "tell_spread",
]


@dataclass(frozen=True, slots=True)
class Heavy:
    """A word that counts, for the label or against it, where it counts most."""

    text: str
    weight: float


def groups(explanation: Explanation) -> list[list[Decision]]:
    """The decisions, those with the very same weights together, so that each text is drawn once."""
    found: list[list[Decision]] = []
    for decision in explanation.decisions:
        for group in found:
            if group[0].weights == decision.weights:
                group.append(decision)
                break
        else:
            found.append([decision])
    return found


def heavy_words(
    explanation: Explanation, decision: Decision, count: int = 6, *, telling: bool = False
) -> list[Heavy]:
    """The words that speak most for the label, each once; ``telling`` leaves stop words out."""
    weights = decision.words
    if weights is None:
        return []
    return _once(explanation, weights, weights.heaviest(), count, telling)


def opposing_words(
    explanation: Explanation, decision: Decision, count: int = 6, *, telling: bool = False
) -> list[Heavy]:
    """The words that speak most against the label, each once; none where no sign is known."""
    weights = decision.words
    if weights is None:
        return []
    return _once(explanation, weights, weights.opposing(), count, telling)


def _once(
    explanation: Explanation, weights: Weights, places: Sequence[int], count: int, telling: bool
) -> list[Heavy]:
    """Each word where it comes first, capitals aside; sums would put "the" before all."""
    found: dict[str, Heavy] = {}
    for place in places:
        start, end = weights.pieces[place]
        text = explanation.source[start:end]
        if telling and says_little(text):
            continue
        found.setdefault(text.lower(), Heavy(text, weights.amounts[place]))
        if len(found) == count:
            break
    return list(found.values())


def tell_spread(decision: Decision) -> str:
    """Say how concentrated the weight is: even attention should not pass for a reason."""
    parts: list[str] = []
    for name, weights in (
        ("word", decision.importance()),
        ("sentence", decision.level("sentence")),
    ):
        if weights is not None and len(weights) > 0:
            plural = name if len(weights) == 1 else name + "s"
            held = pieces_holding_half(weights.values)
            parts.append(f"{held:,} of {len(weights):,} {plural}")
    return f"Half of the weight lies on {' and '.join(parts)}." if parts else ""


def tell_shares(decision: Decision) -> str:
    """Say what network and n-grams put into the answer; nothing where only one of them answers."""
    shares = decision.shares
    if shares is None:
        return ""
    rival = "" if shares.against is None else f" against {shares.against}"
    return (
        f"The log-odds of {decision.label}{rival}, {write_signed(shares.total)}, are "
        f"{write_signed(shares.network)} from the network, "
        f"{write_signed(math.fsum(shares.ngrams.amounts))} from the n-grams of the text and "
        f"{write_signed(shares.start)} that they give any text."
    )


def ngram_words(explanation: Explanation, decision: Decision, count: int = 6) -> list[Heavy]:
    """The words whose n-grams say most, for the label or against it, each once."""
    if decision.shares is None:
        return []
    weights = decision.shares.ngrams
    order = sorted(range(len(weights)), key=lambda place: -abs(weights.amounts[place]))
    spoken = [place for place in order if weights.amounts[place]]
    return _once(explanation, weights, spoken, count, telling=False)


def tell_answer(explanation: Explanation) -> str:
    """Say so where the model gives no label: what is explained is then no answer of its."""
    if explanation.several and not explanation.answered:
        return "No label is given: none is likelier than not. "
    return ""


def is_answer(explanation: Explanation, decision: Decision) -> bool:
    """Whether what was explained is a label that the model gives, as far as that is known."""
    return not explanation.probabilities or decision.label in explanation.answered


def name_answer(explanation: Explanation, decision: Decision) -> str:
    """Name what was explained: the answer, or the label that was explained in its place."""
    return "the answer" if is_answer(explanation, decision) else f"the label “{decision.label}”"


def tell_finding(explanation: Explanation, decision: Decision) -> str:
    """Say in a line what was found: that there is no answer, what changes it, where weight lies."""
    return tell_answer(explanation) + _tell_decision(decision)


def _tell_decision(decision: Decision) -> str:
    """Say what would change the decision, or where the weight lies."""
    change = decision.change
    if change is None:
        even = "Evenly spread: this picture says little. " if is_even(decision) else ""
        return even + tell_spread(decision)
    count = len(change.removed)
    moved = f"{percent(decision.probability)} to {percent(change.probability)}"
    pieces = "the sentence" if count == 1 else f"the {count:,} sentences"
    if not change.flips:
        tried = f": without {pieces} marked, from {moved}" if count else ""
        return f"No sentences were found that decide{tried}."
    answer = "is another" if change.label is None else f"is {change.label}"
    return (
        f"Without {pieces} marked here the answer {answer}: from {moved}. "
        f"Of random sets of as many sentences, {two_digits(change.random_flips)} do the same."
    )


def how_to_read(decision: Decision, *, shaded: str = "shaded", against: str = "violet") -> str:
    """Say in plain words what colours and signs mean, before anyone looks at them."""
    if decision.change is not None or not any(len(weights) for weights in decision.weights):
        return ""
    pieces = [
        name
        for name, level in ((f"{shaded} words", "word"), ("long bars", "sentence"))
        if (weights := decision.level(level)) is not None and len(weights)
    ]
    what = " and ".join(pieces) or "what is marked"
    if any(weights.opposing(1) for weights in decision.weights):
        return (
            f"{what.capitalize()} speak for “{decision.label}”; those in {against}, with a minus, "
            "speak against it."
        )
    if any(weights.scores is not None for weights in decision.weights):
        return f"{what.capitalize()} speak for “{decision.label}”; nothing speaks against it."
    return (
        f"The stronger the colour and the longer the bar, the more the model looked there: {what}."
    )


def question(decision: Decision) -> str:
    """What the explanation answers beyond "why this label", if anything."""
    return "" if decision.against is None else f"rather than {decision.against}"


SPELT = "The text is one word, so its letters are weighed here as words are in others."


def notes(explanation: Explanation, decision: Decision) -> list[str]:
    """What a reader must know, or the picture would mislead."""
    found: list[str] = []
    words, sentences = decision.level("word"), decision.level("sentence")
    if not any(len(weights) for weights in decision.weights):
        found.append("The model found no words to read in this text.")
    elif words is None and decision.change is None:
        found.append("This model does not weigh single words.")
    elif words is not None and sentences is None:
        found.append("This model does not weigh sentences.")
    elif words is not None and sentences is not None and _adds_up(words, sentences):
        found.append("The weight of a sentence is the sum over its words.")
    if explanation.spelt:
        found.append(SPELT)
    if decision.receipt is None and decision.change is None:
        answer = name_answer(explanation, decision)
        found.append(f"Whether {answer} rests on what is marked was not measured.")
    hops = max((len(weights.hops) for weights in decision.weights), default=0)
    if hops:
        found.append(f"Each weight is the mean of {hops} hops or directions.")
    for weights in decision.weights:
        if weights.measured is not None:
            found.append(
                f"Of {len(weights):,} {weights.name}s, the {weights.measured:,} that seemed to "
                "count most were taken away one by one; the others are estimated from slopes."
            )
    if explanation.read_as:
        found.append(_tell_readings(explanation))
    if explanation.unread:
        cut = sum(end - start for start, end in explanation.unread)
        share = max(1, round(100 * cut / max(1, len(explanation.source))))
        found.append(f"A length cap kept {share} % of this text from the model; that part is grey.")
    return found


_MOST_READINGS = 5  # that a note names


def _tell_readings(explanation: Explanation) -> str:
    """Which words the model does not know and reads as others that are spelt alike."""
    pairs = [(explanation.source[start:end], known) for (start, end), known in explanation.read_as]
    named = [f"{word!r} as {known!r}" for word, known in dict.fromkeys(pairs)]
    more = len(named) - _MOST_READINGS
    told = ", ".join(named[:_MOST_READINGS]) + (f" and {more} more" if more > 0 else "")
    return (
        f"Words that the model does not know are read as known ones that are spelt alike: {told}."
    )


def _adds_up(words: Weights, sentences: Weights) -> bool:
    """Whether each sentence has the sum over its words, as in a model without sentences."""
    if words.by != "document":
        return False
    sums = sum_by(words, [(start, end) for start, end in sentences.pieces]).amounts
    return all(
        math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
        for one, other in zip(sums, sentences.amounts, strict=True)
    )


def is_right(explanation: Explanation, decisions: Sequence[Decision]) -> bool | None:
    """Whether the answer is the true label; None where that is not known or not what is shown.

    Of several labels each is right or wrong by itself; where they differ, nothing is said.
    """
    truth, answered = explanation.true_labels, explanation.answered
    if truth is None or not explanation.probabilities:
        return None
    if explanation.several and not answered:
        return not truth
    if len(truth) != 1 and not explanation.several:
        return None
    shown = [decision.label for decision in decisions]
    right = {label in truth for label in shown} if set(shown) <= set(answered) else set()
    return right.pop() if len(right) == 1 else None


def method_name(explanation: Explanation) -> str:
    """The method, and how pieces were erased where they were."""
    erased = f" ({explanation.erasure})" if explanation.erasure else ""
    return method_in_words(explanation.method) + erased
