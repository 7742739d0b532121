"""Gradient methods against the formula by hand, and against Captum."""

from dataclasses import replace

import pytest
import torch

from regard.data.batch import Batch
from regard.explain import gradients
from regard.explain.gradients import (
    TOLERANCE,
    integrate_gradients,
    integrated,
    log_odds,
    multiply_attention_by_gradient,
    multiply_gradient_by_input,
)
from regard.models.han import HANConfig
from regard.ragged import Ragged
from support.questions import CONFIGS, SMALL, TEXTS, asked, bag, built

WORTH = {"dull": 1.5, "brilliant": -2.0, "left": 0.25}


def scores(found, level="word"):
    """The scores of every document, laid end to end."""
    return [score for one in found for score in one.decisions[0].level(level).scores]


def worth(answers):
    """What each word of a linear bag is worth."""
    words = [word.lower() for text in answers.batch.texts for word in text.words()]
    return [WORTH.get(word, 0.0) for word in words]


def log_odds_by_hand(answers, vectors, batch, number):
    """log p / (1 - p) of one class, from the probabilities themselves, in double precision."""
    logits = answers.model.from_vectors(batch.ids.with_values(vectors), batch).logits.double()
    if answers.multilabel:
        likely = torch.sigmoid(logits / answers.temperature)
    else:
        likely = torch.softmax(logits / answers.temperature, 1)
    return torch.log(likely[:, number]) - torch.log1p(-likely[:, number])


@pytest.mark.parametrize("method", [multiply_gradient_by_input, integrate_gradients])
@pytest.mark.parametrize("multilabel", [False, True])
def test_in_a_linear_bag_a_word_is_worth_its_own_number(method, multilabel):
    answers = asked(bag(WORTH), multilabel=multilabel, chosen=(1,), temperature=2.0)
    expected = [value / 2 for value in worth(answers)]
    assert scores(method(answers)) == pytest.approx(expected, abs=1e-5)
    if not multilabel:
        other = method(replace(answers, chosen=((0,),) * len(TEXTS)))
        assert scores(other) == pytest.approx([-value for value in expected], abs=1e-5)


@pytest.mark.parametrize("method", [multiply_gradient_by_input, integrate_gradients])
def test_a_sentence_has_the_sum_over_its_words(method):
    answers = asked(bag(WORTH), chosen=(1,))
    worths = torch.tensor(worth(answers)).split(answers.batch.ids.host_lengths)
    expected = [float(row.sum()) for row in worths]
    assert scores(method(answers), "sentence") == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("multilabel", [False, True])
def test_log_odds_are_those_of_the_probabilities(multilabel):
    answers = asked(built(CONFIGS["han"], label_count=3), multilabel=multilabel, temperature=0.7)
    numbers = torch.tensor([2, 0, 1, 1])
    likely = answers.probabilities.gather(1, numbers[:, None])[:, 0]
    found = log_odds(answers.output.logits.double(), numbers, answers)
    torch.testing.assert_close(found, torch.log(likely / (1 - likely)), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("multilabel", [False, True])
def test_gradient_input_is_the_slope_along_each_vector(name, multilabel):
    model = built(CONFIGS[name], label_count=3)
    answers = asked(model, multilabel=multilabel, temperature=1.3, chosen=(2,))
    batch = answers.batch
    vectors = model.embedding(batch.ids.values).detach().requires_grad_()
    log_odds_by_hand(answers, vectors, batch, 2).sum().backward()
    expected = (vectors.grad * vectors).sum(1).tolist()
    assert scores(multiply_gradient_by_input(answers)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["han", "flat", "cahan", "flow"])
def test_integrated_gradients_are_the_mean_slope_on_the_way_from_zero(name):
    """Against many small steps, one document and one step at a time."""
    model = built(CONFIGS[name], label_count=3)
    answers = asked(model, TEXTS[:1], chosen=(1,))
    batch = answers.batch
    vectors = model.embedding(batch.ids.values).detach()
    total = torch.zeros_like(vectors)
    for step in range(100):
        along = (vectors * (step + 0.5) / 100).requires_grad_()
        log_odds_by_hand(answers, along, batch, 1).sum().backward()
        total += along.grad / 100
    expected = (total * vectors).sum(1).tolist()
    found = scores(integrate_gradients(answers))
    assert found == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("name", CONFIGS)
def test_integrated_gradients_add_up(name):
    """Completeness: the scores of a document sum to how far its answer is from that of zeros."""
    model = built(CONFIGS[name], label_count=3)
    answers = asked(model, chosen=(0,))
    batch = answers.batch
    vectors = model.embedding(batch.ids.values).detach()
    with torch.no_grad():
        moved = log_odds_by_hand(answers, vectors, batch, 0)
        moved = moved - log_odds_by_hand(answers, torch.zeros_like(vectors), batch, 0)
    for one, expected in zip(integrate_gradients(answers), moved.tolist(), strict=True):
        total = sum(one.decisions[0].level("word").scores)
        assert total == pytest.approx(expected, abs=TOLERANCE * abs(expected) + 2e-3)


def test_the_way_is_looked_at_closer_only_where_it_does_not_add_up(monkeypatch):
    model = built(HANConfig(**SMALL, pooling="max"))
    taken = []

    def counted(answers, batch, numbers, begins, ends):
        taken.append((begins.tolist(), ends.tolist()))
        first = 0.5 if len(taken) == 1 else 1.0
        return first * integrated(answers, batch, numbers, begins, ends)

    monkeypatch.setattr(gradients, "integrated", counted)
    answers = asked(model)
    found = integrate_gradients(answers)
    assert taken[0] == ([0.0] * len(TEXTS), [1.0] * len(TEXTS))
    halves = len(taken[1][0]) // 2
    assert 0 < halves < len(TEXTS), "not the empty document"
    assert taken[1] == ([0.0] * halves + [0.5] * halves, [0.5] * halves + [1.0] * halves)
    monkeypatch.undo()
    assert scores(found) == pytest.approx(scores(integrate_gradients(answers)), abs=0.05)


def test_they_add_up_where_attention_passes_sharply_from_one_word_to_another():
    """Points spread evenly over the way missed such a turn, however many there were."""
    model = built(CONFIGS["han"], label_count=3)
    with torch.no_grad():
        model.words.pooling.query.mul_(400)
        model.sentences.pooling.query.mul_(400)
        model.embedding.weight.mul_(3)
        model.classify.weight.mul_(20)
    answers = asked(model, chosen=(0,))
    ways = gradients._whole_ways(answers, torch.zeros(len(TEXTS), dtype=torch.int64))
    for one, expected in zip(
        integrate_gradients(answers), (ways.after - ways.before).tolist(), strict=True
    ):
        total = sum(one.decisions[0].level("word").scores)
        assert total == pytest.approx(expected, abs=2 * TOLERANCE * abs(expected) + 2e-3)


@pytest.mark.parametrize("name", ["han", "flat", "cahan", "structured"])
def test_attention_gradient_is_weight_times_slope(name):
    """By finite differences: how far the answer moves when one weight grows, the others given."""
    model = built(CONFIGS[name], label_count=3).double()
    answers = asked(model, TEXTS[:1], chosen=(2,))
    found = multiply_attention_by_gradient(answers)
    for layer in answers.output.attention:
        weights = layer.weights.values

        def answer(given, name=layer.name):
            with torch.no_grad():
                logits = model(answers.batch, impose={name: given}).logits
            return float(log_odds(logits, torch.tensor([2]), answers)[0])

        products = torch.zeros_like(weights)
        for place in torch.cartesian_prod(*(torch.arange(size) for size in weights.shape)):
            step = torch.zeros_like(weights)
            step[tuple(place.view(-1))] = 1e-5
            slope = (answer(weights + step) - answer(weights - step)) / 2e-5
            products[tuple(place.view(-1))] = slope * weights[tuple(place.view(-1))]
        expected = products if products.ndim == 1 else products.sum(1)
        level = "word" if layer.over == "token" else "sentence"
        assert scores(found, level) == pytest.approx(expected.tolist(), abs=1e-6)


@pytest.mark.parametrize("name", ["han", "flat", "cahan", "flow"])
@pytest.mark.parametrize("method", [multiply_gradient_by_input, integrate_gradients])
def test_captum_finds_the_same(name, method, monkeypatch):
    """An independent implementation agrees to 1e-4."""
    attr = pytest.importorskip(
        "captum.attr", reason="captum is compared with where it is installed"
    )
    model = built(CONFIGS[name], label_count=3)
    answers = asked(model, TEXTS[:1], chosen=(1,))
    batch = answers.batch

    def forward(vectors):  # (copies, words, size)
        count = len(vectors)
        ids = Ragged(batch.ids.values.repeat(count), batch.ids.lengths.repeat(count))
        copies = Batch(ids, batch.sentences.repeat(count))
        return log_odds_by_hand(answers, vectors.flatten(0, 1), copies, 1)

    vectors = model.embedding(batch.ids.values).detach()[None]
    if method is multiply_gradient_by_input:
        found = attr.InputXGradient(forward).attribute(vectors.requires_grad_())
    else:
        monkeypatch.setattr(gradients, "POINTS", 64)
        found = attr.IntegratedGradients(forward).attribute(
            vectors, torch.zeros_like(vectors), n_steps=64, method="gausslegendre"
        )
    expected = found.sum(-1)[0].tolist()
    assert scores(method(answers)) == pytest.approx(expected, abs=1e-4)
