"""Where two models differ: as one page, and as lines for a terminal or a log."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.explanation import ClassName, Explanation
from ..records.look import Answer, ChangedDocument, Difference
from ..records.weights import Weights
from .drawing import charts
from .drawing.charts import Histogram, draw_histogram
from .drawing.page import TableCell, asset, escape, report, summarise, table
from .drawing.terminal import printable_line
from .drawing.words import method_in_words, percent, plural, two_digits
from .explanation.page import BESIDE_STYLES, beside, scripts_for, styles_for

__all__ = ["render", "summary"]

_DIFFERING = 6  # sentences that stand for two texts on a small screen
_OPEN = 3  # changes that are unfolded on the page
_LINES = 20  # changes on the terminal
_LABELS = 10  # that one model lacks
_WIDEST = 60  # characters of a text in a table or on the terminal


def render(difference: Difference) -> str:
    """Return the whole page, which makes no requests."""
    sections = {
        "Overlap of reasons": _overlap(difference),
        "Changed documents": _changes(difference),
        "All changes": _table(difference) if len(difference.changes) > 1 else "",
    }
    shown = [
        answer.explanation
        for change in difference.changes
        for answer in (change.old, change.new)
        if answer.explanation is not None
    ]
    styles = charts.STYLES + asset("report.css") + asset("look.css")
    styles += styles_for(shown) + BESIDE_STYLES
    scripts = asset("report.js") + scripts_for(shown)
    title, head = f"{difference.old} → {difference.new}", summarise(_headline(difference))
    title += f" on {difference.data}" if difference.data else ""
    return report(title, head, sections, styles=styles, scripts=scripts)


def _overlap(difference: Difference) -> str:
    steps = len(difference.overlaps)
    if not steps:
        return ""
    edges = tuple(place / steps for place in range(steps + 1))
    histogram = Histogram(
        edges, difference.overlaps, "overlap", "document", mean=difference.mean_overlap
    )
    drawn = draw_histogram(histogram, title="Documents by overlap", x_title="overlap")
    note = (
        "The share of the weight that both models put on the same words: 100 % for the very same "
        "reasons, 0 % for none in common. Where the label changed, both are asked about the old "
        "label. Dashed: the mean."
    )
    return f'<p class="note">{note}</p><div class="pair"><figure>{drawn}</figure></div>'


def _changes(difference: Difference) -> str:
    shown = [change for change in difference.changes if change.old.explanation]
    names = difference.old, difference.new
    return "".join(_change(change, names, place < _OPEN) for place, change in enumerate(shown))


def _change(change: ChangedDocument, names: tuple[str, str], unfolded: bool) -> str:
    old, new = change.old.explanation, change.new.explanation
    if old is None or new is None:
        return ""
    outcome = f" ({change.outcome})" if change.outcome else ""
    return (
        f'<details class="mistake"{" open" * unfolded}><summary>'
        f"<span>Document {change.index + 1:,}</span> "
        f"<span><b><bdi>{escape(_tell_change(change))}</bdi></b>{outcome}</span> "
        f"<span>{escape(two_digits(change.overlap))} of the reasons shared</span></summary>"
        f'<p class="note">{_tell_labels(names, old, new)}</p>'
        f"{_differing(old, new)}{beside((names[0], old), (names[1], new))}</details>"
    )


def _tell_labels(names: tuple[str, str], old: Explanation, new: Explanation) -> str:
    """Say which label each of the two explains."""
    first, second = (f"<b><bdi>{escape(one.label)}</bdi></b>" for one in (old, new))
    if str(old.label) == str(new.label):
        return f"Both explain the label {first}."
    return f"{escape(names[0])} explains its label {first}, {escape(names[1])} its own, {second}."


def _differing(old: Explanation, new: Explanation) -> str:
    """The sentences whose weights differ most, for screens on which two texts find no room."""
    one, two = (explanation.decisions[0].level("sentence") for explanation in (old, new))
    if one is None or two is None or not len(one):
        return ""
    known = dict(zip(two.pieces, _signed_shares(two), strict=True))
    rows = [
        (span, value, known[span])
        for span, value in zip(one.pieces, _signed_shares(one), strict=True)
        if span in known
    ]
    rows.sort(key=lambda row: -abs(row[1] - row[2]))
    items = "".join(
        f'<li dir="auto">{escape(old.source[start:end])} '
        f"<small>{escape(_tell_share(before))} → {escape(_tell_share(after))}</small></li>"
        for (start, end), before, after in rows[:_DIFFERING]
    )
    return (
        '<div class="differing"><p>Sentences that differ most, by their share of the weight</p>'
        f'<ol>{items}</ol><p class="note">With a minus: against the label. A wider screen shows '
        "both explanations side by side.</p></div>"
    )


def _signed_shares(sentences: Weights) -> list[float]:
    """The share of each sentence, below zero where it speaks against the label."""
    pairs = zip(sentences.values, sentences.amounts, strict=True)
    return [-value if amount < 0 else value for value, amount in pairs]


def _tell_share(share: float) -> str:
    return ("−" if share < 0 else "") + two_digits(abs(share))


def _table(difference: Difference) -> str:
    rows = [
        [
            TableCell(f"{change.index + 1:,}", change.index + 1),
            TableCell(_tell_answer(change.old)),
            TableCell(_tell_answer(change.new)),
            TableCell(change.outcome),
            TableCell(two_digits(change.overlap), change.overlap, change.overlap),
            TableCell(change.start[:_WIDEST]),
        ]
        for change in difference.changes
    ]
    heads = ("Document", difference.old, difference.new, "Truth", "Reasons shared", "Text")
    return table(heads, rows, caption="Every change; choose a heading to sort")


def summary(difference: Difference) -> list[str]:
    """Return the difference as lines for a terminal or a log."""
    lines = [*_headline(difference), *map(_line, difference.changes[:_LINES])]
    more = len(difference.changes) - _LINES
    if more > 0:
        lines.append(f"and {more:,} more; --out and --json list them all")
    return [printable_line(line) for line in lines]


def _line(change: ChangedDocument) -> str:
    start = change.start if len(change.start) <= _WIDEST else change.start[: _WIDEST - 1] + "…"
    shared = f"{two_digits(change.overlap)} of the reasons shared"
    outcome = f" ({change.outcome})" if change.outcome else ""
    return f"document {change.index + 1:,}: {_tell_change(change)}{outcome}, {shared}: {start}"


def _headline(difference: Difference) -> list[str]:
    """Say in a few sentences what changed; the first is the one to keep."""
    count = plural(difference.documents, "document")
    lacking = _tell_lacking(difference)
    if not difference:
        return [f"Nothing changed: the same labels for the same reasons on {count}.", *lacking]
    said = [
        f"Of {count}, {difference.label_changes:,} got another label and "
        f"{difference.reason_changes:,} the same label for other reasons.",
        *lacking,
    ]
    if (usual := difference.usual) is not None:
        verdict = "no more than" if difference.within_usual else "more than"
        share = two_digits(usual.label_changes / usual.documents)
        said.append(
            f"That is {verdict} another seed alone changes: trained again with "
            f"{plural(usual.models, 'other seed')}, the old model gives {share} of documents "
            f"another label and shares {two_digits(usual.mean_overlap)} of its reasons."
        )
    if difference.corrected or difference.broken:
        said.append(
            f"{plural(difference.corrected, 'label')} became right and {difference.broken:,} wrong."
        )
    said.append(
        f"Explained by {method_in_words(difference.method)}, the models share "
        f"{two_digits(difference.mean_overlap)} of their reasons on average; reasons count as "
        f"changed below {two_digits(difference.least_overlap)}."
    )
    return said


def _tell_lacking(difference: Difference) -> list[str]:
    """Say which labels of each model the other lacks, if there are any."""
    lacking = [
        f"{name} lacks {_list_some(labels)}"
        for name, labels in (
            (difference.new, difference.only_old),
            (difference.old, difference.only_new),
        )
        if labels
    ]
    return [f"The models do not have the same labels: {'; '.join(lacking)}."] if lacking else []


def _list_some(labels: Sequence[ClassName]) -> str:
    more = len(labels) - _LABELS
    tail = f" and {more:,} more" if more > 0 else ""
    return f"{', '.join(map(str, labels[:_LABELS]))}{tail}"


def _tell_change(change: ChangedDocument) -> str:
    """Say what became of one answer: ``good 90.0 % → bad 60.0 %``."""
    if change.label_changed:
        return f"{_tell_answer(change.old)} → {_tell_answer(change.new)}"
    return f"{_tell_answer(change.old)}, for other reasons"


def _tell_answer(answer: Answer) -> str:
    """Write the labels of an answer with its probability."""
    return f"{', '.join(map(str, answer.labels)) or 'none'} {percent(answer.probability)}"
