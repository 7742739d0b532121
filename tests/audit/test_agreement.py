"""Tau as Jain and Wallace measure it, against SciPy and finite differences."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from regard.audit.agreement import agreement, gradient_sizes, movements
from regard.explain.gradients import log_odds
from regard.explain.receipts import inquiries
from support.questions import CONFIGS, TEXTS, asked, bag, built


def test_tau_is_scipy_s_of_the_sizes():
    draw = np.random.default_rng(0)
    scores, reference = draw.normal(size=30), np.abs(draw.normal(size=30))
    expected = kendalltau(np.abs(scores), reference).statistic
    assert agreement(scores, reference).value == pytest.approx(expected)
    assert abs(agreement(scores, reference).baseline) < 0.2
    assert agreement(np.ones(5), reference[:5]) is None


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
    words = inquiries(answers)[0].pieces("word")
    found = movements(words.drops, multilabel=False, number=0)
    assert found == pytest.approx(words.drops.abs().sum(1).numpy() / 2)
    single = movements(words.drops, multilabel=True, number=2)
    assert single == pytest.approx(words.drops[:, 2].abs().numpy())
