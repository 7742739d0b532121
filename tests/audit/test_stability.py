import pytest

from regard.audit.divergence import BOUND
from regard.audit.stability import stability
from regard.records.explanation import Decision
from regard.records.weights import Weights

SPANS = tuple((2 * place, 2 * place + 1) for place in range(8))


def decided(words, sentences, spans=SPANS):
    return Decision(
        "a",
        0.9,
        (
            Weights("word", tuple(spans[: len(words)]), tuple(words)),
            Weights("sentence", tuple(spans[: len(sentences)]), tuple(sentences)),
        ),
    )


def test_the_same_attention_is_stable():
    one = decided([0.5, 0.5], [0.4, 0.3, 0.2, 0.1])
    found = stability(one, one)
    assert found["stability_jsd"].value == 0.0
    assert found["stability_overlap"].value == 1.0
    assert found["stability_overlap"].baseline == pytest.approx(3 / 4)


def test_attention_on_other_words_is_as_far_as_can_be():
    found = stability(decided([1.0, 0.0], [0.9, 0.1]), decided([0.0, 1.0], [0.1, 0.9]))
    assert found["stability_jsd"].value == pytest.approx(BOUND)
    assert found["stability_overlap"].value == 1.0, "both of two sentences are among the first"


def test_top_sentences_that_differ_are_counted():
    one = decided([1.0], [0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    other = decided([1.0], [0.3, 0.05, 0.1, 0.1, 0.25, 0.2])
    assert stability(one, other)["stability_overlap"].value == pytest.approx(1 / 3)


def test_words_that_only_one_model_read_weigh_nothing_for_the_other():
    found = stability(decided([1.0], [1.0]), decided([0.5, 0.5], [0.5, 0.5]))
    assert 0 < found["stability_jsd"].value < BOUND


def test_nothing_to_compare_is_no_measure():
    assert stability(decided([], []), decided([], [])) == {}
