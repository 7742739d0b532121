"""What holds for every method and every classifier."""

import math
from dataclasses import replace

import pytest
import torch

from regard.errors import ConfigError
from regard.explain.methods import DEFAULT_METHOD, METHODS, methods_for
from regard.explain.receipts import with_receipts
from regard.models import MODELS
from regard.models.han import HANConfig
from regard.records.explanation import Explanation
from support.questions import CONFIGS, TEXTS, asked, bag, built

SIGNED = [name for name in METHODS if name != "attention"]


def small_lime(name):
    """The method, LIME with few samples."""
    method = METHODS[name].explain
    return (lambda answers: method(answers, 60)) if name == "lime" else method


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_every_method_explains_every_classifier(name, config):
    """Any class, empty and one-word documents; shares that sum to one; survives JSON and views."""
    answers = asked(built(config, label_count=3), chosen=(2, 0))
    found = small_lime(name)(answers)
    assert [one.source for one in found] == list(TEXTS)
    for place, explanation in enumerate(found):
        assert [decision.label for decision in explanation.decisions] == ["class 2", "class 0"]
        assert explanation.method == name
        for number, decision in zip((2, 0), explanation.decisions, strict=True):
            assert decision.probability == pytest.approx(
                float(answers.probabilities[place, number])
            )
            for weights in decision.weights:
                assert min(weights.values, default=0.0) >= 0
                if weights.by == "document" and any(weights.values):
                    assert math.fsum(weights.values) == pytest.approx(1, abs=1e-9)
        assert Explanation.from_json(explanation.to_json()) == explanation
        assert explanation.to_text() and explanation.to_html()


@pytest.mark.parametrize("name", SIGNED)
def test_scores_have_signs_and_values_are_shares_of_their_size(name):
    (first, *_) = small_lime(name)(asked(built(CONFIGS["han"])))
    for weights in first.decisions[0].weights:
        total = math.fsum(map(abs, weights.scores))
        expected = [abs(score) / total if total else 0.0 for score in weights.scores]
        assert weights.values == pytest.approx(expected, abs=1e-12)
        assert weights.unit in ("probability", "log-odds")
    pieces = first.words(3) or first.sentences(3)
    assert all(piece.score is not None for piece in pieces)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("config", MODELS)
def test_several_labels_a_document_are_explained_one_by_one(name, config):
    answers = asked(built(CONFIGS[config], label_count=4), multilabel=True, temperature=1.5)
    for explanation, chosen in zip(small_lime(name)(answers), answers.chosen, strict=True):
        labels = [f"class {number}" for number in chosen]
        assert [decision.label for decision in explanation.decisions] == labels


@pytest.mark.parametrize("name", METHODS)
def test_company_changes_no_explanation(name):
    """A document alone and in a batch is explained alike."""
    model = built(CONFIGS["cahan"])
    together = small_lime(name)(asked(model, chosen=(1,)))
    for text, expected in zip(TEXTS, together, strict=True):
        (alone,) = small_lime(name)(asked(model, [text], chosen=(1,)))
        for mine, theirs in zip(
            alone.decisions[0].weights, expected.decisions[0].weights, strict=True
        ):
            assert mine.amounts == pytest.approx(theirs.amounts, abs=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_of_no_documents_has_no_explanations(name):
    assert METHODS[name].explain(asked(built(CONFIGS["han"]), ())) == []


def test_a_training_model_is_refused():
    answers = asked(built(CONFIGS["han"]))
    answers.model.train()
    with pytest.raises(ConfigError, match=r"call model.eval\(\)"):
        replace(answers, temperature=2.0)
    answers.model.eval()


@pytest.mark.parametrize("name", ["attention", "attention_gradient"])
def test_a_model_without_attention_is_refused_kindly(name):
    with pytest.raises(ConfigError, match="another method"):
        METHODS[name].explain(asked(bag({"dull": 1.0})))


def test_the_tables_fit_together():
    usual, without_kept = (methods_for(built(CONFIGS[name])) for name in ("han", "flow"))
    assert DEFAULT_METHOD in without_kept
    assert set(without_kept) < set(usual) < set(METHODS)


def test_gradients_leave_the_model_as_it_was():
    """No gradient piles up in the parameters, and no mode is changed."""
    model = built(HANConfig(embedding_size=6, hidden_size=4, attention_size=5))
    answers = asked(model)
    before = [parameter.clone() for parameter in model.parameters()]
    with torch.no_grad():
        for name in methods_for(answers.model):
            with_receipts(answers, METHODS[name].explain(answers))
    assert not model.training
    for parameter, old in zip(model.parameters(), before, strict=True):
        assert parameter.grad is None
        assert torch.equal(parameter, old)
