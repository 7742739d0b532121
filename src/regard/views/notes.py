"""The small print of a report: what was read, what was evaluated, what the words mean."""

from __future__ import annotations

from ..records.evaluation import Evaluation
from .drawing.page import escaped
from .drawing.tables import definitions
from .drawing.words import percent, plural

__all__ = ["data_notes", "glossary", "model_notes", "remarks"]

_GLOSSARY = (
    ("Accuracy", "The share of documents whose answer is right."),
    ("95 % interval", "Where about ninety-five of a hundred such evaluations would come out, each "
     "on as many other documents of the same kind; found by redrawing these a thousand times."),
    ("Precision", "Of the documents answered with a class, the share that has it."),
    ("Recall", "Of the documents that have a class, the share answered with it."),
    ("F1", "The harmonic mean of precision and recall: high only where both are."),
    ("Macro F1", "The mean F1 of the classes, each counting the same however rare."),
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
    ("Hamming loss", "The share of single decisions, label by label, that are wrong."),
)


def remarks(evaluation: Evaluation) -> list[str]:
    """Say what a reader must know about the data: what was skipped, cut or seen before."""
    data = evaluation.data
    said = data.rows.describe() if data.rows else []
    if data.unknown_label_rows:
        rows = plural(data.unknown_label_rows, "row")
        said.append(f"{rows} not scored: their label is none that the model knows")
    if data.seen_in_training:
        texts = plural(data.seen_in_training, "text")
        said.append(f"{texts} also in the training data: scores may flatter")
    if data.unknown_token_share is not None:
        said.append(f"{percent(data.unknown_token_share)} of the tokens are not in the vocabulary")
    said += data.truncation.describe() if data.truncation else []
    return said


def data_notes(evaluation: Evaluation) -> str:
    """Return the remarks about the data as a list."""
    said = [f"Scored: {plural(evaluation.document_count, 'document')}", *remarks(evaluation)]
    if evaluation.data.source:
        said.insert(0, f"File: {evaluation.data.source}")
    return f"<ul class='plain'>{''.join(f'<li>{escaped(line)}</li>' for line in said)}</ul>"


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
