"""Another attention over the same states: flips, permutations, adversaries, even shares, seeds."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.audit.attention import (
    BOUND,
    PERMUTATIONS,
    Flips,
    SingleFlip,
    count_flips,
    jensen_shannon,
    last_attention,
    measure_adversary,
    measure_permutations,
    measure_stability,
    shares,
    total_variation,
    weigh_evenly,
)
from regard.records.audit import FlipTable
from regard.records.explanation import Decision
from regard.records.weights import Weights
from support.questions import CONFIGS, TEXTS, asked, bag, built

NAMES = ["han", "flat", "cahan", "flow", "glass box"]


def one(name, text=TEXTS[0], **options):
    """The last attention of one text, and the answers."""
    answers = asked(built(CONFIGS[name]), [text], **options)
    (attention,) = last_attention(answers)
    return answers, attention


def imposed(answers, weights):
    """Ask the whole model again with these weights in its last layer, (classes,)."""
    name = answers.output.attention[-1].name
    with torch.no_grad():
        logits = answers.model(answers.batch, impose={name: weights}).logits
    return answers.likely(logits)[0]


@pytest.mark.parametrize("name", NAMES)
def test_its_own_weights_give_its_own_answer(name):
    answers, attention = one(name)
    assert attention.unit == ("token" if name == "flat" else "sentence")
    found = attention.likely(attention.weights[None])
    torch.testing.assert_close(found, answers.probabilities, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_other_weights_are_imposed_on_the_whole_model(name):
    answers, attention = one(name)
    draw = torch.Generator().manual_seed(0)
    rows = torch.softmax(torch.randn(5, attention.count, generator=draw), 1)
    found = attention.likely(rows)
    for row, likely in zip(rows, found, strict=True):
        torch.testing.assert_close(likely, imposed(answers, row), atol=1e-6, rtol=0)


def test_a_model_without_attention_has_none():
    assert last_attention(asked(bag({"dull": 1.0}))) is None


def test_shares_sum_to_one_and_nothing_becomes_even():
    found = shares(torch.tensor([[1.0, 3.0], [0.0, 0.0]]))
    assert found.tolist() == [[0.25, 0.75], [0.5, 0.5]]


@pytest.mark.parametrize("name", ["han", "flat"])
def test_single_flips_are_those_of_the_model_itself(name):
    answers, attention = one(name)
    number = answers.chosen[0][0]
    found = Flips(answers, attention, number=number, seed=0).single()
    weights = attention.weights.clone()
    weights[weights.argmax()] = 0
    likely = imposed(answers, weights / weights.sum())
    assert found.top == (int(likely.argmax()) != number)


@pytest.mark.parametrize("name", ["han", "flat"])
def test_flip_fraction_is_the_first_prefix_that_flips(name):
    answers, attention = one(name)
    number, amounts = answers.chosen[0][0], np.random.default_rng(1).random(attention.count)
    found = Flips(answers, attention, number=number, seed=0).fraction(amounts)["flip_fraction"]
    expected = 1.0
    for count in range(1, attention.count):
        weights = attention.weights.clone()
        weights[np.argsort(-amounts)[:count].tolist()] = 0
        if int(imposed(answers, weights / weights.sum()).argmax()) != number:
            expected = count / attention.count
            break
    assert found.value == pytest.approx(expected)


def test_one_unit_has_nothing_to_compare_with():
    answers, attention = one("han", "One")
    flips = Flips(answers, attention, number=0, seed=0)
    assert flips.single() is None and flips.fraction(np.ones(1)) == {}
    assert measure_permutations(attention) == {} and measure_adversary(attention) == {}


def test_the_four_cases_are_counted():
    cases = [SingleFlip(True, True), SingleFlip(True, False), SingleFlip(True, False)]
    cases += [SingleFlip(False, True)] + [SingleFlip(False, False)] * 4
    assert count_flips("sentence", cases) == FlipTable("sentence", 1, 2, 1, 4)


def test_permuting_is_the_median_over_permutations():
    """Against the model itself, one permutation after the other."""
    answers, attention = one("han")
    draw = np.random.default_rng([0, attention.count])
    rows = draw.permuted(np.tile(np.arange(attention.count), (PERMUTATIONS, 1)), axis=1)
    moved = [
        float((imposed(answers, attention.weights[row]) - answers.probabilities[0]).abs().sum() / 2)
        for row in map(torch.from_numpy, rows)
    ]
    found = measure_permutations(attention)["permutation_change"]
    assert found.value == pytest.approx(float(np.median(moved)), abs=1e-6)


def test_divergence_is_bounded_and_known():
    one_hot, other = torch.tensor([1.0, 0.0]).double(), torch.tensor([0.0, 1.0]).double()
    assert float(jensen_shannon(one_hot, other)) == pytest.approx(BOUND)
    assert float(jensen_shannon(one_hot, one_hot)) == 0.0
    even = torch.tensor([0.5, 0.5]).double()
    expected = 0.5 * math.log(1 / 0.75) + 0.5 * (0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(2))
    assert float(jensen_shannon(one_hot, even)) == pytest.approx(expected)
    assert float(total_variation(one_hot, even)) == pytest.approx(0.5)


def test_where_attention_does_not_matter_the_adversary_goes_far():
    """The same word everywhere: any attention gives the same answer, so one unit can have all."""
    _answers, attention = one("glass box", "Dull. " * 8)
    found = measure_adversary(attention)["adversarial_jsd"]
    one_hot = torch.eye(attention.count).double()
    furthest = float(jensen_shannon(one_hot, attention.weights.double()).max())
    assert 0.9 * furthest <= found.value <= furthest + 1e-9
    assert found.value >= found.baseline


@pytest.mark.parametrize("name", ["han", "flat"])
def test_the_adversary_keeps_to_the_bound(name):
    """With answers that hang on the attention it finds less than the bound of the divergence."""
    _answers, attention = one(name)
    found = measure_adversary(attention)["adversarial_jsd"]
    assert 0 <= found.baseline <= found.value < BOUND


@pytest.mark.parametrize("name", [*NAMES, "structured"])
def test_even_attention_is_one_over_the_length_everywhere(name):
    answers = asked(built(CONFIGS[name]))
    even = {}
    for layer in answers.output.attention:
        rows = [torch.full_like(row, 1 / max(len(row), 1)) for row in layer.weights.rows()]
        even[layer.name] = torch.cat(rows)
    with torch.no_grad():
        expected = answers.likely(answers.model(answers.batch, impose=even).logits)
    torch.testing.assert_close(weigh_evenly(answers), expected, atol=1e-6, rtol=0)


def test_mean_pooling_has_no_gap_to_even_attention():
    config = replace(CONFIGS["han"], pooling="mean")
    answers = asked(built(config))
    torch.testing.assert_close(weigh_evenly(answers), answers.probabilities, atol=1e-6, rtol=0)


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
    """004-15: how far the attention of another seed differs; 0 where it does not."""
    one = decided([0.5, 0.5], [0.4, 0.3, 0.2, 0.1])
    found = measure_stability(one, one)
    assert found["stability_jsd"].value == 0.0
    assert found["stability_overlap"].value == 1.0
    assert found["stability_overlap"].baseline == pytest.approx(3 / 4)


def test_attention_on_other_words_is_as_far_as_can_be():
    found = measure_stability(decided([1.0, 0.0], [0.9, 0.1]), decided([0.0, 1.0], [0.1, 0.9]))
    assert found["stability_jsd"].value == pytest.approx(BOUND)
    assert found["stability_overlap"].value == 1.0, "both of two sentences are among the first"


def test_top_sentences_that_differ_are_counted():
    one = decided([1.0], [0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    other = decided([1.0], [0.3, 0.05, 0.1, 0.1, 0.25, 0.2])
    assert measure_stability(one, other)["stability_overlap"].value == pytest.approx(1 / 3)


def test_words_that_only_one_model_read_weigh_nothing_for_the_other():
    found = measure_stability(decided([1.0], [1.0]), decided([0.5, 0.5], [0.5, 0.5]))
    assert 0 < found["stability_jsd"].value < BOUND


def test_nothing_to_compare_is_no_measure():
    assert measure_stability(decided([], []), decided([], [])) == {}
