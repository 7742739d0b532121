"""Learning from what readers marked."""

import random

import numpy as np
import pytest

from regard.errors import DataError
from regard.estimators.fitting import FitOptions, Reason
from regard.estimators.marked import (
    Alike,
    MarkedDocuments,
    measure_weight,
    reasons_in,
    reasons_in_column,
)
from regard.models.wide import WideConfig
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
    found = MarkedDocuments(lambda: documents, marks, TextConfig(), seed=0)
    after = tiny(**settings).fit_documents(list(found))
    assert found.found.sentences >= 0.95 * sum(map(bool, greetings))
    assert accuracy(after, flipped) >= 0.9 > accuracy(before, flipped)
    hung = [measure_weight(model.fitted_, marks)["irrelevant"] for model in (before, after)]
    assert hung[1] < hung[0]


def test_what_is_dealt_out_says_nothing_of_the_label():
    documents, greetings = planted(400, 1.0)
    found = list(
        MarkedDocuments(lambda: documents, mark(documents, greetings, 12), TextConfig(), seed=0)
    )
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
    one, other = (MarkedDocuments(lambda: documents, marks, TextConfig(), seed=3) for _ in range(2))
    assert list(one) == list(other) == list(one)


def test_the_reasons_in_a_text_become_a_text_of_their_own():
    documents, _ = planted(20, 0.5)
    elsewhere, here = "The plot is dull. The cast is fine.", documents[7].text
    marks = [
        Mark(elsewhere, 22, 34, "reason", "bad"),
        Mark(elsewhere, 0, 17, "reason", "bad"),
        Mark(elsewhere, 4, 12, "reason", "bad"),
        Mark(elsewhere, 18, 35, "reason", "good"),
        Mark(elsewhere, 0, 17, "reason", "neither good nor bad"),
        Mark(here, 0, 8, "reason", documents[7].label),
    ]
    found = MarkedDocuments(lambda: documents, marks, TextConfig(), seed=0)
    assert list(found) == documents
    assert found.reasons == [
        Reason(Document("The plot is dull.\ncast is fine", "bad")),
        Reason(Document("The cast is fine.", "good")),
        Reason(Document(here[:8], documents[7].label), 7),
    ]
    assert "the reasons marked in 3 texts" in found.found.describe()


def test_a_reason_has_a_label_of_the_kind_that_documents_have():
    mark = Mark("so dull", 3, 7, "reason", "3")
    for label, expected in ((3, 3), ("3", "3"), (("3", "new"), ("3",))):
        found = MarkedDocuments(
            lambda label=label: [Document("dull", label)], [mark], TextConfig(), seed=0
        )
        assert found.reasons == [Reason(Document("dull", expected))]


def test_reasons_are_read_out_of_a_column():
    text = "so dull, so very dull"
    cells = (
        [{"start_char": 9, "end_char": 21}, {"start_char": 0, "end_char": 7}],
        "[[0, 7]]",
        None,
    )
    documents = [Document(text, "bad", {"why": cell}) for cell in cells]
    documents.append(Document(text, None, {"why": [[0, 7]]}))
    assert reasons_in_column(documents, "why") == [
        Reason(Document("so dull\nso very dull", "bad"), 0),
        Reason(Document("so dull", "bad"), 1),
    ]
    with pytest.raises(DataError, match="no column 'other' of evidence; there are why"):
        reasons_in_column(documents, "other")


def test_reasons_can_be_given_beside_texts_and_labels():
    """Of two words that always stand together people mark one, and n-grams weigh it more."""
    texts, labels = ["one left", "two right"] * 20, [1, 2] * 20
    taught = tiny(wide=WideConfig(longest=1), progress=False)
    taught.fit(texts, labels, reasons=[[(0, 3)], []] * 20)
    ids = taught.vocab_.encode(["one left"]).ids
    table, weights = taught.model_.tables[0], taught.model_.parts[0].weights
    marked, unmarked = (weights[np.flatnonzero(table.keys == id)[0], 0] for id in ids)
    assert marked > 1.2 * unmarked > 0
    with pytest.raises(DataError, match="40 texts, but reasons for 1"):
        tiny(progress=False).fit(texts, labels, reasons=[[(0, 3)]])
    with pytest.raises(DataError, match="0:90 is no passage of text 1, which has 8 characters"):
        tiny(progress=False).fit(texts, labels, reasons=[[(0, 90)]] * 40)


def test_what_is_held_out_is_not_known_by_its_reasons():
    """Issue 17: documents held out were judged by models that had learnt their best passages."""
    draw = random.Random(0)
    texts = [f"the film was n{draw.random():.9f}" for _ in range(60)]
    labels = [draw.choice(["good", "bad"]) for _ in texts]  # which nothing tells
    documents = [Document(*one) for one in zip(texts, labels, strict=True)]
    reasons = [
        Reason(Document(text.split()[-1], label), place)
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    settings = {"training__epochs": 4, "progress": False, "text": TextConfig(min_count=1)}
    for count in (1, 3):  # a share held out, and folds
        model = tiny(**settings).set_params(validation=0.3 if count == 1 else 0.1)
        model.fit_documents(documents, options=FitOptions(reasons=reasons))
        assert float(model.facts_["validation_accuracy"]) <= 0.75
        assert model.facts_["training_documents"] + model.facts_["validation_documents"] <= 120


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
        MarkedDocuments(list, [], TextConfig(), seed=0)


def test_marks_about_unknown_labels_are_not_measured(fitted):
    assert measure_weight(fitted.fitted_, [Mark("a text", 0, 1, "reason", "other")]) == {}


@pytest.mark.parametrize("wrong", ["0:5", [3], [(0.5, 3)], [(0, 1, 2)], 7, [{"start": 0}]])
def test_what_is_no_reason_is_named_with_its_text(wrong):
    with pytest.raises(DataError, match=r"the reasons of text 2 must be a list of \(start, end\)"):
        reasons_in([Document("a film", "good")] * 2, [None, wrong])


def test_reasons_may_be_as_files_and_arrays_have_them():
    documents = [Document("a fine film", "good")] * 3
    given = [[{"start_char": 2, "end_char": 6}], np.array([[2, 6]]), [(np.int64(2), 6)]]
    assert {one.document.text for one in reasons_in(documents, given)} == {"fine"}
