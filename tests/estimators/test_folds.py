"""Few documents are each held out once; what the folds say is what is known of the model."""

import signal
import statistics
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard import DocumentClassifier
from regard.data.readers import read_texts
from regard.estimators.fitting import FitOptions
from regard.estimators.recipes import BALANCED, FEWEST_TO_FOLD, FOLDS
from regard.models.wide import WideConfig
from regard.training.observers import Observer
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(FEWEST_TO_FOLD, seed=3)
UNFOLDED = replace(BALANCED, most_folded=(0, 0))


class Steps(Observer):
    """Counts the steps of each training, and may break off as if killed, or press Ctrl-C."""

    def __init__(self, most=None, press=None):
        self.most, self.press = most, press
        self.trainings, self.losses, self.names = [], [], []
        self.last = 0

    def on_training(self, name):
        self.names.append(name)

    def on_epoch(self, epoch):
        self.losses[-1].append(epoch.validation.get("loss"))

    def on_step(self, step):
        if step.step <= self.last or not self.trainings:
            self.trainings.append(0)
            self.losses.append([])
        self.last = step.step
        self.trainings[-1] += 1
        if self.most is not None and sum(self.trainings) == self.most:
            raise RuntimeError("killed")
        if self.press is not None and sum(self.trainings) == self.press:
            signal.raise_signal(signal.SIGINT)


def fit(texts=TEXTS, labels=LABELS, *, folder=None, most=None, recipe=BALANCED, **params):
    steps = Steps(most)
    classifier = tiny(**{"training__epochs": 3, "wide": WideConfig(), **params})
    options = FitOptions(
        work=folder,
        resume=folder is not None,
        observers=(steps,),
        recipe=recipe,
        choose_method=False,
    )
    classifier.fit_documents(read_texts(texts, labels), options=options)
    return classifier, steps


@pytest.fixture(scope="module")
def folded():
    return fit()


def test_each_document_is_held_out_once_and_all_are_learnt_from(folded):
    """13.2: k-fold instead of one held-out tenth where data are few."""
    classifier, steps = folded
    assert len(steps.trainings) == FOLDS + 1
    assert steps.names == [*(f"fold {number} of 4" for number in range(1, 5)), "all documents"]
    facts = classifier.facts_
    assert facts["training_documents"] == facts["validation_documents"] == len(TEXTS)
    assert facts["folds"] == FOLDS
    # The last training alone is in the history; the folds took time too.
    assert facts["training_seconds"] > classifier.history_.seconds
    assert 0.9 < facts["validation_accuracy"] <= 1
    batches, rest = -(-len(TEXTS) // 16), -(-len(TEXTS) * (FOLDS - 1) // FOLDS // 16)
    assert steps.trainings[0] == 3 * rest
    assert steps.trainings[-1] == batches * len(classifier.history_.epochs)


def test_the_history_has_what_each_fold_scored(folded, tmp_path):
    """Nothing is held out of the last training, so it alone has no scores."""
    classifier, steps = folded
    history = classifier.history_
    assert all(not epoch.validation for epoch in history.epochs)
    losses = [[epoch.validation_loss for epoch in fold.epochs] for fold in history.folds]
    assert losses == steps.losses[:FOLDS]
    assert history.fold_scores["loss"] == statistics.fmean(map(min, losses))
    assert 0.9 < history.fold_scores["accuracy"] <= 1
    classifier.save(tmp_path / "model")
    assert DocumentClassifier.load(tmp_path / "model").history_ == history
    assert "4 networks each left out a fold" in history._repr_html_()


def test_the_last_training_is_as_long_as_the_folds_took():
    """With a rate that is too high some early epoch is the best."""
    classifier, steps = fit(training__learning_rate=1.0, training__epochs=6)
    took = [1 + losses.index(min(losses)) for losses in steps.losses[:FOLDS]]
    assert classifier.facts_["best_epoch"] == len(steps.losses[-1]) == round(statistics.mean(took))
    assert classifier.training.epochs == 6, "what was asked for stays"


def test_epochs_that_a_fold_went_back_on_are_not_counted():
    """No gain is progress here, so each fold goes back after three epochs, and cools down."""
    params = {"training__patience": 2, "training__min_delta": 9.0, "training__epochs": 9}
    classifier, steps = fit(**params, training__learning_rate=1.0)
    took = []
    for *losses, last in steps.losses[:FOLDS]:
        assert len(losses) == 3
        took.append(1 + losses.index(min(losses)) + (last < min(losses)))
    assert classifier.facts_["best_epoch"] == len(steps.losses[-1]) == round(statistics.mean(took))
    best = [1 + losses.index(min(losses)) for losses in steps.losses[:FOLDS]]
    assert sum(took) < sum(best), "some went back"


def test_the_same_seed_gives_the_same_bits(folded):
    again, _ = fit()
    assert np.array_equal(again.predict_proba(TEXTS), folded[0].predict_proba(TEXTS))
    other, _ = fit(training__seed=1)
    assert not np.array_equal(other.predict_proba(TEXTS), folded[0].predict_proba(TEXTS))


@pytest.mark.parametrize("share", [0.3, 0.95])
def test_a_killed_fit_goes_on_where_it_was(folded, tmp_path, share):
    """In the second fold, and in the training on everything."""
    most = int(share * sum(folded[1].trainings))
    with pytest.raises(RuntimeError, match="killed"):
        fit(folder=tmp_path, most=most)
    resumed, steps = fit(folder=tmp_path)
    assert sum(steps.trainings) < sum(folded[1].trainings)
    assert np.array_equal(resumed.predict_proba(TEXTS), folded[0].predict_proba(TEXTS))
    assert resumed.temperature_ == folded[0].temperature_
    assert resumed.history_.fold_scores == folded[0].history_.fold_scores


def test_a_share_is_held_out_where_documents_are_many_or_very_few():
    assert BALANCED.folds(FEWEST_TO_FOLD, 10_000) == FOLDS
    most, most_words = BALANCED.most_folded
    assert not BALANCED.folds(FEWEST_TO_FOLD - 1, 10_000)
    assert not BALANCED.folds(most + 1, 10_000) and not BALANCED.folds(most, most_words + 1)
    classifier, steps = fit(recipe=UNFOLDED)
    assert len(steps.trainings) == 1 and classifier.facts_["validation_documents"] == 20


def test_what_was_given_to_validate_on_is_not_dealt_out():
    classifier = tiny(training__epochs=1)
    classifier.fit(TEXTS, LABELS, validation=reviews(20, seed=4))
    assert "folds" not in classifier.facts_ and classifier.facts_["validation_documents"] == 20
    none, _ = fit(validation=0.0, training__epochs=1)
    assert "folds" not in none.facts_ and none.facts_["validation_documents"] == 0


def test_without_ngrams_and_with_several_labels(folded):
    texts, labels = tagged(FEWEST_TO_FOLD)
    classifier, _ = fit(texts, labels, wide=None, training__epochs=2)
    assert classifier.facts_["validation_documents"] == len(texts)
    assert classifier.facts_["validation_accuracy"] > 0.5
    weights = fit(wide=None)[0].model_.state_dict()
    for name, tensor in folded[0].model_.network.state_dict().items():
        assert torch.equal(tensor, weights[name])


def test_several_networks_are_trained_after_the_folds():
    classifier, steps = fit(seeds=2, training__epochs=1)
    assert len(steps.trainings) == FOLDS + 2 and classifier.facts_["seeds"] == 2


def test_the_baseline_is_judged_by_the_same_folds(folded):
    classifier, _ = fit(training__epochs=1)
    classifier.fit_baseline(read_texts(TEXTS, LABELS))
    assert classifier.baseline_.trained_on == len(TEXTS)
    assert 0.8 < classifier.facts_["baseline_accuracy"] <= 1


@pytest.mark.parametrize("steps", [2, 10, 15])
def test_ctrl_c_in_a_fold_leaves_a_model(steps):
    """In the first, at its end, and in the second; a fold has ten steps."""
    classifier = tiny(training__epochs=1, wide=WideConfig())
    options = FitOptions(observers=(Steps(press=steps),), choose_method=False)
    classifier.fit_documents(read_texts(TEXTS, LABELS), options=options)
    assert classifier.predict_proba(TEXTS[:3]).shape == (3, 2)
    assert classifier.facts_["validation_documents"] <= len(TEXTS) / FOLDS
    # Its network is that of a fold, which was trained before none.
    assert "folds" not in classifier.facts_ and classifier.history_.folds == ()
    assert classifier.history_.interrupted
    assert classifier.facts_["training_documents"] == len(TEXTS) * (FOLDS - 1) / FOLDS
    assert np.mean(classifier.predict(TEXTS) == np.array(LABELS)) > 0.4
