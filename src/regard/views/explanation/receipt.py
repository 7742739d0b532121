"""A receipt in plain words: what taking pieces away did, and what that says of the explanation."""

from __future__ import annotations

from ...records.explanation import Decision
from ...records.receipt import Curve, Measure, Receipt
from ..drawing.charts import Axis, Frame, Line, draw_lines
from ..drawing.page import escaped
from ..drawing.words import percent

__all__ = ["meaning", "panel", "spoken"]

# The bin that is quoted: about what a reader takes in at a glance.
_QUOTED = {"word": 0.1, "sentence": 0.2}


_COLOURS = {"word": "orange", "sentence": "blue"}


_SIGNS = {"faithful": "●", "weak": "◐", "no better than chance": "○"}


_MEANINGS = {
    "faithful": "the answer rests on what is marked here.",
    "weak": "what is marked here counts, but other parts of the text count too.",
    "no better than chance": "the answer needs what is marked here no more than any other part.",
}


_REPEATED = "what is marked here is enough for the answer, but the rest of the text is enough too."


_TOO_LITTLE = 0.01  # probability that is lost without the heaviest, beside random ones


_FEW = 0.25  # random choices that do as well: luck is likely, but not all there is to see


_MEASURES = {
    "comprehensiveness": ("Comprehensiveness", "probability lost without the heaviest", "high"),
    "sufficiency": ("Sufficiency", "probability lost with the heaviest alone", "low"),
    "tau": ("Tau", "agreement with leaving out one at a time", "high"),
    "flip": ("Flip", "smallest share without which the answer is another; 1 if none is", "low"),
}


def meaning(receipt: Receipt) -> str:
    """Say what the verdict means for a reader."""
    if not receipt.curves:
        return "there was nothing to take away, so nothing was measured."
    share = receipt.rivals
    if receipt.verdict == "no better than chance" and share is not None and share <= _FEW:
        count, among = round(share * receipt.random_rankings), receipt.random_rankings
        return (
            f"{count} of {among} random choices do as well, too many to rule out luck; "
            "in a short text a few choices are all there is."
        )
    if receipt.verdict == "faithful" and _repeats(receipt):
        return _REPEATED
    return _MEANINGS.get(receipt.verdict, "")


def _repeats(receipt: Receipt) -> bool:
    """Whether the answer stays without what is heaviest: the gain lies in what that says alone."""
    lost = [
        one.value - (one.random or 0.0)
        for one in receipt.measures
        if one.name == "comprehensiveness"
    ]
    return bool(lost) and max(lost) < _TOO_LITTLE


def spoken(decision: Decision) -> list[str]:
    """Say what became of the probability, for words and for sentences."""
    receipt = decision.receipt
    if receipt is None:
        return []
    lines = [_told(curve, receipt.bins, decision.probability) for curve in receipt.curves]
    lines = [line.replace(" %", "\u00a0%") for line in lines]
    return lines


def panel(decision: Decision) -> str:
    """Return the receipt as HTML: the verdict, what was found, the curves and all measures."""
    receipt = decision.receipt
    if receipt is None:
        return ""
    sign = _SIGNS.get(receipt.verdict, "")
    told = "".join(f"<li>{escaped(line)}</li>" for line in spoken(decision))
    drawn = "".join(_drawn(curve, receipt.bins, decision) for curve in receipt.curves)
    return (
        '<section class="rg-receipt"><p class="rg-verdict">'
        f"<b>{sign} {escaped(receipt.verdict.capitalize())}</b> {escaped(meaning(receipt))}</p>"
        f'<div class="rg-evidence"><ul>{told}</ul>{drawn}</div>{_measures(receipt)}</section>'
    )


def _told(curve: Curve, bins: tuple[float, ...], start: float) -> str:
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
    moved = f"leaves the probability at {percent(end)}"
    if abs(end - start) >= 0.0005:
        verb = "lowers" if end < start else "raises"
        moved = f"{verb} the probability from {percent(start)} to {percent(end)}"
    return (
        f"Taking {heaviest} away {moved}; taking {drawn} away: to "
        f"{percent(curve.random_without[place])}. {alone} {percent(curve.alone[place])}, "
        f"{drawn} {percent(curve.random_alone[place])}."
    )


def _drawn(curve: Curve, bins: tuple[float, ...], decision: Decision) -> str:
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
        f"<p>{escaped(small)}</p></details>"
    )


def _row(measure: Measure) -> str:
    name, said, better = _MEASURES.get(measure.name, (measure.name, "", ""))
    random = "" if measure.random is None else f"{measure.random:.3f}"
    level = measure.level + "s" if measure.level else ""
    return (
        f'<tr><th title="{escaped(said)}">{escaped(name)}</th><td>{escaped(level)}</td>'
        f"<td>{measure.value:.3f}</td><td>{random}</td><td>{escaped(better)}</td></tr>"
    )
