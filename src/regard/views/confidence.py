"""Whether confidence can be trusted, and what is gained by withholding doubtful answers."""

from __future__ import annotations

from ..records.evaluation import Calibration, CoveragePoint, Evaluation
from .drawing.charts import Axis, Frame, Line, draw_lines, figure
from .drawing.page import escaped
from .drawing.tables import numbers
from .drawing.words import percent

__all__ = ["coverage_chart", "goals", "reliability_chart"]

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
            f'<g><title>{escaped(note)}</title><line class="orange" stroke-width="1.5" x1="{x}" '
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
        f"<figure><figcaption><b>{escaped(title)}</b> mean gap {error}</figcaption>{drawn}</figure>"
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
        notes=tuple(map(_described, points)),
    )
    drawn = draw_lines(
        frame,
        [line],
        title="Accuracy by share of documents answered",
        description="; ".join(map(_described, points[:: max(1, len(points) // 5)])),
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
            items.append(f"<li>No threshold makes {percent(goal, 0)} of the answers right.</li>")
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


def _described(point: CoveragePoint) -> str:
    return (
        f"Threshold {point.threshold:.3f}: {percent(point.coverage)} answered, "
        f"{percent(point.accuracy)} of them right"
    )
