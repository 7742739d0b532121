"""N-grams beside a network: learnt, blended, saved, and switched off."""

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from regard import DocumentClassifier, ModelError
from regard.estimators.folder import seal
from regard.estimators.wide import LearningData, fit_blend, learn_ngrams
from regard.models.ngrams import Rows
from regard.models.wide import Wide, WideConfig
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(60, seed=5)


@pytest.fixture(scope="module")
def wide():
    return tiny(wide=WideConfig(), training__epochs=2).fit(TEXTS, LABELS)


def test_ngrams_stand_beside_the_network(wide):
    assert isinstance(wide.model_, Wide)
    assert wide.facts_["ngrams"] == len(wide.model_.table) > 0
    assert wide.score(TEXTS, LABELS) > 0.9
    assert len(wide.seen_) == len(set(TEXTS)), "what was held out is learnt from too"


def test_without_them_the_network_is_the_same(wide):
    alone = tiny(wide=None, training__epochs=2).fit(TEXTS, LABELS)
    assert not isinstance(alone.model_, Wide)
    assert "ngrams" not in alone.facts_
    weights = alone.model_.state_dict()
    for name, tensor in wide.model_.network.state_dict().items():
        assert torch.equal(tensor, weights[name])


def test_the_same_seed_gives_the_same_bits(wide):
    again = tiny(wide=WideConfig(), training__epochs=2).fit(TEXTS, LABELS)
    assert np.array_equal(again.predict_proba(TEXTS), wide.predict_proba(TEXTS))
    assert again.temperature_ == wide.temperature_


def test_what_is_saved_answers_the_same(wide, tmp_path):
    wide.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    assert loaded.wide == WideConfig()
    assert np.array_equal(loaded.predict_proba(TEXTS), wide.predict_proba(TEXTS))


def _break(arrays, name, value):
    arrays[name] = value(arrays[name])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda arrays: arrays.pop("weights"), "holds no weights"),
        (lambda arrays: _break(arrays, "keys", lambda keys: keys[::-1].copy()), "out of order"),
        (lambda arrays: _break(arrays, "rarity", lambda worth: worth * np.nan), "no number"),
        (lambda arrays: _break(arrays, "scale", lambda scale: scale[:0]), "holds no scale"),
    ],
)
def test_a_damaged_part_is_an_error(wide, tmp_path, change, problem):
    wide.save(tmp_path / "model")
    arrays = load_file(tmp_path / "model" / "wide.safetensors")
    change(arrays)
    save_file(arrays, tmp_path / "model" / "wide.safetensors")
    seal(tmp_path / "model")
    with pytest.raises(ModelError, match=problem):
        DocumentClassifier.load(tmp_path / "model")


def test_a_missing_part_is_an_error(wide, tmp_path):
    wide.save(tmp_path / "model")
    (tmp_path / "model" / "wide.safetensors").unlink()
    with pytest.raises(ModelError, match=r"has no wide\.safetensors"):
        DocumentClassifier.load(tmp_path / "model")


def test_several_labels_and_weights_and_balance_are_heeded():
    texts, labels = tagged(40)
    config = {"wide": WideConfig(), "training__epochs": 1, "training__class_weights": "balanced"}
    classifier = tiny(**config).fit(texts, labels, sample_weight=np.linspace(0.5, 2, len(texts)))
    assert isinstance(classifier.model_, Wide)
    assert classifier.predict_proba(texts).shape == (40, len(classifier.classes_))


def test_documents_to_validate_on_are_not_learnt_from():
    given = tiny(wide=WideConfig(), training__epochs=1)
    given.fit(TEXTS[:40], LABELS[:40], validation=(TEXTS[40:], LABELS[40:]))
    assert isinstance(given.model_, Wide)
    assert len(given.seen_) == len(set(TEXTS[:40]))


def learning(seed=0, count=60):
    """Documents of ten words, of which one says what the label is."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 2, count)
    ids = draw.integers(4, 30, (count, 10))
    ids[np.arange(count), draw.integers(0, 10, count)] = 2 + labels
    rows = Rows(ids.ravel(), np.full(count, 10), np.ones(count, np.int64))
    return LearningData(rows, labels, 2, training=np.arange(count) < 50)


def test_ngrams_that_decide_are_found():
    data = learning()
    learnt = learn_ngrams(data, WideConfig())
    weights = learnt.after.weights[:, 1] - learnt.after.weights[:, 0]
    assert learnt.table.keys[weights.argmax()] == 3
    assert learnt.table.keys[weights.argmin()] == 2


def test_nothing_is_learnt_where_no_ngram_is_in_two_documents():
    rows = Rows(np.arange(2, 12), np.ones(10, np.int64), np.ones(10, np.int64))
    data = LearningData(rows, np.arange(10) % 2, 2, training=np.ones(10, bool))
    assert learn_ngrams(data, WideConfig()) is None


def test_a_model_that_guesses_gets_little_say():
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 2, 2000)
    knows = np.eye(2)[labels] * 3 + draw.normal(size=(2000, 2))
    guesses = draw.normal(size=(2000, 2))
    good, bad = fit_blend([knows, guesses], labels)
    assert good > 0.5 and 0 <= bad < good / 10


def test_few_documents_leave_the_say_almost_even():
    logits = np.array([[2.0, 0], [0, 2.0], [2.0, 0]])
    say = fit_blend([logits, logits[::-1]], np.array([0, 1, 0]))
    assert say == pytest.approx([say[1], say[0]], rel=1e-3)
