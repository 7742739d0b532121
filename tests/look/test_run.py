from functools import partial

import pytest

from regard import ConfigError, DataError, Document
from regard.look import run
from regard.models.reader import chunks
from regard.records.look import Look
from support.reviews import reviews, tagged


def documents(count, *, seed=7, wrong=()):
    texts, labels = reviews(count, seed=seed)
    other = {"good": "bad", "bad": "good"}
    return [
        Document(text, other[label] if place in wrong else label)
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def test_wrong_labels_are_among_the_suspects(fitted):
    wrong = {3, 8, 21, 34}
    found = fitted.look(documents(40, wrong=wrong))
    assert found.documents == found.labelled == 40
    assert {suspect.index for suspect in found.suspects} <= wrong
    assert found.measured == found.disagreements == 4
    for suspect in found.suspects:
        assert suspect.answer != suspect.labels[0]
        assert suspect.probability >= found.sure
        assert suspect.explanation.receipt.verdict == suspect.verdict != "no better than chance"
        assert suspect.explanation.true_labels == suspect.labels
    assert Look.from_json(found.to_json()) == found


def test_only_the_surest_disagreements_are_measured(fitted, monkeypatch):
    monkeypatch.setattr(run, "MEASURED", 2)
    found = fitted.look(documents(40, wrong={3, 8, 21, 34}))
    assert (found.disagreements, found.measured) == (4, 2)
    assert len(found.suspects) <= 2


def test_labels_that_are_right_or_missing_are_not_suspected(fitted):
    assert fitted.look(documents(20)).suspects == ()
    found = fitted.look(Document(text) for text in reviews(20)[0])
    assert (found.labelled, found.disagreements, found.suspects) == (0, 0, ())


def test_it_is_the_same_in_one_go_and_in_small_parts(fitted, monkeypatch):
    whole = fitted.look(documents(50), words=["film", "great"])
    monkeypatch.setattr(run, "chunks", partial(chunks, size=7))
    parts = fitted.look(documents(50), words=["film", "great"])
    assert parts.words[0].uses[0].bins == whole.words[0].uses[0].bins
    assert [entry.documents for entry in parts.classes] == [
        entry.documents for entry in whole.classes
    ]
    assert parts.spreads[0].bins == whole.spreads[0].bins


def test_several_labels_a_document_are_doubted_one_by_one(fitted_tags):
    texts, labels = tagged(30, seed=3)
    given = [
        Document(text, () if place == 4 else tuple(label))
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    given[4] = Document("We saw artword music. It was the film.", ("music",))
    found = fitted_tags.look(given)
    assert {entry.label for entry in found.classes} <= {"art", "music"}
    assert all(suspect.answer not in suspect.labels for suspect in found.suspects)


def test_a_word_that_the_model_does_not_know_is_said(fitted):
    with pytest.raises(ConfigError, match="no word 'graet'; did you mean 'great'"):
        fitted.look(documents(4), words=["graet"])
    with pytest.raises(ConfigError, match="choose a word of the training texts"):
        fitted.look(documents(4), words=["zzzzqqq"])


def test_nothing_to_look_through_is_said(fitted):
    with pytest.raises(DataError, match="no documents"):
        fitted.look([])
