"""A classifier and labelled documents to an evaluation."""

import copy

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from regard import DataError, Document, DocumentClassifier, Evaluation
from regard.data.fingerprints import fingerprint
from regard.estimators import evaluation
from regard.text.tokenize import tokenize
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(60, seed=4)


def documents(texts=TEXTS, labels=LABELS):
    return [Document(text, label) for text, label in zip(texts, labels, strict=True)]


def flipped(every=5):
    """The labels with some turned round, so that there are mistakes."""
    other = {"bad": "good", "good": "bad"}
    return [other[label] if n % every == 0 else label for n, label in enumerate(LABELS)]


def test_the_scores_are_scikit_learns(fitted):
    """D5: the last, smaller batch counts for what it is."""
    found = fitted.evaluate(documents(labels=flipped()), title="reviews")
    predicted = fitted.predict(TEXTS)
    assert found.accuracy == pytest.approx(accuracy_score(flipped(), predicted))
    assert found.macro_f1 == pytest.approx(f1_score(flipped(), predicted, average="macro"))
    assert found.document_count == 60 and found.title == "reviews"
    assert found.temperature == fitted.temperature_
    assert found.model.parameter_count == fitted.facts_["parameters"]
    assert Evaluation.from_json(found.to_json()) == found


def test_the_worst_mistakes_are_explained_and_in_order(fitted):
    found = fitted.evaluate(documents(labels=flipped()))
    sure = [mistake.probability for mistake in found.mistakes]
    assert sure == sorted(sure, reverse=True) and len(sure) == 10
    for mistake in found.mistakes:
        assert mistake.text == TEXTS[mistake.index] == mistake.explanation.source
        assert mistake.true == flipped()[mistake.index] != mistake.predicted


def test_memory_does_not_grow_with_the_mistakes(fitted, monkeypatch):
    whole = fitted.evaluate(documents(labels=flipped(2)))
    monkeypatch.setattr(evaluation, "CHUNK", 7)
    monkeypatch.setattr(evaluation, "KEPT_TEXTS", 10)
    pieces = fitted.evaluate(document for document in documents(labels=flipped(2)))
    # Other batches round otherwise, and near the end of the list that may change places.
    assert pieces.accuracy == whole.accuracy and pieces.confusion == whole.confusion
    assert len(pieces.mistakes) == 10
    for mistake in pieces.mistakes:
        assert mistake.text == TEXTS[mistake.index]


def test_labels_the_model_does_not_know_are_counted_and_not_scored(fitted):
    mixed = [*documents(), Document("a new kind", "ugly"), Document("and no label", None)]
    found = fitted.evaluate(mixed)
    assert found.document_count == 60 and found.data.unknown_label_rows == 2
    assert found.data.unknown_labels == ("ugly",)
    with pytest.raises(DataError, match=r"of 2 documents none .* \(bad, good\); they have a;b, c$"):
        fitted.evaluate([Document("a new kind", "a;b"), Document("a new kind", "c")])
    many = [Document("a new kind", f"{number}" * 99) for number in range(9)]
    shown = fitted.evaluate([*documents(), *many]).data.unknown_labels
    assert len(shown) == 5 and shown[0] == "0" * 37 + "..."
    with pytest.raises(DataError, match=r"nothing to evaluate: no labelled documents were given"):
        fitted.evaluate([])


def test_texts_of_the_training_and_words_never_seen_are_counted(fitted, tmp_path):
    """What flatters a score, and what the model could not read."""
    assert fitted.evaluate(documents()).data.seen_in_training < 20
    training = documents(*reviews(80))
    found = fitted.evaluate([*training, Document("zyx wvu tsr qpo", "bad")])
    # Eight were held out, of which some may be written like one that was not.
    assert 72 <= found.data.seen_in_training <= 80
    words = [word for document in training for word in tokenize(document.text).words()]
    unknown = sum(word not in fitted.vocab_ for word in words) + 4
    assert found.data.unknown_token_share == pytest.approx(unknown / (len(words) + 4))
    fitted.save(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model")
    assert again.evaluate(training).data.seen_in_training == found.data.seen_in_training
    (tmp_path / "model" / "seen.safetensors").unlink()
    unaware = DocumentClassifier.load(tmp_path / "model").evaluate(training)
    assert unaware.data.seen_in_training is None


def test_documents_that_were_not_learnt_from_are_scored_by_themselves(fitted):
    """A model may know by heart what it learnt from: only the others say how good it is."""
    judged = copy.deepcopy(fitted).fit_baseline(documents(*reviews(80)))
    learnt = documents(*reviews(80))
    new = [Document(f"{text} Number {place}.", "bad") for place, text in enumerate(TEXTS[:10])]
    found = judged.evaluate([*learnt, *new]).data
    kept = len(learnt) + len(new) - found.seen_in_training
    alone = judged.evaluate([*[one for one in learnt if not seen(judged, one)], *new])
    assert 10 <= kept == found.fresh.document_count == alone.document_count
    assert found.fresh.accuracy == pytest.approx(alone.accuracy)
    assert found.fresh.accuracy_interval == alone.accuracy_interval
    assert found.fresh.baseline_accuracies == pytest.approx(
        [baseline.accuracy for baseline in alone.baselines]
    )
    assert judged.evaluate(new).data.fresh is None, "none of them was learnt from"


def seen(classifier, document):
    """Whether a document was learnt from."""
    return fingerprint(document.text) in classifier.seen_


def test_the_baseline_is_measured_on_the_same_documents(fitted):
    judged = copy.deepcopy(fitted).fit_baseline(documents(*reviews(80)))
    found = judged.evaluate(documents())
    names = [baseline.name for baseline in found.baselines]
    assert names == ["TF-IDF + logistic regression", "most frequent class"]
    answers = judged.classes_[judged.baseline_.predict_proba(TEXTS).argmax(1)]
    assert found.baselines[0].accuracy == pytest.approx(np.mean(answers == LABELS))
    assert found.baselines[1].accuracy == 0.5
    assert fitted.evaluate(documents()).baselines == ()


def test_several_labels_are_judged_together(fitted_tags):
    texts, labels = tagged(40, seed=3)
    found = fitted_tags.evaluate(documents(texts, [tuple(several) for several in labels]))
    assert found.task == "multi-label"
    assert found.accuracy == pytest.approx(fitted_tags.score(texts, labels))


def test_what_caps_take_from_each_class_is_counted(fitted):
    """000-13: of the documents that are judged, as of those that were trained on."""
    assert fitted.evaluate(documents()).data.truncation is None, "there are no caps"
    capped = tiny(text__max_sentences=1, text__max_words=3).fit(*reviews(40))
    found = capped.evaluate(documents()).data.truncation
    read = [tokenize(text).per_sentence.tolist() for text in TEXTS]
    words = sum(map(sum, read))
    left = sum(min(sentences[0], 3) for sentences in read)
    assert (found.total.words, found.total.words_dropped) == (words, words - left)
    assert found.total.sentences_dropped == sum(len(sentences) - 1 for sentences in read)
    assert [entry.label for entry in found.classes] == ["bad", "good"]
    assert sum(entry.words_dropped for entry in found.classes) == words - left
