"""What a training is likely to take."""

from dataclasses import replace

import pytest
import torch

from regard import Document
from regard.estimators.fitting import FitOptions, measure_pace
from regard.estimators.trainer import FitData
from regard.estimators.training_documents import LabelJudge
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.observers import Observer
from support.reviews import reviews, tiny
from support.toys import ToySource, plain_config, toy_model

DOCUMENTS = [Document(text, label) for text, label in zip(*reviews(60), strict=True)]


LOSS = ClassificationLoss()


class Stop(Observer):
    """Ends a training after its first step."""

    def on_step(self, step):
        raise KeyboardInterrupt


class Keeper(Observer):
    """Keeps how the weights were when it was told of the data, and how long epochs took."""

    def __init__(self, classifier):
        self.classifier, self.weights, self.check, self.seconds = classifier, {}, None, []

    def on_check(self, check):
        self.check = check
        self.weights = {k: v.clone() for k, v in self.classifier.model_.state_dict().items()}

    def on_step(self, step):
        pass

    def on_epoch(self, epoch):
        self.seconds.append(epoch.seconds)


def test_the_trial_step_changes_nothing_and_is_near_the_truth():
    classifier = tiny(network__state_dropout=0.5)
    keeper = Keeper(classifier)
    options = FitOptions(on_check=keeper.on_check, observers=(keeper,))
    classifier.fit_documents(DOCUMENTS, options=options)
    untold = tiny(network__state_dropout=0.5).fit_documents(DOCUMENTS)
    for name, weight in untold.model_.state_dict().items():
        assert torch.equal(classifier.model_.state_dict()[name], weight)
    # A step of a few milliseconds is measured, on a machine that may be busy.
    assert sum(keeper.seconds) / 50 < keeper.check.seconds < 50 * sum(keeper.seconds)


class Clock:
    """A clock that goes on by a second whenever it is asked."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def test_steps_and_validations_are_counted():
    """A step of the toy's batches and a batch of its validation take a second each here."""
    config = plain_config(epochs=4, batch_size=8)
    held_out = PlannedBatches(ToySource(20, seed=2), config)
    data = FitData(PlannedBatches(ToySource(8), config), held_out, LabelJudge(LOSS, 3))
    model = toy_model()
    before = [weight.clone() for weight in model.parameters()]
    pace = measure_pace(model, data, loss=LOSS, config=config, clock=Clock())
    assert pace.token_seconds * ToySource(8).lengths.sum() == pytest.approx(1.0)
    assert pace.judge_seconds == 3.0
    assert pace.seconds(int(ToySource(8).lengths.sum()), 4) == pytest.approx(4 * (1 + 3))
    assert all(map(torch.equal, before, model.parameters()))
    alone = measure_pace(model, replace(data, validation=None), loss=LOSS, config=config)
    assert alone.judge_seconds == 0


def test_what_comes_after_the_epochs_is_counted():
    """Issue 10.1: the choice of the method and the baseline were not."""
    seconds = []
    for more in ({"choose_method": False}, {}, {"baseline": True}):
        keeper = Keeper(tiny(training__epochs=1, wide=None))
        options = FitOptions(on_check=keeper.on_check, observers=(Stop(),), **more)
        keeper.classifier.fit_documents(DOCUMENTS, options=options)
        seconds.append(keeper.check.seconds)
    # The choice takes as long as many epochs of these few documents.
    assert seconds[1] > 2 * seconds[0] and seconds[2] > seconds[1] + 0.5


def test_larger_networks_need_more_memory():
    sizes = []
    for size in (8, 512):
        classifier = tiny(network__embedding_size=size, training__epochs=1)
        keeper = Keeper(classifier)
        classifier.fit_documents(DOCUMENTS, options=FitOptions(on_check=keeper.on_check))
        sizes.append(keeper.check.memory_bytes)
    assert sizes[1] > sizes[0] > 100 << 20


def test_documents_without_a_word_can_be_estimated():
    empty = [replace(document, text="") for document in DOCUMENTS]
    seen = []
    tiny(training__epochs=1).fit_documents(empty, options=FitOptions(on_check=seen.append))
    assert seen[0].tokens == 0 and seen[0].seconds is not None
