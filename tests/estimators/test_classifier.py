"""The classifier: fit, predict, score, explain, and the labels it takes."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard import (
    ConfigError,
    DataError,
    Document,
    DocumentClassifier,
    Explanation,
    NotFittedError,
    TrainingError,
)
from regard.estimators.fitting import FitOptions
from regard.estimators.recipes import recipe_for
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(40, seed=5)


def test_it_learns_and_says_how_sure_it_is(fitted):
    likely = fitted.predict_proba(TEXTS)
    assert likely.shape == (40, 2) and likely.dtype == np.float64
    np.testing.assert_allclose(likely.sum(1), 1)
    assert fitted.predict(TEXTS).tolist() == fitted.classes_[likely.argmax(1)].tolist()
    assert fitted.score(TEXTS, LABELS) > 0.9
    assert fitted.history_.best.validation_accuracy > 0.9
    assert fitted.temperature_ > 0


def test_string_labels_are_the_classes_in_order(fitted):
    assert fitted.classes_.tolist() == ["bad", "good"]
    assert fitted.classes_.dtype == fitted.predict(TEXTS).dtype == object, "of any length"


@pytest.mark.parametrize("wrap", [list, np.array, lambda labels: np.array(labels, dtype=float)])
def test_whole_numbers_stay_whole_numbers(wrap):
    numbers = wrap([{"bad": 1, "good": 5}[label] for label in LABELS])
    classifier = tiny(training__epochs=1).fit(TEXTS, numbers)
    assert classifier.classes_.tolist() == [1, 5]
    assert classifier.classes_.dtype == np.int64
    assert set(classifier.predict(TEXTS).tolist()) <= {1, 5}
    # What a file gives as text is the same label.
    assert classifier.score(TEXTS, [str(int(n)) for n in numbers]) == classifier.score(
        TEXTS, numbers
    )


def test_arrays_of_texts_are_texts(fitted):
    expected = fitted.predict_proba(TEXTS)
    assert np.array_equal(fitted.predict_proba(np.array(TEXTS)), expected)
    assert np.array_equal(fitted.predict_proba(np.array(TEXTS, dtype=object)), expected)


@pytest.mark.parametrize("kind", [list, tuple, set])
def test_several_labels_a_document_come_as_any_collection(kind):
    texts, labels = tagged(40)
    classifier = tiny(training__epochs=1).fit(texts, [kind(several) for several in labels])
    assert classifier.labels_.multilabel
    assert classifier.classes_.tolist() == ["art", "music"]


def test_several_labels_are_predicted_as_tuples(fitted_tags):
    """001-12: one sigmoid a label."""
    texts, labels = tagged(40, seed=1)
    answers = fitted_tags.predict(texts)
    assert answers.shape == (40,) and all(isinstance(answer, tuple) for answer in answers)
    likely = fitted_tags.predict_proba(texts)
    assert [tuple(np.array(["art", "music"])[row > 0.5]) for row in likely] == list(answers)
    assert fitted_tags.score(texts, labels) > 0.9
    assert fitted_tags.score(texts, [set(several) for several in labels]) > 0.9
    assert not np.allclose(likely.sum(1), 1), "they are independent, not shares"


def test_one_label_that_may_hold_or_not_is_enough():
    texts, labels = tagged(30)
    only = [[name for name in several if name == "art"] for several in labels]
    classifier = tiny(training__epochs=1).fit(texts, only)
    assert classifier.predict_proba(texts).shape == (30, 1)


def test_score_is_the_share_of_right_answers(fitted, fitted_tags):
    answers = fitted.predict(TEXTS).tolist()
    wrong = ["bad" if answer == "good" else "good" for answer in answers[:10]]
    assert fitted.score(TEXTS, wrong + answers[10:]) == 0.75
    assert fitted.score(TEXTS, ["never seen"] * 10 + answers[10:]) == 0.75
    weights = [0.0] * 10 + [1.0] * 30
    assert fitted.score(TEXTS, wrong + answers[10:], sample_weight=weights) == 1.0
    texts, _ = tagged(10)
    every = [(*answer, "more") for answer in fitted_tags.predict(texts)]
    assert fitted_tags.score(texts, every) == 0.0, "one label too many is wrong"
    with pytest.raises(DataError, match="no texts to score"):
        fitted.score([], [])


def test_before_fit_every_question_is_an_error():
    unfitted = DocumentClassifier()
    for ask in (
        lambda: unfitted.predict(["a"]),
        lambda: unfitted.predict_proba(["a"]),
        lambda: unfitted.explain("a"),
        lambda: unfitted.score(["a"], ["b"]),
        lambda: unfitted.evaluate([Document("a", "b")]),
        lambda: unfitted.fit_baseline([]),
        lambda: unfitted.save("nowhere"),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet; call fit or load first"):
            ask()


def test_a_fit_that_fails_leaves_nothing_to_predict_with():
    classifier = tiny().fit(TEXTS, LABELS)
    with pytest.raises(TrainingError, match="learning_rate"):
        classifier.set_params(training__learning_rate=1e30, training__clip=None).fit(TEXTS, LABELS)
    with pytest.raises(NotFittedError):
        classifier.predict(TEXTS)


def test_one_text_alone_is_no_list_of_texts(fitted):
    for ask in (fitted.predict, fitted.predict_proba):
        with pytest.raises(DataError, match="put it in a list"):
            ask("a great film")
    with pytest.raises(DataError, match="put it in a list"):
        fitted.fit("a great film", ["good"])


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["nested"]])
def test_what_is_no_text_is_named(fitted, wrong):
    for ask in (fitted.predict, fitted.explain):
        with pytest.raises(DataError, match="texts:2: the text"):
            ask(["a text", wrong])


def test_no_texts_give_no_answers(fitted, fitted_tags):
    assert fitted.predict([]).shape == (0,)
    assert fitted.predict_proba([]).shape == (0, 2)
    assert fitted.explain([]) == []
    assert fitted_tags.predict([]).shape == (0,)


def test_streams_are_read_once(fitted):
    expected = fitted.predict_proba(TEXTS)
    assert np.array_equal(fitted.predict_proba(text for text in TEXTS), expected)
    assert len(fitted.explain(text for text in TEXTS[:3])) == 3
    again = tiny().fit((text for text in TEXTS), iter(LABELS))
    assert np.array_equal(
        again.predict_proba(TEXTS), tiny().fit(TEXTS, LABELS).predict_proba(TEXTS)
    )


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (["a", "b"], ["x"], "more texts than labels, of which there are 1"),
        (["a"], ["x", "y"], "more labels than texts, of which there are 1"),
        (["a", "b"], ["x", "x"], "all 2 documents have the label 'x'"),
        ([], [], "no documents to train on"),
        (["a", "b"], [[], []], "none of the 2 documents has a label"),
        (["a", "b"], [["x"], "y"], "document 2 has a single label"),
        (["a", "b"], ["x", None], "texts:2: the label is missing"),
        (["a", "b"], [1.5, 2.0], "texts:1: a label must be a text or a whole number"),
    ],
)
def test_bad_training_data_are_named(texts, labels, message):
    with pytest.raises(DataError, match=message):
        tiny().fit(texts, labels)


def test_a_bad_share_to_hold_out_is_named():
    with pytest.raises(ConfigError, match="validation must be from 0 to below 1, got 1"):
        tiny(validation=1.0).fit(TEXTS, LABELS)
    with pytest.raises(ConfigError, match="device 'abacus' cannot be used"):
        tiny(device="abacus").fit(TEXTS, LABELS)


def test_given_validation_data_are_used_and_nothing_else_is_held_out():
    """001-21: the epoch is chosen on them."""
    classifier = tiny(training__epochs=2).fit(TEXTS, LABELS, validation=reviews(10, seed=9))
    assert classifier.facts_["training_documents"] == 40
    assert classifier.facts_["validation_documents"] == 10
    with pytest.raises(DataError, match="no documents to validate on"):
        tiny().fit(TEXTS, LABELS, validation=([], []))


def test_without_validation_the_last_epoch_stays():
    classifier = tiny(validation=0.0, training__epochs=2).fit(TEXTS, LABELS)
    assert classifier.facts_["validation_documents"] == 0
    assert classifier.history_.best_epoch == 2
    assert classifier.temperature_ == 1.0


def test_early_stopping_ends_a_plateau_and_keeps_the_best_epoch():
    """001-21: a forced plateau; the rate is too small to change an accuracy."""
    params = {"training__learning_rate": 1e-9, "training__monitor": "accuracy"}
    classifier = tiny(**params, training__epochs=30, training__patience=2).fit(TEXTS, LABELS)
    assert len(classifier.history_.epochs) == 3 + 1  # it cools down for the last one
    assert classifier.history_.best_epoch == 1
    assert classifier.history_.stopped == "patience"


def test_the_same_seed_gives_the_same_bits():
    """D14: nothing of the first weights is left to chance."""
    config = {"network__state_dropout": 0.3, "network__word_dropout": 0.1, "training__epochs": 2}
    first = tiny(**config).fit(TEXTS, LABELS).predict_proba(TEXTS)
    torch.manual_seed(12345)
    np.random.seed(7)
    assert np.array_equal(tiny(**config).fit(TEXTS, LABELS).predict_proba(TEXTS), first)
    other = tiny(**config, training__seed=1).fit(TEXTS, LABELS).predict_proba(TEXTS)
    assert not np.array_equal(other, first)


def test_words_learn_unless_they_are_frozen():
    """D16: the vectors of words are trained, and stay as they were where that is asked."""

    def drift(**params):
        first = tiny(training__epochs=1, training__learning_rate=1e-12, **params)
        later = tiny(training__epochs=2, **params)
        weights = [c.fit(TEXTS, LABELS).model_.embedding.weight for c in (first, later)]
        return float((weights[0] - weights[1]).detach().abs().max())

    assert drift() > 0.01
    assert drift(training__freeze_vectors=True) == 0


def test_fit_again_starts_anew(fitted):
    twice = copy.deepcopy(fitted).fit(TEXTS, LABELS)
    assert np.array_equal(
        twice.predict_proba(TEXTS), tiny().fit(TEXTS, LABELS).predict_proba(TEXTS)
    )


def test_fit_leaves_what_it_was_given(fitted):
    texts, labels = list(TEXTS), list(LABELS)
    classifier = tiny(training__epochs=1)
    before = classifier.get_params()
    state = torch.get_rng_state()
    classifier.fit(texts, labels)
    assert (texts, labels) == (TEXTS, LABELS)
    assert classifier.get_params() == before
    assert torch.equal(torch.get_rng_state(), state)


def test_a_copy_through_bytes_answers_alike(fitted):
    """scikit-learn sends estimators to other processes; nothing on disk is a pickle."""
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))


def test_one_text_gives_one_explanation_and_several_a_list(fitted):
    """000-05 and D16: attention is returned, words and sentences."""
    text = "The story was long. A great film!"
    one = fitted.explain(text)
    assert isinstance(one, Explanation) and one.source == text
    assert one.sentences(2)[0].text == "A great film!"
    assert one.label == fitted.predict([text])[0]
    assert one.probability == pytest.approx(fitted.predict_proba([text]).max(), abs=1e-6)
    several = fitted.explain([text, "", text])
    assert [found.source for found in several] == [text, "", text]
    assert several[0].words(3)[0].span == several[2].words(3)[0].span
    with pytest.raises(ConfigError, match="method cannot be 'attentoin'; did you mean 'attention'"):
        fitted.explain(text, method="attentoin")


def test_several_labels_are_explained_one_by_one(fitted_tags):
    texts = tagged(40)[0]
    for text, answer in zip(texts, fitted_tags.predict(texts), strict=True):
        explained = [decision.label for decision in fitted_tags.explain(text).decisions]
        # Where no label holds, the likeliest is explained.
        assert set(explained) == set(answer) if answer else len(explained) == 1
    assert ("art", "music") in list(fitted_tags.predict(texts))


def test_a_new_parameter_waits_for_the_next_fit(fitted, tmp_path):
    """What is saved is what was fitted."""
    changed = copy.deepcopy(fitted).set_params(network__hidden_size=99, text__lowercase=False)
    assert np.array_equal(changed.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    changed.save(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model")
    assert again.network == fitted.network
    assert np.array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))


def test_the_baseline_learns_from_what_was_not_held_out():
    documents = [Document(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]
    classifier = tiny(training__epochs=1).fit_documents(documents).fit_baseline(documents)
    assert classifier.baseline_.trained_on == 36 == classifier.facts_["training_documents"]


def test_a_loaded_classifier_cannot_fit_a_baseline(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    with pytest.raises(NotFittedError, match="does not know which documents"):
        DocumentClassifier.load(tmp_path / "model").fit_baseline([])


def test_what_was_found_is_told_before_the_training():
    seen = []
    options = FitOptions(on_check=seen.append)
    documents = [Document(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]
    tiny(training__epochs=1).fit_documents(documents, options=options)
    (check,) = seen
    assert (check.documents, check.validation_documents) == (36, 4)
    assert check.seconds > 0 and check.memory_bytes > 1 << 20


def test_caps_are_settings_and_what_they_cut_is_shown(fitted):
    capped = tiny(text__max_sentences=1, training__epochs=1).fit(TEXTS, LABELS)
    found = capped.explain("First one. Second one.")
    assert [found.source[start:end] for start, end in found.unread] == ["Second one."]
    assert fitted.explain("First one. Second one.").unread == ()


def test_where_the_corpus_lies_changes_nothing(tmp_path):
    documents = [Document(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]
    kept = tiny().fit_documents(documents, options=replace(FitOptions(), work=tmp_path / "work"))
    assert np.array_equal(kept.predict_proba(TEXTS), tiny().fit(TEXTS, LABELS).predict_proba(TEXTS))
    assert (tmp_path / "work" / "checkpoint" / "state.safetensors").exists()


def test_weights_changed_behind_torchs_back_change_the_next_answer():
    """What was computed for an earlier answer is never used again."""
    classifier = tiny(training__epochs=1, wide=None).fit(TEXTS, LABELS)
    before = classifier.predict_proba(TEXTS)
    classifier.model_.embedding.weight.data.mul_(0)
    after = classifier.predict_proba(TEXTS)
    assert not np.allclose(before, after)
    assert np.abs(after - after[0]).max() < 0.05, "without word vectors lengths alone differ"


def test_a_fit_leaves_the_settings_as_they_were():
    """Few documents are cut into smaller batches, and the next fit may have many."""
    classifier = tiny(training__batch_size=64)
    given, options = classifier.training, FitOptions(recipe=recipe_for("balanced", []))
    documents = [Document(text, label) for text, label in zip(TEXTS, LABELS, strict=True)]
    classifier.fit_documents(documents, options=options)
    assert classifier.training is given and classifier.settings_.training.batch_size == 8
