"""The charts of an evaluation: confidence, coverage, text length, training, and mix-ups."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ...records.evaluation import FEWEST_ANSWERS, Calibration, CoveragePoint, Evaluation, LengthBin
from ...records.history import History
from ..drawing.charts import Axis, Frame, Line, draw_lines, figure
from ..drawing.page import TableCell, escape, numbers, table
from ..drawing.words import percent, plural, write_interval

__all__ = [
    "confusion_map",
    "coverage_chart",
    "goals",
    "learning_curves",
    "length_chart",
    "mix_ups",
    "reliability_chart",
]

_GOALS = (0.9, 0.95, 0.98, 0.99)


def reliability_chart(calibration: Calibration, title: str, *, by_label: bool = False) -> str:
    """Draw accuracy against confidence; a dot's area is its share of the answers.

    ``by_label`` is for multi-label data, where each label's probability stands on its own.
    """
    across, down = (
        ("Probability of a label", "Share that has it") if by_label else ("Confidence", "Accuracy")
    )
    frame = Frame(Axis.shares(across), Axis.shares(down), height=330)
    filled = [part for part in calibration.bins if part.count]
    most = max((part.count for part in filled), default=1)
    ideal = (frame.across(0), frame.down(0), frame.across(1), frame.down(1))
    parts = [
        frame.axes(),
        '<line class="ideal" x1="{}" y1="{}" x2="{}" y2="{}"/>'.format(*ideal),
    ]
    for part in filled:
        x, y = frame.across(part.confidence), frame.down(part.accuracy)
        note = (
            f"{across} {percent(part.low, 0)} to {percent(part.high, 0)}: "
            f"{part.count:,} answers, mean {percent(part.confidence)}; "
            f"{down.lower()} {percent(part.accuracy)}"
        )
        parts.append(
            f'<g><title>{escape(note)}</title><line class="orange" stroke-width="1.5" x1="{x}" '
            f'x2="{x}" y1="{y}" y2="{frame.down(part.confidence)}"/>'
            f'<circle class="blue-fill" fill-opacity=".85" cx="{x}" cy="{y}" '
            f'r="{3 + 9 * (part.count / most) ** 0.5:.1f}"/></g>'
        )
    error = percent(calibration.expected_error)
    drawn = figure(
        "".join(parts),
        size=(frame.width, frame.height),
        title=title,
        description=f"{down} against {across.lower()}; the mean gap is {error}",
    )
    return (
        f"<figure><figcaption><b>{escape(title)}</b> mean gap {error}</figcaption>{drawn}</figure>"
    )


def coverage_chart(evaluation: Evaluation) -> str:
    """Draw accuracy against the share of documents that are answered."""
    points = evaluation.coverage
    lowest = min(point.accuracy for point in points)
    frame = Frame(
        Axis.shares("Documents answered"),
        Axis.shares("Accuracy of answers", lowest - 0.01),
        height=330,
    )
    line = Line(
        tuple((point.coverage, point.accuracy) for point in points),
        notes=tuple(map(_tell_point, points)),
    )
    drawn = draw_lines(
        frame,
        [line],
        title="Accuracy by share of documents answered",
        description="; ".join(map(_tell_point, points[:: max(1, len(points) // 5)])),
    )
    rows = [
        (f"{point.threshold:.3f}", percent(point.coverage), percent(point.accuracy))
        for point in points[:: max(1, len(points) // 20)]
    ]
    table = numbers(("Threshold", "Answered", "Accuracy"), rows)
    return (
        "<figure><figcaption><b>When doubtful answers are withheld</b></figcaption>"
        f"{drawn}{table}</figure>"
    )


def goals(evaluation: Evaluation) -> str:
    """Say how many documents can be answered when a certain accuracy is wanted."""
    wanted = [goal for goal in _GOALS if goal > evaluation.accuracy][:3]
    items = []
    for goal in wanted:
        point = evaluation.threshold_for(goal)
        if point is None:
            items.append(
                f"<li>No threshold that leaves {FEWEST_ANSWERS} answers or more makes "
                f"{percent(goal, 0)} of them right.</li>"
            )
        else:
            items.append(
                f"<li>To be right on {percent(goal, 0)} of answers, answer "
                f"<b>{percent(point.coverage)}</b> of documents: "
                f"those with a confidence of {point.threshold:.3f} or more.</li>"
            )
    if not items:
        return ""
    return (
        f"<div><h3>How sure is sure enough</h3><ul class='goals'>{''.join(items)}</ul>"
        "<p class='note'>Read off these very documents, "
        "so a little flattering; thresholds for use are set on validation data.</p></div>"
    )


def _tell_point(point: CoveragePoint) -> str:
    return (
        f"Threshold {point.threshold:.3f}: {percent(point.coverage)} answered, "
        f"{percent(point.accuracy)} of them right"
    )


def length_chart(evaluation: Evaluation) -> str:
    """Draw accuracy by text length with its interval; bins are as wide as they hold documents."""
    bins = evaluation.lengths
    lowest = min(part.interval.low for part in bins)
    across = Axis(0, len(bins), (), "Tokens in the document")
    frame = Frame(across, Axis.shares("Accuracy", max(0.0, lowest - 0.01)), height=300)
    parts = [frame.axes()]
    floor, whole = frame.height - frame.bottom, frame.down(evaluation.accuracy)
    parts.append(
        f'<line class="ideal" x1="{frame.left}" x2="{frame.width - frame.right}" '
        f'y1="{whole}" y2="{whole}"/>'
    )
    for place, part in enumerate(bins):
        x = frame.across(place + 0.5)
        parts.append(
            f"<g><title>{escape(_tell_bin(part))}</title>"
            f'<line class="blue" stroke-width="2" x1="{x}" x2="{x}" '
            f'y1="{frame.down(part.interval.low)}" y2="{frame.down(part.interval.high)}"/>'
            f'<circle class="blue-fill" r="5" cx="{x}" cy="{frame.down(part.accuracy)}"/></g>'
            f'<text x="{x}" y="{floor + 18}" text-anchor="middle">≤ {part.high:,}</text>'
        )
    drawn = figure(
        "".join(parts),
        size=(frame.width, frame.height),
        title="Accuracy by text length",
        description="; ".join(map(_tell_bin, bins)),
    )
    return (
        '<div class="pair"><figure><figcaption><b>Accuracy by text length</b> '
        f"dashed: all documents</figcaption>{drawn}</figure>{_length_table(bins)}</div>"
    )


def _length_table(bins: Sequence[LengthBin]) -> str:
    rows = [
        [
            TableCell(_range(part), part.low),
            TableCell(f"{part.count:,}", part.count),
            TableCell(percent(part.accuracy), part.accuracy),
            TableCell(write_interval(part.interval), part.interval.low),
        ]
        for part in bins
    ]
    heads = ("Tokens", "Documents", "Accuracy", "95 % interval")
    return table(heads, rows, caption="Each row holds about as many documents")


def learning_curves(history: History) -> str:
    """Draw loss and, where something was held out, accuracy by epoch; the kept epoch is marked."""
    epochs = history.epochs
    train = Line(
        tuple((epoch.epoch, epoch.train_loss) for epoch in epochs),
        "grey",
        tuple(f"Epoch {epoch.epoch}: training loss {epoch.train_loss:.4f}" for epoch in epochs),
        "training",
    )
    held = _line(history, "validation_loss", "loss")
    accuracy = _line(history, "validation_accuracy", "accuracy")
    charts = [_curve(history, "Loss", [train, *([held] if held else [])])]
    if accuracy:
        charts.append(_curve(history, "Validation accuracy", [accuracy]))
    return "".join(charts)


def _line(history: History, field: str, name: str) -> Line | None:
    found = [(epoch.epoch, getattr(epoch, field)) for epoch in history.epochs]
    kept = tuple((number, value) for number, value in found if value is not None)
    notes = tuple(f"Epoch {number}: validation {name} {value:.4f}" for number, value in kept)
    return Line(kept, "blue", notes, "validation") if kept else None


def _curve(history: History, title: str, lines: list[Line]) -> str:
    last = history.epochs[-1].epoch
    step = max(1, -(-last // 10))
    ticks = tuple(float(number) for number in range(1, last + 1, step))
    across = Axis(0.5, last + 0.5, ticks, "Epoch", lambda number: f"{number:.0f}")
    values = [value for line in lines for _, value in line.points]
    share = "accuracy" in title
    down = Axis.around(
        values,
        "",
        (lambda value: f"{100 * value:.4g} %") if share else (lambda value: f"{value:.4g}"),
    )
    frame = Frame(across, down, height=260)
    keys = "".join(
        f'<span class="key {line.colour}">{line.name}</span>' for line in lines if len(lines) > 1
    )
    best = f"; the weights of epoch {history.best_epoch} were kept" if history.best_epoch else ""
    drawn = draw_lines(
        frame,
        lines,
        title=f"{title} by epoch",
        description=f"{plural(last, 'epoch')}{best}",
        mark=history.best_epoch,
    )
    return f"<figure><figcaption><b>{title}</b> {keys}</figcaption>{drawn}</figure>"


def _range(part: LengthBin) -> str:
    return f"{part.low:,}–{part.high:,}" if part.low != part.high else f"{part.low:,}"


def _tell_bin(part: LengthBin) -> str:
    count = plural(part.count, "document")
    right = f"{percent(part.accuracy)} right ({write_interval(part.interval)})"
    return f"{_range(part)} tokens: {count}, {right}"


_TABLE_UP_TO = 12  # classes; a larger matrix has no room for its numbers
_PICTURE_UP_TO = 120  # classes; beyond, only the commonest mix-ups can be read
_LONGEST_NAME = 18  # characters in the picture; the whole name shows on pointing
_DARKEST = 0.55  # so that ink stays readable on it


def confusion_map(evaluation: Evaluation) -> str:
    """Draw true against predicted classes: a table for few, a picture for many, else nothing."""
    count = len(evaluation.classes)
    if not evaluation.confusion or count > _PICTURE_UP_TO:
        return ""
    return _as_table(evaluation) if count <= _TABLE_UP_TO else _as_picture(evaluation)


def mix_ups(evaluation: Evaluation, count: int = 8) -> str:
    """List the commonest mistakes: which class is taken for which, and how often."""
    found = evaluation.mix_ups()
    if not found:
        return ""
    items = "".join(
        f"<li><span><bdi>{escape(part.true)}</bdi> <span class='arrow'>taken for</span> "
        f"<bdi>{escape(part.predicted)}</bdi></span> <b>{part.count:,}</b> "
        f"<small>{percent(part.share)}</small></li>"
        for part in found[:count]
    )
    first = f"; the first {count} of {len(found):,} pairs" if len(found) > count else ""
    return (
        f"<div><h3>Commonest mix-ups</h3><ol class='mixups'>{items}</ol>"
        f"<p class='note'>Count, and share of the true class{first}.</p></div>"
    )


def _name(evaluation: Evaluation, number: int) -> str:
    # Long names such as rec.sport.hockey may be broken where their parts meet.
    parts = re.split(r"(?<=[._/-])(?=\w)", evaluation.classes[number])
    return f"<bdi>{'<wbr>'.join(map(escape, parts))}</bdi>"


def _strength(number: int, total: int) -> float:
    """How dark a cell is: by the root of its share, so that rare mistakes show too."""
    return _DARKEST * math.sqrt(number / total) if total else 0.0


def _tip(evaluation: Evaluation, true: int, predicted: int) -> str:
    number, total = evaluation.confusion[true][predicted], sum(evaluation.confusion[true])
    share = f", {percent(number / total)} of {plural(total, 'document')}" if total else ""
    return escape(
        f"{evaluation.classes[true]} taken for {evaluation.classes[predicted]}: {number:,}{share}"
        if true != predicted
        else f"{evaluation.classes[true]} found: {number:,}{share}"
    )


def _as_table(evaluation: Evaluation) -> str:
    heads = "".join(
        f'<th scope="col">{_name(evaluation, number)}</th>'
        for number in range(len(evaluation.classes))
    )
    rows = []
    for true, row in enumerate(evaluation.confusion):
        total = sum(row)
        cells = "".join(
            f'<td class="{"hit" if true == predicted else "miss"}{" none" * (not number)}" '
            f'style="--strength:{_strength(number, total):.3f}" '
            f'title="{_tip(evaluation, true, predicted)}">{number:,}'
            + (f"<small>{percent(number / total)}</small></td>" if number else "</td>")
            for predicted, number in enumerate(row)
        )
        rows.append(f'<tr><th scope="row">{_name(evaluation, true)}</th>{cells}</tr>')
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix">'
        '<table class="confusion"><caption>True class down the side, '
        f"predicted class across</caption><thead><tr><td></td>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _as_picture(evaluation: Evaluation) -> str:
    # Large classes first, so that the picture is not a diagonal of near-empty rows.
    order = sorted(
        range(len(evaluation.classes)), key=lambda number: -sum(evaluation.confusion[number])
    )
    cell, left, top = max(9, min(26, 780 // len(order))), 130, 130
    size = left + cell * len(order) + 8
    parts = []
    for place, number in enumerate(order):
        middle = cell * place + cell / 2
        name = evaluation.classes[number]
        short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
        small = f'font-size="{min(12, cell)}"'
        parts.append(
            f'<text {small} x="{left - 8}" y="{top + middle + 4:.1f}" text-anchor="end">'
            f"{escape(short)}<title>{escape(name)}</title></text>"
            f'<text {small} text-anchor="start" '
            f'transform="translate({left + middle + 4:.1f} {top - 8}) rotate(-90)">'
            f"{escape(short)}<title>{escape(name)}</title></text>"
            f'<rect class="row" x="{left}" y="{top + cell * place}" '
            f'width="{cell * len(order)}" height="{cell}"/>'
        )
    for down, true in enumerate(order):
        for across, predicted in enumerate(order):
            number = evaluation.confusion[true][predicted]
            if number:
                strength = _strength(number, sum(evaluation.confusion[true])) / _DARKEST
                parts.append(
                    f'<rect class="{"hit" if true == predicted else "miss"}" '
                    f'fill-opacity="{0.12 + 0.88 * strength:.3f}" '
                    f'x="{left + cell * across + 0.5}" y="{top + cell * down + 0.5}" '
                    f'width="{cell - 1}" height="{cell - 1}">'
                    f"<title>{_tip(evaluation, true, predicted)}</title></rect>"
                )
    description = "True classes down the side, predicted across, large classes first"
    drawn = figure(
        "".join(parts),
        size=(size, top + size - left),
        title="Confusion matrix",
        description=description,
    )
    return f'<figure class="matrix">{drawn}<figcaption>{description}.</figcaption></figure>'
