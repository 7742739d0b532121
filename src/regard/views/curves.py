"""How text length matters, and how the training went."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.evaluation import Evaluation, LengthBin
from ..records.history import History
from .drawing.charts import Axis, Frame, Line, draw_lines, figure
from .drawing.page import escaped
from .drawing.tables import Cell, table
from .drawing.words import between, percent, plural

__all__ = ["learning_curves", "length_chart"]


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
            f"<g><title>{escaped(_described(part))}</title>"
            f'<line class="blue" stroke-width="2" x1="{x}" x2="{x}" '
            f'y1="{frame.down(part.interval.low)}" y2="{frame.down(part.interval.high)}"/>'
            f'<circle class="blue-fill" r="5" cx="{x}" cy="{frame.down(part.accuracy)}"/></g>'
            f'<text x="{x}" y="{floor + 18}" text-anchor="middle">≤ {part.high:,}</text>'
        )
    drawn = figure(
        "".join(parts),
        size=(frame.width, frame.height),
        title="Accuracy by text length",
        description="; ".join(map(_described, bins)),
    )
    return (
        '<div class="pair"><figure><figcaption><b>Accuracy by text length</b> '
        f"dashed: all documents</figcaption>{drawn}</figure>{_length_table(bins)}</div>"
    )


def _length_table(bins: Sequence[LengthBin]) -> str:
    rows = [
        [
            Cell(_range(part), part.low),
            Cell(f"{part.count:,}", part.count),
            Cell(percent(part.accuracy), part.accuracy),
            Cell(between(part.interval), part.interval.low),
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


def _described(part: LengthBin) -> str:
    count = plural(part.count, "document")
    return (
        f"{_range(part)} tokens: {count}, {percent(part.accuracy)} right ({between(part.interval)})"
    )
