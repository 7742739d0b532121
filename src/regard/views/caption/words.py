"""What all views of a caption say alike: how strongly a cell is shown, and a few sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...records.alignment import WrittenReceipt
from ...records.caption import COVERED_WEIGHT, Caption
from ...records.explanation import CHANCE, FAITHFUL, NOT_MEASURED, TOO_SHORT, UNDECIDED, WEAK
from ..alignment import words as alignment_words
from ..drawing.words import percent, plural

__all__ = [
    "LEVELS",
    "levels",
    "name_place",
    "remark",
    "tell_looks",
    "tell_loss",
    "tell_verdict",
    "write_need",
]

LEVELS = 8
"""How many shades there are between a cell that was not looked at and the heaviest."""

_UNDECIDED = "not decided by the picture"
_CONCLUSIONS = {
    FAITHFUL: "You may take what each word looked at for what it was written from.",
    WEAK: "Take what each word looked at for a part of what it was written from, not for all.",
    CHANCE: "Do not take what each word looked at for what it was written from.",
    TOO_SHORT: "The caption is too short to tell whether what was looked at matters.",
    UNDECIDED: "The picture decides none of these words: without it they are as likely.",
    NOT_MEASURED: "Nothing was measured: whether what was looked at matters is not known.",
}


def levels(weights: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return how strongly each cell of each word is shown, 0 to ``LEVELS``.

    The heaviest cell of a word has all, whatever its weight, or a word that looked everywhere
    could not be read.
    """
    peaks = np.maximum(weights.max(1, keepdims=True, initial=0), 1e-12)
    shares: NDArray[np.int64] = np.rint(LEVELS * weights / peaks).astype(np.int64)
    return shares


def name_place(caption: Caption, word: int) -> str:
    """Say in words where a word looked most: a corner, a side or the middle."""
    row, column = divmod(int(caption.weights[word].argmax()), caption.columns)
    down = ("top", "middle", "bottom")[min(2, 3 * row // caption.rows)]
    across = ("left", "middle", "right")[min(2, 3 * column // caption.columns)]
    return down if down == across else f"{down} {across}"


def tell_looks(caption: Caption) -> str:
    """Say how many cells of the picture counted for a word, on average."""
    if not len(caption.weights):
        return "Nothing was written."
    mean = float(caption.effective_counts.mean())
    cells = plural(caption.weights.shape[1], "cell")
    return f"A word looked at {mean:.1f} of {cells} of the picture, on average."


def tell_verdict(caption: Caption) -> list[str]:
    """Say whether what was looked at matters; nothing where that was not measured.

    The first sentence says what a reader may conclude.
    """
    receipt = caption.receipt
    if receipt is None:
        return []
    said = [_CONCLUSIONS.get(receipt.verdict, receipt.verdict)]
    if receipt.decided:
        cells = plural(receipt.taken, "cell")
        covered = (
            f"with the cells covered that hold {COVERED_WEIGHT:.0%} of its weight "
            f"({cells} on average)",
            "with as many random cells covered",
        )
        said.append(alignment_words.tell_test(receipt, "word", *covered))
    gone = "with all cells covered"
    return said + alignment_words.tell_undecided(receipt, source="picture", piece="word", gone=gone)


def write_need(receipt: WrittenReceipt) -> str:
    """Write what one word loses, and with random cells covered; or that it needs no picture."""
    return alignment_words.write_need(receipt, lost="lost ", undecided=_UNDECIDED)


def tell_loss(receipt: WrittenReceipt) -> str:
    """Say what becomes of the probability of one word."""
    blind = "" if receipt.blind is None else f", all cells covered {percent(receipt.blind)}"
    return (
        f"{percent(receipt.probability)}, what it looked at covered {percent(receipt.without)}, "
        f"random cells covered {percent(receipt.random)}{blind}; "
        + (f"p {receipt.p_value:.2g}" if receipt.decided else _UNDECIDED)
    )


def remark(caption: Caption) -> str:
    """Say what else a reader should know; mostly nothing."""
    return "" if caption.ended else "The limit of its length came before its end."
