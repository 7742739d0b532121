"""Erasure against loops that read each shortened text anew, tau against SciPy, shuffled copies."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from regard.audit.faithfulness import (
    FerretErasure,
    ask_again,
    copy_shuffled,
    ferret_masks,
    gradient_sizes,
    measure_agreement,
    measure_likeness,
    movements,
    read_receipt,
)
from regard.data.batch import Batch
from regard.explain import attention
from regard.explain.gradients import log_odds, multiply_gradient_by_input
from regard.explain.rankings import taken
from regard.explain.receipts import open_inquiries
from regard.ragged import Ragged
from regard.text.tokenize import tokenize
from support.questions import CONFIGS, TEXTS, VOCAB, asked, bag, built


def words_of(text):
    """The words sentence by sentence."""
    tokens = tokenize(text)
    rows = np.split(np.array(tokens.words()), np.cumsum(tokens.per_sentence)[:-1])
    return [list(row) for row in rows]


def probability(model, text, gone, number):
    """Read the text without the words at the places gone, from the words themselves."""
    place, rows = 0, []
    for sentence in words_of(text):
        kept = [word for at, word in enumerate(sentence, place) if at not in gone]
        place += len(sentence)
        if kept:
            rows.append(torch.tensor(VOCAB.ids(kept).astype(np.int64)))
    if rows:
        ids = Ragged.from_rows(rows)
    else:
        ids = Ragged(torch.zeros(0, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    with torch.no_grad():
        logits = model(Batch(ids, torch.tensor([len(rows)]))).logits
    return float(torch.softmax(logits.double(), 1)[0, number])


def naive_ferret(model, text, scores, number):
    """Ten amounts, positive scores alone, repeats skipped: by sorting and deleting."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    start = probability(model, text, set(), number)
    seen, without, alone = [], [], []
    for tenth in range(1, 11):
        top = {p for p in order[: round(tenth / 10 * len(scores))] if scores[p] > 0}
        if not top or top in seen:
            continue
        seen.append(top)
        without.append(start - probability(model, text, top, number))
        rest = set(range(len(scores))) - top
        alone.append(start - probability(model, text, rest, number))
    return np.mean(without), np.mean(alone)


@pytest.mark.parametrize("name", ["han", "flat", "cahan", "flow"])
def test_ferret_equals_reading_every_shortened_text(name):
    model = built(CONFIGS[name])
    answers = asked(model, TEXTS[:1])
    (explained,) = multiply_gradient_by_input(answers)
    (inquiry,) = open_inquiries(answers)
    number = answers.chosen[0][0]
    scores = np.array(explained.decisions[0].level("word").scores)
    ask = inquiry.eraser.asking("word")
    ferret = FerretErasure(lambda kept: answers.likely(ask(kept)), inquiry.whole, seed=0)
    found = ferret.measure(scores, number)
    without, alone = naive_ferret(model, TEXTS[0], scores, number)
    assert found["comprehensiveness_ferret"].value == pytest.approx(without, abs=1e-5)
    assert found["sufficiency_ferret"].value == pytest.approx(alone, abs=1e-5)


def test_eraser_measures_equal_reading_every_shortened_text():
    """The receipt's numbers, by deleting words from the text's own list."""
    model = built(CONFIGS["han"])
    answers = asked(model, TEXTS[:1])
    (explained,) = attention.explain(answers)
    (inquiry,) = open_inquiries(answers)
    number, decision = answers.chosen[0][0], explained.decisions[0]
    found = read_receipt(inquiry.receipt(decision, inquiry.rankings(decision)), 0.5)
    amounts = decision.importance().values
    order = sorted(range(len(amounts)), key=lambda place: -amounts[place])
    start = probability(model, TEXTS[0], set(), number)
    losses = [
        start - probability(model, TEXTS[0], set(order[:count]), number)
        for count in taken(len(order))
    ]
    assert found["comprehensiveness"].value == pytest.approx(np.mean(losses), abs=1e-5)
    assert found["normalised_comprehensiveness"].share_of == 0.5


def test_ferret_takes_positive_words_alone_and_skips_repeats():
    masks = ferret_masks(np.array([3.0, -1.0, 2.0, 0.0, 1.0]))
    rows = [np.flatnonzero(row).tolist() for row in masks]
    assert rows == [[0], [0, 2], [0, 2, 4]]


def test_where_nothing_speaks_for_the_class_nothing_is_lost_but_all_alone():
    assert ferret_masks(np.array([-1.0, 0.0])).shape == (0, 2)
    assert ferret_masks(np.zeros(0)).shape == (0, 0)
    model = built(CONFIGS["flat"])
    answers = asked(model, TEXTS[2:3])
    (inquiry,) = open_inquiries(answers)
    ask = inquiry.eraser.asking("word")
    ferret = FerretErasure(lambda kept: answers.likely(ask(kept)), inquiry.whole, seed=0)
    found = ferret.measure(np.array([-1.0]), 0)
    empty = probability(model, "", set(), 0)
    assert found["comprehensiveness_ferret"].value == 0.0
    expected = float(inquiry.whole[0, 0]) - empty
    assert found["sufficiency_ferret"].value == pytest.approx(expected, abs=1e-6)


def test_tau_is_scipy_s_of_the_sizes():
    draw = np.random.default_rng(0)
    scores, reference = draw.normal(size=30), np.abs(draw.normal(size=30))
    expected = kendalltau(np.abs(scores), reference).statistic
    assert measure_agreement(scores, reference).value == pytest.approx(expected)
    assert measure_agreement(scores, reference).baseline == 0
    assert measure_agreement(np.ones(5), reference[:5]) is None


@pytest.mark.parametrize("name", ["han", "flat", "cahan", "structured"])
def test_gradients_are_taken_with_the_attention_held(name):
    """By finite differences along each word's vector, the weights imposed."""
    model = built(CONFIGS[name]).double()
    answers = asked(model, TEXTS[:1])
    (found,) = gradient_sizes(answers)
    held = {layer.name: layer.weights.values for layer in answers.output.attention}
    vectors, batch = model.embed(answers.batch).values.detach(), answers.batch
    number = torch.tensor([answers.chosen[0][0]])
    for place in range(len(vectors)):
        moved = []
        for sign in (1, -1):
            changed = vectors.clone()
            changed[place] *= 1 + sign * 1e-5
            words = batch.ids.with_values(changed)
            with torch.no_grad():
                logits = model.from_vectors(words, batch, held).logits
            moved.append(float(log_odds(logits, number, answers)))
        assert found[place] == pytest.approx(abs(moved[0] - moved[1]) / 2e-5, abs=1e-6)


def test_a_model_without_attention_has_gradients_too():
    (found,) = gradient_sizes(asked(bag({"dull": 1.5}), ["A dull end."]))
    assert found.max() == pytest.approx(1.5) and (found > 0).sum() == 1


def test_movements_are_the_total_variation_of_leaving_out():
    answers = asked(built(CONFIGS["han"], label_count=3), TEXTS[:1])
    words = open_inquiries(answers)[0].pieces("word")
    found = movements(words.drops, multilabel=False, number=0)
    assert found == pytest.approx(words.drops.abs().sum(1).numpy() / 2)
    single = movements(words.drops, multilabel=True, number=2)
    assert single == pytest.approx(words.drops[:, 2].abs().numpy())


def test_a_shuffled_copy_has_the_same_numbers_in_other_places():
    model = built(CONFIGS["han"])
    before = [parameter.clone() for parameter in model.parameters()]
    copied = copy_shuffled(model, seed=1)
    moved = 0
    for old, new, kept in zip(before, copied.parameters(), model.parameters(), strict=True):
        assert torch.equal(old, kept), "the model itself stays as it is"
        assert torch.equal(old.flatten().sort().values, new.flatten().sort().values)
        moved += int((old != new).sum())
    assert moved > 100
    again = copy_shuffled(model, seed=1).state_dict()
    assert all(torch.equal(again[name], part) for name, part in copied.state_dict().items())


def test_the_copy_is_asked_about_the_same_classes():
    model = built(CONFIGS["han"])
    answers = asked(model, chosen=(1,))
    other = ask_again(answers, copy_shuffled(model))
    assert other.chosen == answers.chosen and other.model is not model
    assert not torch.allclose(other.output.logits, answers.output.logits)


def test_likeness_is_one_for_the_same_and_about_none_for_others():
    scores = np.random.default_rng(0).normal(size=50)
    assert measure_likeness(scores, scores)["tau_shuffled_weights"].value == 1.0
    assert measure_likeness(scores, scores)["tau_shuffled_weights"].baseline == 0
    assert measure_likeness(scores, np.ones(50)) == {}
