"""Words projected once and kept: never stale, never in the way."""

import copy
import pickle

import pytest
import torch

from native_cases import needs_native
from random_ids import SMALL, batch_of, built, random_documents
from regard.models import HANConfig
from regard.models import projected as projected_module
from regard.models.flat import FlatConfig

pytestmark = needs_native
CONFIGS = {"han": HANConfig(**SMALL), "flat": FlatConfig(**SMALL)}
BATCH = batch_of(random_documents(9, seed=1))
OTHER = batch_of(random_documents(9, seed=2))


def answers(model, batch=BATCH):
    with torch.inference_mode():
        return model(batch).logits.clone()


def plain(model, batch=BATCH):
    """The same without any table: gradients are wanted."""
    return model(batch).logits.detach()


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_kept_changes_no_answer(name):
    model = built(CONFIGS[name]).eval()
    first = answers(model)
    torch.testing.assert_close(first, plain(model))
    torch.testing.assert_close(answers(model, OTHER), plain(model, OTHER))
    assert torch.equal(answers(model), first), "whatever was read in between"
    fresh = built(CONFIGS[name]).eval()
    assert torch.equal(answers(fresh, OTHER), answers(model, OTHER)), "and before"


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.embedding.weight.mul_(2),
        lambda model: model.words.encoder.layers.weight_ih_l0.add_(0.1),
        lambda model: model.words.encoder.layers.bias_ih_l0_reverse.add_(0.1),
        lambda model: model.load_state_dict(
            {name: 2 * weight for name, weight in model.state_dict().items()}
        ),
        lambda model: setattr(
            model.embedding, "weight", torch.nn.Parameter(model.embedding.weight * 2)
        ),
    ],
    ids=["vectors", "weights", "biases", "loaded", "replaced"],
)
def test_changed_weights_are_noticed(change):
    model = built(CONFIGS["han"]).eval()
    before = answers(model)
    with torch.no_grad():
        change(model)
    after = answers(model)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, plain(model))


@pytest.mark.parametrize("between", [False, True], ids=["", "asked between"])
@pytest.mark.parametrize("part", ["embedding", "words"])
def test_a_step_of_training_is_noticed(part, between):
    """Even in evaluation, and by a fused optimizer, whose writing torch does not count."""
    model = built(CONFIGS["han"]).eval()
    before = answers(model)
    weights = model.get_submodule(part).parameters()
    optimizer = torch.optim.Adam(weights, lr=0.1, fused=True)
    model(BATCH).logits.sum().backward()
    if between and part == "words":
        answers(model)
    optimizer.step()
    torch.testing.assert_close(answers(model), plain(model))
    assert not torch.allclose(answers(model), before)


def test_both_ways_of_asking_for_no_gradients_share_what_is_kept():
    model = built(CONFIGS["han"]).eval()
    with torch.inference_mode():
        first = model(BATCH).logits
    with torch.no_grad():
        assert torch.equal(model(OTHER).logits, answers(model, OTHER))
        assert torch.equal(model(BATCH).logits, first)


def test_copies_start_empty_and_answer_alike():
    model = built(CONFIGS["han"]).eval()
    wanted = answers(model)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.words.projected._table is None
        assert torch.equal(answers(other), wanted)


def test_training_frees_the_memory():
    model = built(CONFIGS["han"]).eval()
    answers(model)
    assert model.words.projected._table is not None
    model.train()(BATCH)
    assert model.words.projected._table is None


def test_a_table_that_is_too_large_is_not_made(monkeypatch):
    monkeypatch.setattr(projected_module, "_MOST_BYTES", 1000)
    model = built(CONFIGS["han"]).eval()
    torch.testing.assert_close(answers(model), plain(model))
    assert model.words.projected._table is None


def test_nothing_of_it_is_saved():
    model = built(CONFIGS["han"]).eval()
    before = set(model.state_dict())
    answers(model)
    assert set(model.state_dict()) == before
