"""Both protocols against loops that read every shortened document anew."""

import numpy as np
import pytest
import torch

from regard.audit.aopc import FerretErasure, ferret_masks, from_receipt
from regard.data.batch import Batch
from regard.explain import attention, gradient_input
from regard.explain.rankings import taken
from regard.explain.receipts import inquiries
from regard.ragged import Ragged
from regard.text.tokenize import tokenize
from support.questions import CONFIGS, TEXTS, VOCAB, asked, built


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
    (explained,) = gradient_input.explain(answers)
    (inquiry,) = inquiries(answers)
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
    (inquiry,) = inquiries(answers)
    number, decision = answers.chosen[0][0], explained.decisions[0]
    found = from_receipt(inquiry.receipt(decision), 0.5)
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
    (inquiry,) = inquiries(answers)
    ask = inquiry.eraser.asking("word")
    ferret = FerretErasure(lambda kept: answers.likely(ask(kept)), inquiry.whole, seed=0)
    found = ferret.measure(np.array([-1.0]), 0)
    empty = probability(model, "", set(), 0)
    assert found["comprehensiveness_ferret"].value == 0.0
    expected = float(inquiry.whole[0, 0]) - empty
    assert found["sufficiency_ferret"].value == pytest.approx(expected, abs=1e-6)
