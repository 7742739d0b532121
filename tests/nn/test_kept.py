"""What is kept from batch to batch: never stale, never in the way."""

import threading

import pytest
import torch

from native_cases import needs_native
from random_ids import SMALL, batch_of, built, random_documents
from regard.models import HANConfig
from regard.models.flat import FlatConfig
from regard.nn import levels
from regard.nn.levels import Kept

pytestmark = needs_native
CONFIGS = {"han": HANConfig(**SMALL), "flat": FlatConfig(**SMALL)}
BATCH = batch_of(random_documents(9, seed=1))
OTHER = batch_of(random_documents(9, seed=2))


def answers(model, batch=BATCH, kept=None):
    with torch.inference_mode(), (kept or Kept()).in_use():
        return model(batch).logits.clone()


def plain(model, batch=BATCH):
    """The same with nothing kept: gradients are wanted."""
    return model(batch).logits.detach()


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_kept_changes_no_answer(name):
    model, kept = built(CONFIGS[name]).eval(), Kept()
    first = answers(model, BATCH, kept)
    torch.testing.assert_close(first, plain(model))
    torch.testing.assert_close(answers(model, OTHER, kept), plain(model, OTHER))
    assert torch.equal(answers(model, BATCH, kept), first), "whatever was read in between"
    assert torch.equal(answers(model, OTHER), answers(model, OTHER, kept)), "and before"
    with torch.no_grad():
        assert torch.equal(model(BATCH).logits, first), "nothing kept, the same bits"


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.embedding.weight.mul_(2),
        lambda model: model.embedding.weight.data.mul_(2),
        lambda model: model.words.encoder.layers.weight_ih_l0.data.add_(0.1),
        lambda model: model.words.encoder.layers.bias_ih_l0_reverse.add_(0.1),
        lambda model: model.load_state_dict(
            {name: 2 * weight for name, weight in model.state_dict().items()}
        ),
        lambda model: setattr(
            model.embedding, "weight", torch.nn.Parameter(model.embedding.weight * 2)
        ),
    ],
    ids=["vectors", "vectors behind torch's back", "weights", "biases", "loaded", "replaced"],
)
def test_changed_weights_change_the_next_answer(change):
    """What is kept lives no longer than the call that asked: nothing can be stale."""
    model = built(CONFIGS["han"]).eval()
    before = answers(model)
    with torch.no_grad():
        change(model)
    after = answers(model)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, plain(model))


def test_nothing_is_written_on_the_model():
    model = built(CONFIGS["han"]).eval()
    before = {name: dict(module.__dict__) for name, module in model.named_modules()}
    answers(model)
    assert {name: dict(module.__dict__) for name, module in model.named_modules()} == before


def test_a_table_that_is_too_large_is_not_made(monkeypatch):
    monkeypatch.setattr(levels, "_MOST_BYTES", 1000)
    model, kept = built(CONFIGS["han"]).eval(), Kept()
    torch.testing.assert_close(answers(model, BATCH, kept), plain(model))
    assert not kept._tables


def test_a_thread_does_not_see_what_another_keeps():
    model, kept, seen = built(CONFIGS["han"]).eval(), Kept(), []
    with kept.in_use():
        thread = threading.Thread(target=lambda: seen.append(levels._in_use.get()))
        thread.start()
        thread.join()
        answers(model, BATCH, kept)
    assert seen == [None] and kept._tables
    assert levels._in_use.get() is None, "nor does anybody afterwards"
