"""Ctrl-C at any moment of a fit leaves a model that answers, or says that there is none."""

import pytest

from regard import DocumentClassifier, Translator
from regard.data.pairs import pair_texts
from regard.data.readers import read_texts
from regard.estimators.fitting import FitOptions
from regard.explain.methods import DEFAULT_METHOD
from regard.models.seq2seq import PRESETS
from regard.training.config import TrainingConfig
from regard.training.observers import Observer
from support.ctrl_c import ctrl_c
from support.reviews import reviews, tiny

TEXTS, LABELS = reviews(24)
PLACES = 12
"""At so many moments, from the first call of a function to the last, Ctrl-C is pressed."""


class Counter(Observer):
    """Counts the steps that were taken."""

    steps = 0

    def on_step(self, step):
        self.steps += 1


def fit(at, folder=None):
    """Fit while Ctrl-C is pressed; return the classifier, the steps, and what was pressed."""
    counter = Counter()
    classifier = tiny(training__epochs=2)
    options = FitOptions(
        observers=(counter,),
        on_fitted=None if folder is None else lambda: classifier.save(folder),
    )
    with ctrl_c(at) as presses:
        try:
            classifier.fit_documents(read_texts(TEXTS, LABELS), options=options)
        except KeyboardInterrupt:
            assert counter.steps == 0
    return classifier, counter.steps, presses


def test_at_any_moment_a_model_is_left_or_nothing_was_learnt():
    """Issue 18.9: pressed at moments all over the fit."""
    fit(None)  # the first fit of all calls a little more
    _, _, whole = fit(None)
    fitted = 0
    for place in range(PLACES):
        classifier, steps, presses = fit(1 + place * whole.calls // PLACES)
        assert presses.pressed
        assert classifier.__sklearn_is_fitted__() == (steps > 0)
        if steps:
            fitted += 1
            assert classifier.predict_proba(TEXTS[:3]).shape == (3, 2)
    assert 0 < fitted < PLACES


@pytest.mark.parametrize(
    ("name", "interrupted"),
    [("move", True), ("_tally", True), ("_answer_held_out", False), ("answer", False)],
)
def test_each_stage_can_be_ended(name, interrupted):
    """The steps, the validation, the calibration and the choice of the method."""
    classifier, _, presses = fit(name)
    assert presses.pressed
    assert classifier.history_.interrupted == interrupted
    assert "explain_method" not in classifier.facts_
    assert classifier.explain(TEXTS[0]).method == DEFAULT_METHOD
    if name == "_answer_held_out":
        assert classifier.temperature_ == 1.0


def test_nothing_is_left_where_nothing_was_learnt():
    classifier = tiny()
    with ctrl_c("_require_choice"), pytest.raises(KeyboardInterrupt):
        classifier.fit(TEXTS, LABELS)
    assert not classifier.__sklearn_is_fitted__()


def test_the_model_can_be_saved_before_the_method_is_chosen(tmp_path):
    """Issue 10.1: what comes after the training may be killed without loss."""
    classifier, _, _ = fit(None, tmp_path / "model")
    early = DocumentClassifier.load(tmp_path / "model")
    assert "explain_method" in classifier.facts_ and "explain_method" not in early.facts_
    assert (early.predict_proba(TEXTS) == classifier.predict_proba(TEXTS)).all()


@pytest.mark.parametrize("name", ["_sides", "move", "generate", "facts"])
def test_a_translator_is_left_too(name):
    training = TrainingConfig(epochs=2, batch_size=8, monitor="bleu")
    translator = Translator(PRESETS["small"], training=training, progress=False)
    sources = [f"{a} {b}" for a in "abcdef" for b in "uvwxyz"]
    pairs = pair_texts(sources, [source[::-1] for source in sources])
    with ctrl_c(name) as presses:
        try:
            translator.fit_pairs(pairs)
        except KeyboardInterrupt:
            assert name == "_sides"
    assert presses.pressed
    assert translator.__sklearn_is_fitted__() == (name != "_sides")
    if name != "_sides":
        assert len(translator.predict(["a u"])) == 1
