"""What all views of an alignment say alike: names of pieces, shades of weights, a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...records.alignment import LEAST_DECIDED, Alignment, AlignmentReceipt, WrittenReceipt
from ...records.explanation import CHANCE, FAITHFUL, NOT_MEASURED, TOO_SHORT, UNDECIDED, WEAK
from ...records.weights import Span
from ..drawing.colours import Scale
from ..drawing.words import percent, plural, points

__all__ = [
    "SCALE",
    "PieceStretch",
    "heaviest",
    "names",
    "remark",
    "score",
    "stretches",
    "tell_looks",
    "tell_loss",
    "tell_test",
    "tell_undecided",
    "tell_verdict",
    "write_need",
]

SCALE = Scale(0.01, 1.0)
"""How strongly a weight is drawn: the same in every matrix, so that matrices can be compared."""

_CONCLUSIONS = {
    FAITHFUL: "You may take what each piece looked at for what it was written from.",
    WEAK: "Take what each piece looked at for a part of what it was written from, not for all.",
    CHANCE: "Do not take what each piece looked at for what it was written from.",
    TOO_SHORT: "Source and translation are too short to tell whether what was looked at matters.",
    UNDECIDED: "The source decides none of these pieces: without it they are as likely.",
    NOT_MEASURED: "Nothing was measured: whether what was looked at matters is not known.",
}
_SPACE = "␣"  # a piece that stands for white space alone


@dataclass(frozen=True, slots=True)
class PieceStretch:
    """A part of a text: a piece by its number, or what stands between pieces."""

    text: str
    piece: int | None = None


def names(pieces: Sequence[str]) -> tuple[str, ...]:
    """The pieces on one line each, as the heads of rows and columns."""
    return tuple(" ".join(piece.split()) or _SPACE for piece in pieces)


def stretches(text: str, spans: Sequence[Span]) -> Iterator[PieceStretch]:
    """Cut a text at its pieces; all stretches joined are the text again.

    A piece without letters has no stretch, nor has one that lies in another.
    """
    reached = 0
    for place in sorted(range(len(spans)), key=lambda place: spans[place]):
        start, end = spans[place]
        if start < reached or start == end:
            continue
        if start > reached:
            yield PieceStretch(text[reached:start])
        yield PieceStretch(text[start:end], place)
        reached = end
    if reached < len(text):
        yield PieceStretch(text[reached:])


def heaviest(weights: NDArray[np.float32], count: int) -> list[int]:
    """The places of the heaviest weights that are drawn at all, heaviest first."""
    order = np.argsort(-weights, kind="stable")[:count].tolist()
    return [place for place in order if SCALE.level(float(weights[place]))]


def tell_looks(alignment: Alignment) -> str:
    """Say how many pieces of the source counted for a piece, on average."""
    targets, sources = alignment.weights.shape
    if not targets:
        return "Nothing was written."
    if not sources:
        return "There was nothing to look at."
    mean = float(alignment.effective_counts.mean())
    return f"A piece looked at {mean:.1f} of {plural(sources, 'piece')} of the source, on average."


def tell_verdict(alignment: Alignment) -> list[str]:
    """Say whether what was looked at matters; nothing where that was not measured.

    The first sentence says what a reader may conclude.
    """
    receipt = alignment.receipt
    if receipt is None:
        return []
    said = [_CONCLUSIONS.get(receipt.verdict, receipt.verdict)]
    if receipt.decided:
        looked, others = "what it looked at most", "a random piece of the source"
        if receipt.taken > 1:
            looked = f"the {receipt.taken} pieces it looked at most"
            others = f"{receipt.taken} random pieces of the source"
        without = (f"without {looked}", f"without {others}")
        said.append(tell_test(receipt, "written piece", *without))
    return said + tell_undecided(receipt)


def tell_test(receipt: AlignmentReceipt, piece: str, without: str, at_random: str) -> str:
    """Say what pieces lose without what they looked at, against what they lose at random."""
    return (
        f"{receipt.verdict.capitalize()}: {without}, a {piece} loses "
        f"{points(receipt.mean_drop)} percentage points of its probability on average, "
        f"{at_random} {points(receipt.mean_random_drop)}; "
        f"{receipt.better_count:,} of {plural(len(receipt.decided), piece)} lose more than that. "
        f"Chance alone does as well with probability {receipt.judgement.p_value:.3g}."
    )


def tell_undecided(
    receipt: AlignmentReceipt,
    *,
    source: str = "source",
    piece: str = "piece",
    gone: str = "with all of the source unknown",
) -> list[str]:
    """Say how many pieces the source does not decide; nothing where it decides all."""
    count = len(receipt.written) - len(receipt.decided)
    if not count:
        return []
    left_out = f" The figures above leave such {piece}s out." if receipt.decided else ""
    return [
        f"The {source} does not decide {plural(count, piece)}. Such a {piece} loses less than "
        f"{points(LEAST_DECIDED, 0)} percentage point of its probability {gone}: "
        f"it follows from the {piece}s before.{left_out}"
    ]


def write_need(receipt: WrittenReceipt, *, lost: str = "", undecided: str = "not decided") -> str:
    """Write what one piece loses, and in brackets without random pieces; or that it needs none."""
    if not receipt.decided:
        return undecided
    return f"{lost}{points(receipt.drop, 0)} ({points(receipt.random_drop, 0)})"


def tell_loss(receipt: WrittenReceipt) -> str:
    """Say what becomes of the probability of one written piece."""
    blind = "" if receipt.blind is None else f", without any piece {percent(receipt.blind)}"
    return (
        f"{percent(receipt.probability)}, without what it looked at {percent(receipt.without)}, "
        f"without random pieces {percent(receipt.random)}{blind}; "
        + (f"p {receipt.p_value:.2g}" if receipt.decided else UNDECIDED)
    )


def score(alignment: Alignment) -> str:
    """Write what an alignment was chosen by."""
    return f"score {alignment.score:.3f}".replace("-", "−")


def remark(alignment: Alignment) -> str:
    """Say what else a reader should know; mostly nothing."""
    notes = []
    if not alignment.ended:
        notes.append("The limit of its length came before its end.")
    if alignment.copied:
        words = ", ".join(names([alignment.target_pieces[place] for place in alignment.copied]))
        notes.append(f"Copied from the source, since it knows no word for it: {words}.")
    return " ".join(notes)
