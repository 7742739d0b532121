"""What is kept from batch to batch: never stale, never in the way."""

import pickle
import threading

import pytest
import torch

from regard.models import HANConfig
from regard.models.flat import FlatConfig
from regard.nn import levels
from regard.nn.encoders import RecurrentEncoder
from regard.nn.levels import Kept
from support.native_cases import needs_native
from support.random_ids import SMALL, batch_of, built, random_documents

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
    """What is kept is compared with the weights by every call: nothing can be stale."""
    model, kept = built(CONFIGS["han"]).eval(), Kept()
    before = answers(model, BATCH, kept)
    with torch.no_grad():
        change(model)
    after = answers(model, BATCH, kept)
    assert not torch.allclose(before, after)
    torch.testing.assert_close(after, plain(model))
    assert torch.equal(after, answers(model)), "as if nothing had been kept"


def test_one_changed_vector_is_made_anew_alone(monkeypatch):
    model, kept, made = built(CONFIGS["han"]).eval(), Kept(), []
    answers(model, BATCH, kept)
    word = int(BATCH.ids.values[0])
    model.embedding.weight.data[word].add_(1)
    project = RecurrentEncoder.project_into
    monkeypatch.setattr(
        RecurrentEncoder,
        "project_into",
        lambda self, rows, numbers, table: (
            made.append(numbers),
            project(self, rows, numbers, table),
        ),
    )
    answers(model, BATCH, kept)
    assert [numbers.tolist() for numbers in made] == [[word]]


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


def test_threads_share_what_is_kept():
    model, kept, found = built(CONFIGS["han"]).eval(), Kept(), []
    wanted = [answers(model, batch) for batch in (BATCH, OTHER)]

    def ask():
        for batch, answer in zip((BATCH, OTHER), wanted, strict=True):
            found.append(torch.equal(answers(model, batch, kept), answer))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def test_a_copy_starts_empty():
    model, kept = built(CONFIGS["han"]).eval(), Kept()
    answers(model, BATCH, kept)
    assert kept._tables and not pickle.loads(pickle.dumps(kept))._tables
