"""Words that are not in a classifier's vocabulary: read as others, and told to be so."""

import itertools
import json

import numpy as np
import pytest

from regard import DocumentClassifier
from regard.estimators.folder import seal
from regard.text.vocab import UNKNOWN
from support.reviews import reviews, tiny

TEXTS, LABELS = reviews(60, seed=5)
CUES = {"good": "splendid", "bad": "tedious"}
LONG = [f"{text} {CUES[label]}" for text, label in zip(TEXTS, LABELS, strict=True)]


@pytest.fixture(scope="module")
def fitted():
    return tiny(training__epochs=2).fit(LONG, LABELS)


def test_a_classifier_reads_unknown_words_as_known_ones(fitted, tmp_path):
    """Issue 13: words out of the vocabulary are no longer all one id."""
    assert fitted.settings_.text.unknown == "alike"
    asked = ["Splendidly!", "Splendid!"]
    answers = fitted.predict_proba(asked)
    assert np.array_equal(answers[0], answers[1])
    assert not np.array_equal(fitted.predict_proba(["Xylophones!"])[0], answers[0])
    fitted.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    assert np.array_equal(loaded.predict_proba(asked), answers)


def test_an_explanation_says_which_words_were_read_as_others(fitted):
    found = fitted.explain(["Splendidly xylophones, splendid!"])[0]
    assert found.unknown[:2] == ((0, 10), (11, 21)), "neither is in the vocabulary"
    assert found.read_as == (((0, 10), "splendid"),)
    assert "Splendidly" in {piece.text for piece in found.words()}, "the word of the text"
    note = "are read as known ones that are spelt alike: 'Splendidly' as 'splendid'."
    assert note in found.to_text(400) and note.replace("'", "&#x27;") in found.to_html()
    assert "not in the vocabulary&#10;read as splendid" in found.to_html()
    assert not fitted.explain(["Splendid xylophones!"])[0].read_as


def test_a_folder_from_before_reads_unknown_words_as_one(fitted, tmp_path):
    """Models that were saved before answer exactly as they did."""
    fitted.save(tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    about = json.loads(config.read_text())
    assert about["text"].pop("unknown") == "alike"
    config.write_text(json.dumps(about))
    seal(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    assert loaded.reader_.vocab.encode(["splendidly"]).ids.tolist() == [UNKNOWN]
    assert not loaded.explain(["splendidly"])[0].read_as


def test_where_many_words_are_new_they_are_read_as_the_nearest(tmp_path):
    own = map("".join, itertools.product("vwyz", repeat=5))
    many = [f"{text} {next(own)} {next(own)} {next(own)}" for text in LONG]
    fitted = tiny(training__epochs=2).fit(many, LABELS)
    assert fitted.settings_.text.unknown == "nearest"
    asked = ["Suursplendid talo", "Suurtedious talo"]
    read = fitted.explain(asked)
    assert [one.read_as for one in read] == [(((0, 12), "splendid"),), (((0, 11), "tedious"),)]
    assert "spelt alike: 'Suursplendid' as 'splendid'." in read[0].to_text(400)
    fitted.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    assert np.array_equal(loaded.predict_proba(asked), fitted.predict_proba(asked))
    assert loaded.settings_.text.unknown == "nearest"


def test_it_can_be_switched_off():
    alone = tiny(training__epochs=1, text__unknown="one").fit(LONG, LABELS)
    assert alone.reader_.vocab.encode(["splendidly"]).ids.tolist() == [UNKNOWN]
