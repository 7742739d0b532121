"""Explanations of a network with n-grams beside it are explanations of both."""

from functools import partial

import numpy as np
import pytest
import torch

from regard.data.batch import Batch
from regard.explain.erasing import erasers
from regard.explain.erasure import without_each_sentence, without_each_word
from regard.explain.fitted import Question
from regard.explain.gradients import TOLERANCE, log_odds_of
from regard.explain.methods import METHODS, methods_for
from regard.models.wide import Wide
from regard.nn.rows import row_sum
from regard.ragged import Ragged
from support.reviews import reviews, tiny

TEXTS, LABELS = reviews(60, seed=5)


@pytest.fixture(scope="module")
def wide():
    classifier = tiny(training__epochs=2).fit(TEXTS, LABELS)
    assert isinstance(classifier.model_, Wide) and classifier.model_.scale > 0
    return classifier


@pytest.fixture
def ngrams_alone(wide):
    """The same model, but the network says nothing."""
    scale, wide.model_.scale = wide.model_.scale, 0.0
    yield wide
    wide.model_.scale = scale


def log_odds_of_words(classifier, text):
    """The log-odds of the answer, without what the n-grams say of any text."""
    (_, answers), *_ = classifier.fitted_.answers([text])
    logits = answers.output.logits[0].double()
    if classifier.model_.scale == 0:
        logits = logits - classifier.model_.intercepts
    chosen = answers.chosen[0][0]
    return ((logits[chosen] - logits[1 - chosen]) / classifier.temperature_).item()


@pytest.mark.parametrize("method", ["gradient_input", "integrated_gradients", "attention_gradient"])
def test_what_ngrams_add_is_shown_exactly(ngrams_alone, method):
    explanation = ngrams_alone.explain(TEXTS[0], method=method)
    words, sentences = explanation.decisions[0].weights
    expected = pytest.approx(log_odds_of_words(ngrams_alone, TEXTS[0]), rel=1e-5)
    assert sum(words.scores) == expected
    assert sum(sentences.scores) == expected


def test_integrated_gradients_add_up_to_how_far_both_moved(wide):
    (_, answers), *_ = wide.fitted_.answers([TEXTS[1]])
    model, batch = answers.model, answers.batch
    vectors = model.embed(batch)
    nothing = vectors.with_values(torch.zeros_like(vectors.values))
    with torch.no_grad():
        start = model.scale * model.network.from_vectors(nothing, batch).logits + model.intercepts
    chosen = answers.chosen[0][0]
    start, end = (
        ((logits[0, chosen] - logits[0, 1 - chosen]) / answers.temperature).item()
        for logits in (start, answers.output.logits)
    )
    words = wide.explain(TEXTS[1], method="integrated_gradients").decisions[0].weights[0]
    assert sum(words.scores) == pytest.approx(end - start, abs=TOLERANCE * abs(end - start) + 2e-3)


@pytest.mark.parametrize("policy", ["delete", "mask"])
def test_erasing_asks_both_about_the_text_that_is_left(wide, policy):
    """N-grams that arise where a word is cut out are counted too."""
    (_, answers), *_ = wide.fitted_.answers([TEXTS[2]])
    (eraser,) = erasers(answers.model, answers.batch, policy)
    draw = np.random.default_rng(0)
    kept = draw.random((5, eraser.word_count)) < 0.6
    found = eraser.with_words(kept)
    ids, lengths = answers.batch.ids.values.numpy(), eraser.lengths
    for row, logits in zip(kept, found, strict=True):
        if policy == "mask":
            left, sizes = np.where(row, ids, 1), lengths
        else:
            left = ids[row]
            sizes = np.array([part.sum() for part in np.split(row, np.cumsum(lengths)[:-1])])
            sizes = sizes[sizes > 0]
        version = Batch(
            Ragged(torch.from_numpy(left), torch.from_numpy(sizes)), torch.tensor([len(sizes)])
        )
        with torch.no_grad():
            expected = answers.model(version).logits[0].double()
        torch.testing.assert_close(logits, expected, atol=1e-5, rtol=0)


def test_leaving_out_each_word_asks_both(wide):
    (_, answers), *_ = wide.fitted_.answers([TEXTS[3]])
    (eraser,) = erasers(answers.model, answers.batch)
    kept = ~np.eye(eraser.word_count, dtype=bool)
    each = wide.explain(TEXTS[3], method="erasure").decisions[0].weights[0].scores
    chosen = answers.chosen[0][0]
    lost = answers.probabilities[0, chosen] - answers.likely(eraser.reread(kept))[:, chosen]
    np.testing.assert_allclose(each, lost.numpy(), atol=1e-5)


def test_the_same_methods_are_usual_as_for_the_network(wide):
    assert methods_for(wide.model_) == methods_for(wide.model_.network)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains_it(wide, method):
    question = Question(method=method, receipt=method == "erasure")
    explanation = wide.fitted_.explain([TEXTS[0]], question)[0]
    assert explanation.decisions[0].weights


def test_what_is_estimated_of_a_long_text_heeds_ngrams(wide, monkeypatch):
    """Where nothing may be measured, what n-grams say of a word still counts."""
    monkeypatch.setattr("regard.explain.erasure.ITEMS", 0)
    monkeypatch.setattr("regard.explain.erasure.ITEMS_PER_WORD", 0)
    (_, answers), *_ = wide.fitted_.answers([TEXTS[3]])
    (eraser,) = erasers(answers.model, answers.batch)
    value = partial(log_odds_of, numbers=answers.chosen[0], answers=answers)
    shares, chosen = answers.model.word_shares(answers.batch), answers.chosen[0][0]
    lost = (shares[:, 1 - chosen] - shares[:, chosen]) / answers.temperature
    both = [level(eraser, value) for level in (without_each_word, without_each_sentence)]
    assert [found.measured for found in both] == [0, 0]
    monkeypatch.setattr(Wide, "word_shares", lambda self, batch: None)
    blind = [level(eraser, value) for level in (without_each_word, without_each_sentence)]
    differences = [one.values - other.values for one, other in zip(both, blind, strict=True)]
    torch.testing.assert_close(differences[0][:, 0], lost)
    torch.testing.assert_close(differences[1][:, 0], row_sum(answers.batch.ids.with_values(lost)))
