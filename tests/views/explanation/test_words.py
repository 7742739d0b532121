"""What every view says beside the text."""

from dataclasses import replace

import pytest

from regard.records.explanation import Decision
from regard.records.weights import Weights
from regard.views.explanation.page import render
from regard.views.explanation.words import (
    groups,
    heavy_words,
    is_right,
    notes,
    opposing_words,
    tell_finding,
    tell_spread,
)


def test_a_word_is_listed_once_where_it_counts_most(explain):
    made = explain("Good film. good end.")
    weights = made.decisions[0].importance()
    found = heavy_words(made, made.decisions[0], count=9)
    assert [word.text.lower() for word in found].count("good") == 1
    (word,) = [word for word in found if word.text.lower() == "good"]
    assert word.weight == max(weights.values[0], weights.values[3])
    assert [word.weight for word in found] == sorted((word.weight for word in found), reverse=True)
    assert heavy_words(made, made.decisions[0], count=2) == found[:2]


def test_words_against_the_label_have_a_list_of_their_own(explain, scored):
    made = scored("Dull film, a brilliant end. Nobody left, Dull or not.")
    (decision,) = made.decisions
    speaking, opposing = heavy_words(made, decision), opposing_words(made, decision)
    assert opposing[0].text == "Dull" and opposing[0].weight == -0.9
    assert all(word.weight > 0 for word in speaking) and all(word.weight < 0 for word in opposing)
    assert [word.weight for word in opposing] == sorted(word.weight for word in opposing)
    attention = explain("Dull film.")
    assert opposing_words(attention, attention.decisions[0]) == []


def test_even_weights_are_said_to_be_even():
    pieces = tuple((place, place + 1) for place in range(10))
    words = Weights("word", pieces, (0.1,) * 10)
    assert tell_spread(Decision("x", 0.9, (words,))) == "Half of the weight lies on 5 of 10 words."
    sentence = Weights("sentence", ((0, 10),), (1.0,))
    assert tell_spread(Decision("x", 0.9, (words, sentence))) == (
        "Half of the weight lies on 5 of 10 words and 1 of 1 sentence."
    )
    assert tell_spread(Decision("x", 0.9, ())) == ""


def test_decisions_are_grouped_by_their_weights(explain):
    first = explain("One. Two.").decisions[0]
    other = explain("One. Two.", seed=1).decisions[0]
    made = replace(explain("One. Two."), decisions=(first, other, replace(first, label="again")))
    assert [[decision.label for decision in group] for group in groups(made)] == [
        ["positive", "again"],
        ["positive"],
    ]


@pytest.mark.parametrize(
    ("truth", "label", "expected"),
    [
        (("positive",), "positive", True),
        (("negative",), "positive", False),
        (("negative",), "negative", None),  # asked about the label that was not the answer
        (("positive", "negative"), "positive", None),
        ((), "positive", None),
        (None, "positive", None),
    ],
)
def test_an_answer_is_right_only_where_that_can_be_said(explain, truth, label, expected):
    made = replace(explain("One."), true_labels=truth)
    assert is_right(made, [replace(made.decisions[0], label=label)]) is expected


@pytest.mark.parametrize(
    ("shares", "truth", "shown", "expected"),
    [
        ((0.3, 0.1), ("a",), "a", False),  # the model gives none
        ((0.3, 0.1), (), "a", True),
        ((0.9, 0.8), ("a",), "a", True),
        ((0.9, 0.8), ("a",), "b", False),
        ((0.9, 0.8), ("a",), "ab", None),
        ((0.9, 0.8), ("a", "b"), "ab", True),
        ((0.9, 0.1), ("a",), "b", None),
    ],
)
def test_of_several_labels_each_is_right_by_itself(explain, shares, truth, shown, expected):
    made = replace(
        explain("One."),
        probabilities=tuple(zip("ab", shares, strict=True)),
        true_labels=truth,
        several=True,
    )
    decisions = [replace(made.decisions[0], label=label) for label in shown]
    assert is_right(made, decisions) is expected


def test_a_text_that_is_given_no_label_is_told(explain):
    """Of several labels none may hold: then the likeliest is explained, and is no answer."""
    shares = (("a", 0.3), ("b", 0.1))
    decision = replace(explain("One.").decisions[0], label="a", probability=0.3)
    made = replace(explain("One."), decisions=(decision,), probabilities=shares, several=True)
    assert made.answered == ()
    assert "No label is given: none is likelier than not." in made.to_text(width=200)
    page = render([made, made])
    assert page.count("No label is given") == 2 and page.count("<bdi>no label</bdi>") == 2
    assert "No label is given" not in replace(made, several=False).to_text()
    assert tell_finding(made, decision).startswith("No label is given: none is likelier than not. ")
    assert tell_finding(replace(made, several=False), decision).startswith("Half of the weight")


def test_contents_list_every_label_that_is_given(explain):
    first = replace(explain("One.").decisions[0], label="a", probability=0.9)
    decisions = (first, replace(first, label="b<", probability=0.7))
    shares = (("a", 0.9), ("b<", 0.7), ("c", 0.1))
    made = replace(explain("One."), decisions=decisions, probabilities=shares, several=True)
    assert "<bdi>a, b&lt;</bdi></a> 90.0 %, 70.0 % <span>" in render([made, made])


def test_what_was_only_estimated_is_said(explain):
    made = explain("A dull end. I left.")
    words, sentences = made.decisions[0].weights
    decision = replace(made.decisions[0], weights=(replace(words, measured=1200), sentences))
    (said,) = [line for line in notes(made, decision) if "estimated" in line]
    assert "the 1,200 that seemed to count most were taken away one by one" in said
    assert not any("estimated" in line for line in notes(made, made.decisions[0]))


def test_what_is_listed_is_what_was_weighed(explain):
    """Two words that touch, as all do in Chinese, stay two."""
    made = explain("房间很干净")
    words = made.decisions[0].weights[0]
    spans, values = ((0, 2), (2, 3), (3, 5)), (0.1, 0.4, 0.5)
    one = replace(words, pieces=spans, values=values, by="document", hops=())
    found = heavy_words(made, replace(made.decisions[0], weights=(one,)), count=2)
    assert [(word.text, word.weight) for word in found] == [("干净", 0.5), ("很", 0.4)]
    telling = heavy_words(made, replace(made.decisions[0], weights=(one,)), telling=True)
    assert [word.text for word in telling] == ["干净", "房间"]
