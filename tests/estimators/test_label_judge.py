"""Scores while learning, against scikit-learn."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.metrics import accuracy_score, f1_score

from regard.estimators.label_judge import LabelJudge
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.teams import Alone
from support.toys import ToySource, plain_config, toy_model


def scored(source, model, *, batch_size, loss=None, labels=3):
    batches = PlannedBatches(source, plain_config(batch_size=batch_size))
    loss = loss or ClassificationLoss()
    return LabelJudge(loss, labels)(model, batches, Alone())


@pytest.mark.parametrize("batch_size", [1, 7, 100])
@pytest.mark.parametrize("several", [False, True])
def test_scores_are_those_of_scikit_learn_at_any_batch_size(batch_size, several):
    """D5, 000-06: a smaller last batch counts by its documents; batch size changes nothing."""
    source, model = ToySource(40, several=several), toy_model(dropout=0.9)
    logits = model.eval()(source.batch(np.arange(40))).logits.detach()
    scores = scored(source, model, batch_size=batch_size)
    if several:
        guess = (logits > 0).numpy()
        expected = F.binary_cross_entropy_with_logits(logits, torch.from_numpy(source.labels))
    else:
        guess = logits.argmax(1).numpy()
        expected = F.cross_entropy(logits, torch.from_numpy(source.labels))
    assert scores["accuracy"] == pytest.approx(accuracy_score(source.labels, guess))
    f1 = f1_score(source.labels, guess, average="macro", zero_division=0)
    assert scores["macro_f1"] == pytest.approx(f1)
    assert scores["loss"] == pytest.approx(expected.item(), rel=1e-5)


def test_class_weights_and_penalty_are_part_of_the_loss():
    source, model = ToySource(40), toy_model(penalty=0.5)
    weights = torch.tensor([1.0, 2.0, 0.5])
    output = model.eval()(source.batch(np.arange(40)))
    expected = F.cross_entropy(output.logits, torch.from_numpy(source.labels), weights)
    scores = scored(source, model, batch_size=7, loss=ClassificationLoss(weights))
    assert scores["loss"] == pytest.approx((expected + output.penalty).item(), rel=1e-5)


def test_no_label_at_all_scores_nothing_and_breaks_nothing():
    source, model = ToySource(5, several=True), toy_model()
    source.labels[:] = 0
    with torch.no_grad():
        model.classify.bias.fill_(-100)
    scores = scored(source, model, batch_size=2)
    assert (scores["accuracy"], scores["macro_f1"]) == (1.0, 0.0)
