"""Draw an evaluation as one page of HTML that a person wants to look at."""

from __future__ import annotations

from ...records.evaluation import Evaluation, Mistake
from ..drawing import charts
from ..drawing.charts import Axis, IntervalRow, draw_intervals
from ..drawing.page import TableCell, asset, definitions, escape, report, summarise, table
from ..drawing.words import percent, plural, write_interval
from ..explanation.page import fragment, scripts_for, styles_for
from .charts import (
    confusion_map,
    coverage_chart,
    goals,
    learning_curves,
    length_chart,
    mix_ups,
    reliability_chart,
)
from .words import (
    NOTHING,
    cautions,
    compare_with,
    find_learned_baseline,
    headline,
    name_baseline,
    remarks,
    shares_of,
)

__all__ = ["class_table", "data_notes", "glossary", "model_notes", "render"]

_SCROLL_FROM = 5_000  # characters; a longer text scrolls in its own box
_LONGEST_DRAWN = 60_000  # characters; of a longer text only the excerpt is shown


def render(evaluation: Evaluation) -> str:
    """Return the whole report as one page that makes no requests."""
    sections = {
        "Scores": _scores(evaluation),
        "Classes": class_table(evaluation),
        "Confusion": _confusion(evaluation),
        "Confidence": _confidence(evaluation),
        "Text length": _length(evaluation),
        "Training": _training(evaluation),
        "Worst mistakes": _mistakes(evaluation),
        "Data and model": data_notes(evaluation) + model_notes(evaluation),
    }
    explained = [mistake.explanation for mistake in evaluation.mistakes if mistake.explanation]
    styles = charts.STYLES + asset("report.css") + (styles_for(explained) if explained else "")
    scripts = asset("report.js") + scripts_for(explained)
    return report(
        evaluation.title or "Evaluation",
        _summary(evaluation),
        sections,
        foot=glossary(evaluation),
        styles=styles,
        scripts=scripts,
    )


def _summary(evaluation: Evaluation) -> str:
    first, *rest = headline(evaluation)
    best = find_learned_baseline(evaluation)
    beside = [compare_with(best, evaluation.document_count)] if best else []
    return summarise([first, " ".join(rest), *beside, *cautions(evaluation)])


def _scores(evaluation: Evaluation) -> str:
    tiles = [
        ("Accuracy", percent(evaluation.accuracy), write_interval(evaluation.accuracy_interval)),
        ("Macro F1", percent(evaluation.macro_f1), write_interval(evaluation.macro_f1_interval)),
        ("Micro F1", percent(evaluation.micro_f1), write_interval(evaluation.micro_f1_interval)),
        ("Calibration error", percent(evaluation.expected_calibration_error), ""),
        ("Log loss", f"{evaluation.log_loss:.3f}", ""),
    ]
    if evaluation.task == "multi-label":
        tiles.insert(3, ("Hamming loss", percent(evaluation.hamming_loss), ""))
    else:
        del tiles[2]  # for one label a document it is the accuracy again
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value}<small>{interval}</small></dd></div>"
        for name, value, interval in tiles
    )
    return (
        f'<dl class="tiles">{cells}</dl><div class="pair">{_intervals(evaluation, "accuracy")}'
        f"{_intervals(evaluation, 'macro_f1')}</div>{_differences(evaluation)}"
    )


def _intervals(evaluation: Evaluation, field: str) -> str:
    name = {"accuracy": "Accuracy", "macro_f1": "Macro F1"}[field]
    rows = []
    for part, label, colour in [
        (evaluation, "This model", "blue"),
        *((baseline, name_baseline(baseline), "grey") for baseline in evaluation.baselines),
    ]:
        value, interval = getattr(part, field), getattr(part, f"{field}_interval")
        text = f"{percent(value)}  ({write_interval(interval)})"
        rows.append(IntervalRow(label, value, interval.low, interval.high, text, colour))
    lowest = min(row.low for row in rows)
    drawn = draw_intervals(Axis.shares("", max(0.0, lowest - 0.01)), rows, title=name)
    return f"<figure><figcaption><b>{name}</b> with 95 % intervals</figcaption>{drawn}</figure>"


def _differences(evaluation: Evaluation) -> str:
    items = []
    for baseline in evaluation.baselines:
        note = f' <span class="note">It {escape(baseline.note)}.</span>' if baseline.note else ""
        items.append(f"<li>{escape(compare_with(baseline, evaluation.document_count))}{note}</li>")
    return f"<ul class='plain'>{''.join(items)}</ul>" if items else ""


def _confusion(evaluation: Evaluation) -> str:
    drawn = confusion_map(evaluation)
    wide = " wide" if len(evaluation.classes) > 4 else ""
    listed = mix_ups(evaluation)
    return f'<div class="confused{wide}">{drawn}{listed}</div>' if drawn or listed else ""


def _confidence(evaluation: Evaluation) -> str:
    said = (
        "Dots on the dashed line mean what they say; above it the model is too modest, "
        "below it too sure. Larger dots hold more answers."
    )
    by_label = evaluation.task == "multi-label"
    titles = {
        "As trained": evaluation.raw_calibration,
        "With the temperature": evaluation.calibration,
    }
    if evaluation.temperature != 1.0:
        said += (
            f" A temperature of {evaluation.temperature:.2f}, fitted on validation data, "
            "divides the logits; it changes confidence and no decision."
        )
    else:
        titles = {"Confidence and accuracy": evaluation.calibration}
    drawn = "".join(
        reliability_chart(part, title, by_label=by_label) for title, part in titles.items()
    )
    return (
        f'<p class="note">{said}</p><div class="pair">{drawn}</div>'
        f'<div class="pair">{coverage_chart(evaluation)}{goals(evaluation)}</div>'
    )


def _length(evaluation: Evaluation) -> str:
    return length_chart(evaluation) if evaluation.lengths else ""


def _training(evaluation: Evaluation) -> str:
    if evaluation.history is None or not evaluation.history.epochs:
        return ""
    return f'<div class="pair">{learning_curves(evaluation.history)}</div>'


def _mistakes(evaluation: Evaluation) -> str:
    if not evaluation.mistakes:
        return "<p>None: every answer was right.</p>" if evaluation.accuracy == 1 else ""
    first = '<p class="note">Wrong answers that the model was surest of, the surest first.</p>'
    return first + "".join(
        _mistake(mistake, place < 3) for place, mistake in enumerate(evaluation.mistakes)
    )


def _mistake(mistake: Mistake, unfolded: bool) -> str:
    left_out = mistake.characters_left_out
    more = f'<span class="note"> … {left_out:,} more characters</span>' if left_out else ""
    shown = f'<p class="text" dir="auto">{escape(mistake.text)}{more}</p>'
    size = len(mistake.explanation.source) if mistake.explanation else 0
    if mistake.explanation is not None and size <= _LONGEST_DRAWN:
        shown = fragment(mistake.explanation)
    kind = "mistake long" if size > _SCROLL_FROM else "mistake"
    return (
        f'<details class="{kind}"{" open" if unfolded else ""}><summary>'
        f"<span>Document {mistake.index + 1:,}</span> "
        f"<span>said <b><bdi>{escape(mistake.predicted)}</bdi></b> "
        f"{percent(mistake.probability)}</span> "
        f"<span>truth <b><bdi>{escape(mistake.true)}</bdi></b> "
        f"{percent(mistake.true_probability)}</span></summary>{shown}</details>"
    )


def class_table(evaluation: Evaluation) -> str:
    """Return how well each class is found."""
    rows = [
        [
            TableCell(score.label),
            TableCell(f"{score.support:,}", score.support),
            TableCell(f"{score.predicted:,}", score.predicted),
            *(
                TableCell(text, -1.0) if text == NOTHING else TableCell(text, share, share)
                for text, share in zip(
                    shares_of(score), (score.precision, score.recall, score.f1), strict=True
                )
            ),
        ]
        for score in evaluation.per_class
    ]
    heads = ("Class", "Documents", "Answered", "Precision", "Recall", "F1")
    return table(heads, rows, caption="Scores of each class; choose a heading to sort")


_GLOSSARY = (
    ("Accuracy", "The share of documents whose answer is right."),
    ("95 % interval", "Where about ninety-five of a hundred such evaluations would come out, each "
     "on as many other documents of the same kind; found by redrawing these a thousand times."),
    ("Precision", "Of the documents answered with a class, the share that has it."),
    ("Recall", "Of the documents that have a class, the share answered with it."),
    ("F1", "The harmonic mean of precision and recall: high only where both are."),
    ("Macro F1", "The mean F1 of the classes, each counting the same however rare; without those "
     "that no document has and no answer gives."),
    ("Micro F1", "F1 over all single decisions; with one label a document it equals accuracy."),
    ("Confidence", "The probability that the model gives its own answer."),
    ("Calibration error", "The mean gap between confidence and accuracy over fifteen bins (ECE)."),
    ("Temperature", "A number the logits are divided by so that confidence fits; above one means "
     "the model was too sure of itself."),
    ("Log loss", "The mean surprise at the truth, minus the log of its probability; low is good."),
    ("Coverage", "The share of documents that get an answer when doubtful ones are withheld."),
    ("TF-IDF", "Counts of words and word pairs, weighted by how rare they are, under logistic "
     "regression: quick, strong, and what a larger model must beat."),
    ("Points", "Differences of percentages. They compare answers to the same documents, so their "
     "interval can be narrow where those of the two scores overlap."),
)  # fmt: skip
_MULTILABEL = (
    ("Accuracy", "The share of documents whose labels are all right and none too many."),
    (
        "Macro F1",
        "The mean F1 of the labels, each counting the same however rare; one that no "
        "document has and no answer gives counts as 0.",
    ),
    ("Hamming loss", "The share of single decisions, label by label, that are wrong."),
)


def data_notes(evaluation: Evaluation) -> str:
    """Return the remarks about the data as a list."""
    said = [f"Scored: {plural(evaluation.document_count, 'document')}", *remarks(evaluation)]
    if evaluation.data.source:
        said.insert(0, f"File: {evaluation.data.source}")
    return f"<ul class='plain'>{''.join(f'<li>{escape(line)}</li>' for line in said)}</ul>"


def model_notes(evaluation: Evaluation) -> str:
    """Return what was evaluated and what it cost; nothing where nothing is known."""
    model = evaluation.model
    facts = [
        ("Model", model.name),
        ("Parameters", _count(model.parameter_count)),
        ("Vocabulary", _count(model.vocabulary_size)),
        ("Training documents", _count(model.training_documents)),
        ("Training", _seconds(model.training_seconds)),
        ("This evaluation", _seconds(model.evaluation_seconds)),
        ("Device", model.device),
        ("regard", model.version),
        ("Date", model.date),
    ]
    return definitions([(name, value) for name, value in facts if value], "facts")


def glossary(evaluation: Evaluation) -> str:
    """Return what the words of the report mean, folded away."""
    words = dict(_GLOSSARY) | (dict(_MULTILABEL) if evaluation.task == "multi-label" else {})
    body = definitions(list(words.items()), "glossary")
    return f'<details class="glossary"><summary>What the words mean</summary>{body}</details>'


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
