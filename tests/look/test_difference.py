import random
from dataclasses import replace

import pytest

from regard import ConfigError, DataError, Document
from regard.look import difference
from regard.look.difference import Comparison, compare, overlap
from regard.records.explanation import Decision, Explanation
from regard.records.look import Difference
from regard.records.weights import Weights
from support.reviews import reviews, tiny

TEXTS, LABELS = reviews(40, seed=9)
DOCUMENTS = [Document(*pair) for pair in zip(TEXTS, LABELS, strict=True)]


@pytest.fixture(scope="module")
def other():
    """Return a classifier that has learned the wrong way round from half of the documents."""
    texts, labels = reviews(80)
    turned = ["good" if label == "bad" else "bad" for label in labels]
    return tiny(training__seed=5).fit(texts, turned)


def test_a_model_does_not_differ_from_itself(fitted):
    found = compare(fitted, fitted, DOCUMENTS)
    assert not found and found.documents == 40
    assert found.mean_overlap == pytest.approx(1)
    assert found.overlaps == (0,) * 19 + (40,)


def test_every_document_with_another_label_is_listed(fitted, other):
    found = compare(fitted, other, DOCUMENTS, Comparison(least_overlap=0.0))
    before, after = fitted.predict(TEXTS), other.predict(TEXTS)
    changed = [place for place in range(40) if before[place] != after[place]]
    assert sorted(change.index for change in found.changes) == changed
    assert found.label_changes == len(changed) > 30 and found.reason_changes == 0
    right = {True: 0, False: 0}
    for place in changed:
        right[after[place] == LABELS[place]] += 1
    assert (found.corrected, found.broken) == (right[True], right[False])


def test_the_overlap_is_that_of_the_reasons_about_the_same_label(fitted, other):
    found = compare(fitted, other, DOCUMENTS, Comparison(method="gradient_input"))
    change = found.changes[0]
    text = TEXTS[change.index]
    old = fitted.explain(text, method="gradient_input")
    new = other.explain(text, method="gradient_input", label=old.label)
    assert change.label_changed
    assert change.overlap == pytest.approx(overlap(old, new), abs=1e-6)


def test_other_reasons_for_the_same_label_are_listed_below_the_threshold(fitted):
    longer = tiny(training__seed=3).fit(*reviews(80))
    every = compare(fitted, longer, DOCUMENTS, Comparison(least_overlap=1.0))
    assert every.reason_changes > 20
    shares = [change.overlap for change in every.changes if not change.label_changed]
    assert shares == sorted(shares)
    middle = shares[len(shares) // 2]
    some = compare(fitted, longer, DOCUMENTS, Comparison(least_overlap=middle))
    assert some.reason_changes == sum(share < middle for share in shares)


def test_only_the_shown_changes_keep_explanations(fitted, other, monkeypatch):
    monkeypatch.setattr(difference, "CHUNK", 3)
    found = compare(fitted, other, DOCUMENTS, Comparison(shown=2))
    kept = [change.old.explanation is not None for change in found.changes]
    assert kept == [True] * 2 + [False] * (len(kept) - 2)
    assert found.changes[0].old.explanation.true_labels == found.changes[0].true_labels
    for change in found.changes[:2]:  # and each says how faithful it is
        assert change.old.explanation.receipt and change.new.explanation.receipt
        assert change.old.explanation.label == change.old.labels[0]
    assert Difference.from_json(found.to_json()) == found
    unshown = replace(found, changes=found.changes[2:])
    assert all(change.start for change in unshown.changes)


def test_labels_that_the_other_model_lacks_are_named(fitted):
    texts, labels = reviews(60, classes=("bad", "fair", "fine"))
    three = tiny(training__epochs=1).fit(texts, labels)
    found = compare(fitted, three, DOCUMENTS[:4], Comparison(least_overlap=0.0))
    assert (found.only_old, found.only_new) == (("good",), ("fair", "fine"))
    assert Difference.from_json(found.to_json()) == found
    same = compare(fitted, fitted, DOCUMENTS[:4])
    assert (same.only_old, same.only_new) == ((), ())


def test_models_that_share_no_label_are_not_compared(fitted):
    stars = tiny(training__epochs=1).fit(*reviews(60, classes=(1, 5)))
    told = "old and new share no label: old has bad, good, new has 1, 5; compare models that"
    with pytest.raises(ConfigError, match=told):
        compare(fitted, stars, DOCUMENTS)


def test_documents_without_labels_are_neither_mended_nor_broken(fitted, other):
    found = compare(fitted, other, [Document(text) for text in TEXTS])
    assert found and (found.corrected, found.broken) == (0, 0)


def test_several_labels_are_compared_as_sets(fitted_tags):
    found = compare(fitted_tags, fitted_tags, [Document("We saw artword."), Document("")])
    assert not found and found.documents == 2


def test_wrong_questions_are_said(fitted):
    with pytest.raises(DataError, match="no documents"):
        compare(fitted, fitted, [])
    with pytest.raises(ConfigError, match="least_overlap"):
        Comparison(least_overlap=2.0)
    with pytest.raises(ConfigError, match="method"):
        compare(fitted, fitted, DOCUMENTS, Comparison(method="attentoin"))


TEXT = "one two three four"
SPANS = ((0, 3), (4, 7), (8, 13), (14, 18))


def explained(values, spans=SPANS, *, signed=False):
    words = Weights("word", spans, tuple(values))
    if signed:
        words = Weights.from_scores("word", spans, values, unit="probability")
    return Explanation(TEXT, "attention", (Decision("a", 0.9, (words,)),))


def test_overlap_is_the_weight_that_both_put_on_the_same_words():
    draw = random.Random(0)
    for _ in range(20):
        first, second = ([draw.random() for _ in SPANS] for _ in range(2))
        one, two = ([value / sum(row) for value in row] for row in (first, second))
        plain = sum(map(min, one, two))
        assert overlap(explained(one), explained(two)) == pytest.approx(plain)


def test_the_same_reasons_overlap_wholly_and_others_not_at_all():
    assert overlap(explained([1, 0, 0, 0]), explained([1, 0, 0, 0])) == pytest.approx(1)
    assert overlap(explained([1, 0, 0, 0]), explained([0, 1, 0, 0])) == 0


def test_words_cut_otherwise_can_be_compared():
    halves = ((0, 3), (4, 7), (8, 10), (10, 13), (14, 18))
    first, second = explained([0, 0, 1, 0]), explained([0, 0, 0.4, 0.6, 0], halves)
    assert overlap(first, second) == pytest.approx(1)


def test_for_and_against_are_not_the_same_reason():
    first = explained((0.5, 0.0, -0.5, 0.0), signed=True)
    second = explained((0.5, 0.0, 0.5, 0.0), signed=True)
    assert overlap(first, second) == pytest.approx(0.5)
    assert overlap(first, first) == pytest.approx(1)


def test_no_reasons_at_all_agree_with_each_other_alone():
    none = explained([0, 0, 0, 0])
    assert overlap(none, none) == 1
    assert overlap(none, explained([1, 0, 0, 0])) == 0
    empty = Explanation("", "attention", (Decision("a", 0.5, ()),))
    assert overlap(empty, empty) == 1


def test_sentences_stand_in_where_words_are_not_weighed():
    sentences = Weights("sentence", ((0, 7), (8, 18)), (0.25, 0.75))
    one = replace(explained([1, 0, 0, 0]), decisions=(Decision("a", 0.9, (sentences,)),))
    assert overlap(one, one) == pytest.approx(1)


def test_texts_must_be_the_same():
    with pytest.raises(DataError, match="same text"):
        overlap(explained([1, 0, 0, 0]), replace(explained([1, 0, 0, 0]), source=TEXT + "."))
