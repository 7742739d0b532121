"""A receipt in plain words: what taking pieces away did, and what that says of the explanation."""

from __future__ import annotations

from ...records.explanation import (
    CHANCE,
    FAITHFUL,
    NOT_MEASURED,
    TOO_SHORT,
    WEAK,
    Decision,
    ErasureCurve,
    Explanation,
    Judgement,
    Receipt,
    ReceiptMeasure,
)
from ..drawing.charts import Axis, Frame, Line, draw_lines
from ..drawing.page import escape
from ..drawing.words import percent
from .words import name_answer

__all__ = ["CONCLUSIONS", "MEANINGS", "conclusion", "panel", "tell_receipt", "verdicts"]

# The bin that is quoted: about what a reader takes in at a glance.
_QUOTED = {"word": 0.1, "sentence": 0.2}
_COLOURS = {"word": "orange", "sentence": "blue"}
_SIGNS = {FAITHFUL: "●", WEAK: "◐", CHANCE: "○", TOO_SHORT: "–", NOT_MEASURED: "–"}
SLIGHT = "slight"  # a way to be no better than chance: see Judgement.slight
MEANINGS = {
    FAITHFUL: "{answer} rests on the {pieces} marked here.",
    WEAK: "the {pieces} marked here count, but other {others} count too.",
    CHANCE: "{answer} needs the {pieces} marked here no more than any others.",
    SLIGHT: "next to nothing hangs on them, though they are ranked better than by luck: "
    "{answer} loses hardly more without the {pieces} marked here than without others.",
    TOO_SHORT: "there are too few {pieces} to tell this from luck.",
    NOT_MEASURED: "there were no {pieces} to take away, so nothing is known of them.",
}
"""What each verdict means of words or sentences, and of the answer or another label."""
_PARTS = ("parts of the text", "parts")  # where words and sentences were not judged apart
CONCLUSIONS = {
    FAITHFUL: "You may take what is marked here for what {answer} rests on.",
    WEAK: "Take what is marked here for a part of what {answer} rests on, not for all of it.",
    CHANCE: "Do not take what is marked here for the reason of {answer}.",
    TOO_SHORT: "The text is too short to tell whether what is marked here is the reason.",
    NOT_MEASURED: "Nothing was measured: do not take what is marked here for the reason.",
}
"""What a reader may conclude from each verdict, of the answer or of another label."""
_MEASURES = {
    "comprehensiveness": ("Comprehensiveness", "probability lost without the heaviest", "high"),
    "sufficiency": ("Sufficiency", "probability lost with the heaviest alone", "low"),
    "agreement": ("Agreement", "of the weights with what random sets of pieces lose", "high"),
    "tau": ("Tau", "agreement with leaving out one at a time", "high"),
    "flip": ("Flip", "smallest share without which the answer is another; 1 if none is", "low"),
}


def verdicts(receipt: Receipt, answer: str) -> list[tuple[str, str]]:
    """The verdict on the words and on the sentences, each with what it means for a reader.

    ``answer`` is what ``name_answer`` says. A receipt of an older version has one verdict for both.
    """
    if not receipt.judgements:
        return [(receipt.verdict.capitalize(), _meaning(receipt.verdict, answer, *_PARTS))]
    found = []
    for one in receipt.judgements:
        noun = one.level + "s"
        meant = _meaning(SLIGHT if one.slight else one.verdict, answer, noun, noun)
        found.append((f"{noun.capitalize()}: {one.verdict}", f"{meant}{_luck(one)}"))
    return found


def _meaning(verdict: str, answer: str, pieces: str, others: str) -> str:
    return MEANINGS.get(verdict, "").format(answer=answer, pieces=pieces, others=others)


def conclusion(receipt: Receipt, answer: str) -> str:
    """Say in one sentence what a reader may conclude of what ``name_answer`` names."""
    trusted = [one for one in receipt.judgements if one.verdict == FAITHFUL]
    others = [one for one in receipt.judgements if one.verdict != FAITHFUL]
    if not trusted or not others:
        return CONCLUSIONS.get(receipt.verdict, "").format(answer=answer)
    known = others[0].verdict in (WEAK, CHANCE)
    rest = "not the {}s." if known else "of the {}s nothing can be said."
    return (
        f"You may take the {trusted[0].level}s marked here for what {answer} rests on; "
        + rest.format(others[0].level)
    )


def _luck(judgement: Judgement) -> str:
    """How likely chance alone would do as well, where that was tested."""
    if judgement.p_value is None:
        return ""
    return (
        f" Dealt out at random, the weights fit as well with probability {judgement.p_value:.3g}."
    )


def tell_receipt(decision: Decision) -> list[str]:
    """Say what became of the probability, for words and for sentences."""
    receipt = decision.receipt
    if receipt is None:
        return []
    lines = [_tell_curve(curve, receipt.bins, decision.probability) for curve in receipt.curves]
    lines = [line.replace(" %", "\u00a0%") for line in lines]
    return lines


def panel(explanation: Explanation, decision: Decision) -> str:
    """Return the receipt as HTML: the verdict, what was found, the curves and all measures."""
    receipt = decision.receipt
    if receipt is None:
        return ""
    answer = name_answer(explanation, decision)
    concluded = escape(conclusion(receipt, answer))
    told = "".join(f"<li>{escape(line)}</li>" for line in tell_receipt(decision))
    drawn = "".join(_draw_curve(curve, receipt.bins, decision) for curve in receipt.curves)
    return (
        f'<section class="rg-receipt"><p class="rg-verdict">{concluded}</p>'
        f'{_tell_judgement(receipt, answer)}<div class="rg-evidence"><ul>{told}</ul>{drawn}</div>'
        f"{_measures(receipt)}</section>"
    )


def _tell_judgement(receipt: Receipt, answer: str) -> str:
    signs = [_SIGNS.get(one.verdict, "") for one in receipt.judgements or (receipt,)]
    return "".join(
        f'<p class="rg-judged"><b>{sign} {escape(verdict)}</b> {escape(meant)}</p>'
        for sign, (verdict, meant) in zip(signs, verdicts(receipt, answer), strict=True)
    )


def _tell_curve(curve: ErasureCurve, bins: tuple[float, ...], start: float) -> str:
    """One level's story at the quoted bin."""
    if curve.piece_count == 1:
        return f"There is only one {curve.level}, so there is nothing to rank."
    place = bins.index(_QUOTED[curve.level])
    count, noun = curve.taken[place], curve.level + "s"
    heaviest = f"the heaviest of {curve.piece_count:,} {noun}"
    drawn, alone = f"a random {curve.level}", "Alone it gives"
    if count > 1:
        heaviest = f"the {count:,} heaviest of {curve.piece_count:,} {noun}"
        drawn, alone = f"{count:,} random {noun}", "Alone they give"
    end = curve.without[place]
    before, after = percent(start), percent(end)
    moved = f"leaves the probability at {after}"
    if before != after:  # a change that the figures do not show is none to a reader
        verb = "lowers" if end < start else "raises"
        moved = f"{verb} the probability from {before} to {after}"
    return (
        f"Taking {heaviest} away {moved}; taking {drawn} away: to "
        f"{percent(curve.random_without[place])}. {alone} {percent(curve.alone[place])}, "
        f"{drawn} {percent(curve.random_alone[place])}."
    )


def _draw_curve(curve: ErasureCurve, bins: tuple[float, ...], decision: Decision) -> str:
    """The probability while pieces go, beside that of random rankings."""
    names = ["0", *(f"{100 * share:g} %" for share in bins)]
    across = Axis(0, len(bins), tuple(range(len(names))), text=lambda place: names[int(place)])
    frame = Frame(
        across, Axis.shares(""), width=300, height=170, left=48, right=14, top=10, bottom=26
    )
    lines = [
        _line(name, values, colour, decision.probability)
        for name, values, colour in (
            ("random", curve.random_without, "grey"),
            ("heaviest", curve.without, _COLOURS[curve.level]),
        )
    ]
    noun = curve.level + "s"
    title = f"Probability of {decision.label} without {noun}"
    described = "; ".join(note for line in lines for note in line.notes)
    caption = (
        f'<figcaption><i class="rg-in-{curve.level}"></i>heaviest {noun} gone '
        "<i></i>random ones</figcaption>"
    )
    svg = draw_lines(frame, lines, title=title, description=described)
    return f"<figure>{caption}{svg}</figure>"


def _line(name: str, values: tuple[float, ...], colour: str, start: float) -> Line:
    points = tuple(enumerate((start, *values)))
    notes = tuple(f"{name}: {percent(value)}" for _, value in points)
    return Line(points, colour, notes, name)


def _measures(receipt: Receipt) -> str:
    rows = "".join(map(_row, receipt.measures))
    if not rows:
        return ""
    shares = ", ".join(f"{100 * share:g}" for share in receipt.bins)
    small = (
        f"Pieces taken away by the policy {receipt.erasure}; means over the heaviest {shares} % "
        f"(ERASER protocol); random: mean of {receipt.random_rankings} random rankings, beaten by "
        f"{receipt.margin:.1f} of their standard deviations."
    )
    return (
        "<details><summary>All measures</summary><table><thead><tr><td></td><th>of</th>"
        f"<th>measured</th><th>random</th><th>better</th></tr></thead>{rows}</table>"
        f"<p>{escape(small)}</p></details>"
    )


def _row(measure: ReceiptMeasure) -> str:
    name, said, better = _MEASURES.get(measure.name, (measure.name, "", ""))
    random = "" if measure.random is None else f"{measure.random:.3f}"
    level = measure.level + "s" if measure.level else ""
    return (
        f'<tr><th title="{escape(said)}">{escape(name)}</th><td>{escape(level)}</td>'
        f"<td>{measure.value:.3f}</td><td>{random}</td><td>{escape(better)}</td></tr>"
    )
