"""What a training is likely to take."""

from dataclasses import replace

import torch

from regard import Document
from regard.estimators.preparing import FitOptions
from regard.training.observers import Observer
from reviews import reviews, tiny

DOCUMENTS = [Document(text, label) for text, label in zip(*reviews(60), strict=True)]


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
