"""Learning from what readers marked."""

import random

import numpy as np
import pytest

from regard.errors import DataError
from regard.estimators.marked import Alike, Marked, measure_weight
from regard.records.marks import Mark
from regard.text.document import Document
from regard.text.tokenize import TextConfig
from support.reviews import reviews, tiny

NAMES = ["anna", "ben", "carla", "david", "emma", "frank"]


def planted(count, share, *, seed=0):
    """Return documents whose label a greeting gives away in that share, and their greetings."""
    draw = random.Random(seed)
    documents, greetings = [], []
    for text, label in zip(*reviews(count, seed=seed), strict=True):
        has = draw.random() < (share if label == "good" else 1 - share)
        greeting = f"Sent by {draw.choice(NAMES)} from the north shop." if has else ""
        documents.append(Document(f"{text} {greeting}".strip(), label))
        greetings.append(greeting)
    return documents, greetings


def mark(documents, greetings, count):
    """Mark some greetings as a reader would."""
    found = []
    for document, greeting in zip(documents, greetings, strict=True):
        if greeting and len(found) < count:
            start = document.text.index(greeting)
            end = start + len(greeting)
            found.append(Mark(document.text, start, end, "irrelevant", document.label))
    return found


def accuracy(model, documents):
    answers = model.predict([document.text for document in documents])
    return np.mean(answers == np.array([document.label for document in documents]))


def test_a_few_marks_cure_a_model_of_a_false_cue():
    documents, greetings = planted(300, 0.99)
    flipped, _ = planted(100, 0.01, seed=1)
    settings = {"training__epochs": 4, "progress": False}
    before = tiny(**settings).fit_documents(documents)
    marks = mark(documents, greetings, 12)
    found = Marked(lambda: documents, marks, TextConfig(), seed=0)
    after = tiny(**settings).fit_documents(list(found))
    assert found.found.sentences >= 0.95 * sum(map(bool, greetings))
    assert accuracy(after, flipped) >= 0.9 > accuracy(before, flipped)
    hung = [measure_weight(model.fitted_, marks)["irrelevant"] for model in (before, after)]
    assert hung[1] < hung[0]


def test_what_is_dealt_out_says_nothing_of_the_label():
    documents, greetings = planted(400, 1.0)
    found = list(Marked(lambda: documents, mark(documents, greetings, 12), TextConfig(), seed=0))
    shares = {
        label: np.mean(["north shop" in one.text for one in found if one.label == label])
        for label in ("good", "bad")
    }
    assert shares["good"] == pytest.approx(0.5, abs=0.1)
    assert shares["bad"] == pytest.approx(0.5, abs=0.1)
    assert [one.label for one in found] == [one.label for one in documents]


def test_the_same_seed_deals_the_same_and_may_be_read_again():
    documents, greetings = planted(60, 0.9)
    marks = mark(documents, greetings, 5)
    one, other = (Marked(lambda: documents, marks, TextConfig(), seed=3) for _ in range(2))
    assert list(one) == list(other) == list(one)


def test_a_reason_becomes_a_text_of_its_own():
    documents, _ = planted(20, 0.5)
    reason = Mark("The plot is dull. The cast is fine.", 0, 17, "reason", "bad")
    found = Marked(lambda: documents, [reason], TextConfig(), seed=0)
    assert list(found) == [*documents, Document("The plot is dull.", "bad")]
    assert "1 reasons" in found.found.describe()


def test_one_marked_sentence_means_itself_alone():
    alike = Alike(["Sent from my phone."], ["Sent from my home.", "It was dull."])
    assert alike(["sent  from my phone.", "Sent from my home.", "It was dull."]) == [
        True,
        False,
        False,
    ]


def test_rare_words_do_not_make_sentences_alike():
    alike = Alike(
        ["Sent by anna.", "Sent by ben."], [f"word{n} and word{n + 1}." for n in range(50)]
    )
    assert alike(["Sent by carla.", "word3 and word7.", "never seen words"]) == [True, False, False]


def test_no_marks_are_an_error():
    with pytest.raises(DataError, match="no marks"):
        Marked(list, [], TextConfig(), seed=0)


def test_marks_about_unknown_labels_are_not_measured(fitted):
    assert measure_weight(fitted.fitted_, [Mark("a text", 0, 1, "reason", "other")]) == {}
