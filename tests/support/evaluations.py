"""Evaluations made by a seed, that tests of records and views share."""

from dataclasses import replace

import numpy as np

from regard.records.data import BadRow, ClassCut, ReadCounts, TruncationReport
from regard.records.evaluation import DataNotes, Evaluation, ModelFacts
from regard.records.explanation import Decision, Explanation
from regard.records.history import Epoch, History
from regard.records.weights import Weights
from regard.tasks.metrics import evaluate
from regard.tasks.predictions import BaselineAnswers, Predictions


def predictions(classes=("neg", "pos"), count=200, *, seed=0, several=False, noise=1.5):
    """Answers that are mostly right; with ``several``, labels are zeros and ones."""
    draw = np.random.default_rng(seed)
    numbers = draw.integers(len(classes), size=count)
    truth = np.eye(len(classes))[numbers]
    if several:
        truth = np.maximum(truth, draw.random(truth.shape) < 0.2)
    logits = 3 * truth - 1.5 + noise * draw.normal(size=truth.shape)
    return Predictions(tuple(classes), truth.astype(int) if several else numbers, logits)


def evaluated(classes=("neg", "pos"), count=200, *, seed=0, several=False, noise=1.5):
    """Return the evaluation of such answers, with two plain methods beside it."""
    given = predictions(classes, count, seed=seed, several=several, noise=noise)
    draw = np.random.default_rng(seed + 1)
    worse = given.probabilities() + 0.3 * draw.random(given.logits.shape)
    constant = np.tile(np.linspace(0.3, 0.1, len(classes)), (count, 1))
    beside = (
        BaselineAnswers(
            "TF-IDF + logistic regression", worse, "learned from 500 training documents"
        ),
        BaselineAnswers("most frequent class", constant),
    )
    lengths = draw.integers(1, 500, size=count)
    return evaluate(given, temperature=1.4, lengths=lengths, baselines=beside)


def complete(evaluation: Evaluation, text="Good. Not bad at all!") -> Evaluation:
    """Fill whatever else an evaluation can hold."""
    texts = {mistake.index: text for mistake in evaluation.mistakes}
    explanations = {mistake.index: explained(mistake, text) for mistake in evaluation.mistakes[:2]}
    scores = [{"loss": 1 / n, "accuracy": 1 - 0.5 / n, "macro_f1": 0.5} for n in range(1, 6)]
    epochs = tuple(
        Epoch(number, 0.9 / number, 1e-3, 500, 2.5, given) for number, given in enumerate(scores, 1)
    )
    rows = ReadCounts(
        "test.csv",
        evaluation.document_count,
        (("missing label", 3),),
        examples=(BadRow("test.csv", 17, "missing label", "the label is empty"),),
    )
    cut = TruncationReport(
        ClassCut("", 200, 12, 900, 40, 20_000, 700),
        (ClassCut("neg", 100, 12, 450, 40, 10_000, 700),),
        max_sentences=50,
    )
    return replace(
        evaluation.with_texts(texts, explanations),
        history=History(epochs, 5),
        data=DataNotes("test.csv", rows, cut, 2, 7, 0.021),
        model=ModelFacts("han", 1_234_567, 31_204, 500, 217.0, 8.4, "cpu", "0.1.0", "2025-01-31"),
        title="model/ on test.csv",
    )


def explained(mistake, text):
    """Return an explanation that says every word counted the same."""
    words = Weights("word", ((0, len(text)),), (1.0,))
    decision = Decision(mistake.predicted, mistake.probability, (words,))
    return Explanation(text, "attention", (decision,), true_labels=(mistake.true,))
