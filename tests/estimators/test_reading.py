"""Texts of few words, most of them new, are read by letters where these tell more."""

import random

import pytest

from regard import DocumentClassifier
from regard.data.readers import read_texts
from regard.estimators.fitting import FitOptions
from regard.estimators.reading import settle_reading
from regard.text.document import Document
from regard.text.tokenize import TextConfig
from support.reviews import reviews, tiny

ENDINGS = {"salt": ("ite", "ate", "ide"), "drug": ("ol", "ine", "am")}


def names(count, seed=0):
    """Made-up names of substances, which end as names of their kind do; sorted by kind."""
    draw = random.Random(seed)
    found = []
    for kind, endings in ENDINGS.items():
        for _ in range(count // 2):
            stem = "".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(3))
            found.append((stem + draw.choice(endings), kind))
    return [name for name, _ in found], [kind for _, kind in found]


def settled(texts, labels, config=TextConfig()):  # noqa: B008  (frozen)
    """How the texts would be read, and the documents that are given back."""
    found, documents = settle_reading(read_texts(texts, labels), config)
    return found, [document.text for document in documents]


def test_names_are_read_by_their_letters():
    """Issue 13: words that nobody has met must stop being all alike."""
    texts, labels = names(400)
    config, back = settled(texts, labels)
    assert config == TextConfig(reading="letters") and back == texts


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        reviews(400),
        ([f"{word} text" for word in names(400)[0]], ["a", "b"] * 200),
        (names(30)[0], names(30)[1]),
        ([" ".join(names(10, seed)[0]) for seed in range(100)], ["a", "b"] * 50),
        (["很好吃", "不好看"] * 100, ["a", "b"] * 100),
        ([""] * 100, ["a", "b"] * 50),
        ([], []),
    ],
    ids=["known words", "labels by chance", "too few", "long", "characters", "empty", "none"],
)
def test_other_texts_are_read_by_words(texts, labels):
    config, back = settled(texts, labels)
    assert config == TextConfig() and back == texts


def test_what_is_asked_for_is_not_chosen():
    asked = TextConfig(reading="words")
    assert settled(*names(400), asked)[0] == asked


def test_several_labels_or_none_choose_nothing():
    texts, labels = names(400)
    several = [Document(text, (label,)) for text, label in zip(texts, labels, strict=True)]
    assert settle_reading(several, TextConfig())[0] == TextConfig()


def test_a_classifier_of_names_knows_names_that_it_has_never_met(tmp_path):
    texts, labels = names(400)
    usual = tiny(progress=False, training__epochs=4).fit(texts, labels)
    assert usual.settings_.text.reading == "letters" and usual.text.reading == "auto"
    new, truth = names(200, seed=1)
    by_words = tiny(progress=False, training__epochs=4, text__reading="words").fit(texts, labels)
    assert usual.score(new, truth) > 0.95 > by_words.score(new, truth) + 0.1
    (found,) = usual.explain([f"{new[0]} and {new[1]}"])
    words = found.decisions[0].level("word")
    assert [found.source[start:end] for start, end in words.pieces] == [new[0], "and", new[1]]
    (found,) = usual.explain([new[0]])
    assert found.spelt and len(found.decisions[0].level("word")) == len(new[0])
    assert "its letters are weighed" in found.to_html() and "spelt" in found.to_json()
    usual.save(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model")
    assert (again.predict_proba(new) == usual.predict_proba(new)).all()


def test_vectors_of_words_are_for_words(tmp_path):
    texts, labels = names(400)
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {' '.join(['0.1'] * 8)}\n" for word in texts))
    made = tiny(progress=False, network__embedding_size=8, training__epochs=1)
    made.fit_documents(read_texts(texts, labels), options=FitOptions(vectors=vectors))
    assert made.settings_.text.reading == "auto"
