"""Reading and pooling in one go gives what the two give one after the other."""

import pickle
import threading

import pytest
import torch

from regard.models import HANConfig
from regard.models.flat import FlatConfig
from regard.nn import levels
from regard.nn.encoders import NoEncoder, RecurrentEncoder
from regard.nn.levels import Kept, Level, Picked, Places
from regard.nn.pooling import POOLINGS, AttentionPooling, PoolingConfig
from regard.ragged import Ragged
from support.native_cases import needs_native
from support.random_ids import SMALL, batch_of, built, random_documents

LENGTHS = torch.tensor([3, 0, 1, 12, 0, 7])


def level(cell="gru", layers=1, directions=2, own=False):
    torch.manual_seed(0)
    encoder = RecurrentEncoder(6, 5, cell=cell, layers=layers, directions=directions)
    pooling = AttentionPooling(encoder.output_size, PoolingConfig(attention_size=4))
    made = Level(encoder, pooling, own=own).eval()
    return made, Ragged(torch.randn(int(LENGTHS.sum()), 6), LENGTHS)


def plain(made, items, own=False):
    """The definition: read, then pool."""
    pooled = made.pooling(made.encoder(items))
    return made.pooling(items, pooled.weights.values) if own else pooled


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("directions", [1, 2])
def test_one_go_gives_what_two_give(cell, layers, directions, own):
    made, items = level(cell, layers, directions, own)
    wanted = plain(made, items, own)
    backwards = items.with_values(torch.arange(len(items.values)).flip(0))
    with torch.no_grad():
        found = made(items)
        picked = made(Picked(items.values.flip(0), backwards))
        sparse = made(Picked(items.values.flip(0), backwards, sparse=True))
    for one in (found, picked, sparse):
        torch.testing.assert_close(one.vectors, wanted.vectors)
        torch.testing.assert_close(one.weights.values, wanted.weights.values)
    assert made.output_size == found.vectors.shape[1]
    assert not found.vectors[[1, 4]].any(), "an empty row gives zeros"


@needs_native
def test_a_row_has_the_same_bits_in_any_company():
    made, items = level()
    rows = [row for row in items.rows() if len(row)]
    with torch.no_grad():
        together = made(items).vectors[LENGTHS > 0]
        alone = [made(Ragged.from_rows([row])).vectors for row in rows]
    assert torch.equal(torch.cat(alone), together)


@needs_native
def test_the_kernel_is_used_where_it_can_be():
    """What the kernel returns has no history; elsewhere gradients go back through everything."""
    made, items = level()
    assert made(items).vectors.requires_grad, "gradients are wanted"
    assert made._fused_attention() is None
    with torch.no_grad():
        assert made._fused_attention() is not None
        assert made.train()._fused_attention() is None, "in training"
        made.eval()
        for name in POOLINGS.keys() - {"attention"}:
            other = POOLINGS[name](made.encoder.output_size, PoolingConfig())
            assert Level(made.encoder, other)._fused_attention() is None, name
        dot = AttentionPooling(made.encoder.output_size, PoolingConfig(score="dot"))
        assert Level(made.encoder, dot).eval()._fused_attention() is None
        assert Level(NoEncoder(10), made.pooling).eval()._fused_attention() is None
        assert made.double()._fused_attention() is None


def test_without_kernels_it_gives_the_same(monkeypatch):
    made, items = level()
    wanted = plain(made, items)
    monkeypatch.setenv("REGARD_KERNELS", "0")
    with torch.no_grad():
        assert made._fused_attention() is None
        torch.testing.assert_close(made(items).vectors, wanted.vectors)


def test_given_weights_are_used_as_they_are():
    made, items = level()
    given = torch.rand(len(items.values))
    with torch.no_grad():
        pooled = made(items, given)
    assert torch.equal(pooled.weights.values, given)
    torch.testing.assert_close(pooled.vectors, made.pooling(made.encoder(items), given).vectors)


def test_reading_across_the_ends_of_rows():
    """The encoder reads the longer rows, attention pools the shorter ones."""
    made, items = level()
    longer = torch.tensor([int(LENGTHS[:3].sum()), int(LENGTHS[3:].sum())])
    states = made.encoder(Ragged(items.values, longer))
    wanted = made.pooling(items.with_values(states.values))
    with torch.no_grad():
        found = made(items, across=longer)
    torch.testing.assert_close(found.vectors, wanted.vectors)


def test_a_table_is_left_with_what_is_picked():
    table = torch.arange(10.0)[:, None].expand(-1, 3)
    numbers = Ragged(torch.tensor([7, 2, 7, 9]), torch.tensor([1, 3]))
    compact = Picked(table, numbers, sparse=True).compact()
    assert compact.table[:, 0].tolist() == [2, 7, 9]
    assert torch.equal(compact.look_up().values, Picked(table, numbers).look_up().values)
    assert Picked(table, numbers).compact().table is table, "whoever says all are picked"


pytestmark = needs_native
CONFIGS = {"han": HANConfig(**SMALL), "flat": FlatConfig(**SMALL)}
BATCH = batch_of(random_documents(9, seed=1))
OTHER = batch_of(random_documents(9, seed=2))


def answers(model, batch=BATCH, kept=None):
    with torch.inference_mode(), (kept or Kept()).in_use():
        return model(batch).logits.clone()


def plain_logits(model, batch=BATCH):
    """The same with nothing kept: gradients are wanted."""
    return model(batch).logits.detach()


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_kept_changes_no_answer(name):
    model, kept = built(CONFIGS[name]).eval(), Kept()
    first = answers(model, BATCH, kept)
    torch.testing.assert_close(first, plain_logits(model))
    torch.testing.assert_close(answers(model, OTHER, kept), plain_logits(model, OTHER))
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
    torch.testing.assert_close(after, plain_logits(model))
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
    torch.testing.assert_close(answers(model, BATCH, kept), plain_logits(model))
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


def test_weights_are_compared_once_in_a_call_of_many_parts():
    model, kept = built(CONFIGS["han"]).eval(), Kept()
    with kept.in_use():
        before = answers(model, BATCH, kept)
        model.embedding.weight.data.mul_(2)  # which nobody may do in a call, and nobody looks for
        assert torch.equal(answers(model, BATCH, kept), before)
        assert not torch.equal(answers(model, BATCH, Kept()), before), "another's is its own call"
    assert torch.equal(answers(model, BATCH, kept), answers(model))


def test_a_copy_starts_empty():
    model, kept = built(CONFIGS["han"]).eval(), Kept()
    answers(model, BATCH, kept)
    assert kept._tables and not pickle.loads(pickle.dumps(kept))._tables


@pytest.mark.parametrize("own", [False, True])
def test_places_change_weights_by_what_they_learnt_and_nothing_before(own):
    plain_level, items = level(own=own)
    placed = Level(plain_level.encoder, plain_level.pooling, own=own, places=Places()).eval()
    before = plain_level(items)
    torch.testing.assert_close(placed(items).vectors, before.vectors)
    with torch.no_grad():
        placed.places.scores[0] = 0.2  # of exp(-i/4), times ten
    found = placed(items)
    for old, new in zip(before.weights.rows(), found.weights.rows(), strict=True):
        grown = old * torch.exp(2 * torch.exp(-torch.arange(len(old)) / 4))
        torch.testing.assert_close(new, grown / grown.sum())
    given = placed(items, found.weights.values)
    torch.testing.assert_close(given.vectors, found.vectors)


def test_places_are_as_far_apart_where_items_are_left_out():
    places = Places(left_out=0.5)
    with torch.no_grad():
        places.scores.copy_(torch.tensor([0.1, 0.2, -0.1, 0.1, 0.0]))
    all_of_them = places.eval()(Ragged(torch.full((9,), 1 / 9), torch.tensor([9])))
    every_second = places.train()(Ragged(torch.full((5,), 1 / 5), torch.tensor([5])))
    torch.testing.assert_close(every_second / every_second[0], all_of_them[::2] / all_of_them[0])
