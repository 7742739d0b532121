"""Reading and pooling in one go gives what the two give one after the other."""

import pytest
import torch

from native_cases import needs_native
from regard.nn.encoders import NoEncoder, RecurrentEncoder
from regard.nn.levels import pool_projected, pool_read
from regard.nn.pooling import POOLINGS, AttentionPooling, PoolingConfig
from regard.ragged import Ragged

LENGTHS = torch.tensor([3, 0, 1, 12, 0, 7])


def parts(cell="gru", layers=1, directions=2):
    torch.manual_seed(0)
    encoder = RecurrentEncoder(6, 5, cell=cell, layers=layers, directions=directions).eval()
    pooling = AttentionPooling(encoder.output_size, PoolingConfig(attention_size=4)).eval()
    return encoder, pooling, Ragged(torch.randn(int(LENGTHS.sum()), 6), LENGTHS)


@needs_native
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("directions", [1, 2])
def test_one_go_gives_what_two_give(cell, layers, directions):
    encoder, pooling, items = parts(cell, layers, directions)
    wanted = pooling(encoder(items))
    with torch.no_grad():
        found = pool_read(encoder, pooling, items)
        assert found is not None
        numbers = items.with_values(torch.arange(len(items.values)).flip(0))
        table = encoder.project(items.values.flip(0))
        by_number = pool_projected(encoder, pooling, numbers, table)
    torch.testing.assert_close(found.vectors, wanted.vectors)
    torch.testing.assert_close(found.weights.values, wanted.weights.values)
    assert torch.equal(by_number.vectors, found.vectors)
    assert not found.vectors[[1, 4]].any(), "an empty row gives zeros"


@needs_native
def test_a_row_has_the_same_bits_in_any_company():
    encoder, pooling, items = parts()
    rows = [row for row in items.rows() if len(row)]
    with torch.no_grad():
        together = pool_read(encoder, pooling, items).vectors[LENGTHS > 0]
        alone = [pool_read(encoder, pooling, Ragged.from_rows([row])).vectors for row in rows]
    assert torch.equal(torch.cat(alone), together)


def test_it_steps_back_where_gradients_or_something_else_are_wanted():
    encoder, pooling, items = parts()
    assert pool_read(encoder, pooling, items) is None, "with gradients"
    with torch.no_grad():
        assert pool_read(encoder.train(), pooling, items) is None, "in training"
        encoder.eval()
        assert pool_read(NoEncoder(6), pooling, items) is None
        for name in POOLINGS.keys() - {"attention"}:
            other = POOLINGS[name](encoder.output_size, PoolingConfig())
            assert pool_read(encoder, other, items) is None, name
        dot = AttentionPooling(encoder.output_size, PoolingConfig(score="dot"))
        assert pool_read(encoder, dot, items) is None
        doubled = parts()[0].double()
        assert pool_read(doubled, pooling.double(), items) is None


def test_without_kernels_it_steps_back(monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", "0")
    encoder, pooling, items = parts()
    with torch.no_grad():
        assert pool_read(encoder, pooling, items) is None
        assert pooling(encoder(items)).vectors.shape == (6, 10)
