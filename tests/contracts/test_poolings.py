"""What every pooling must do, tried on each one in the table."""

import pytest
import torch

from regard.nn.pooling import POOLINGS, PoolingConfig
from regard.nn.rows import row_sum
from regard.ragged import Ragged

SIZE, LENGTHS = 4, [3, 0, 5, 1]


def made(kind, dtype=torch.float32, directions=2):
    torch.manual_seed(0)
    config = PoolingConfig(attention_size=6, hops=3, directions=directions)
    items = Ragged(torch.randn(sum(LENGTHS), SIZE, dtype=dtype), torch.tensor(LENGTHS))
    return kind(SIZE, config).to(dtype), items


@pytest.mark.parametrize("kind", POOLINGS.values(), ids=POOLINGS)
class TestEveryPooling:
    def test_gives_a_vector_a_row_and_zeros_for_an_empty_one(self, kind):
        pooling, items = made(kind)
        vectors = pooling(items).vectors
        assert vectors.shape == (len(LENGTHS), pooling.output_size)
        assert not vectors[1].any()

    def test_gives_weights_that_sum_to_one(self, kind):
        pooling, items = made(kind)
        weights = pooling(items).weights
        assert (weights.values >= 0).all()
        sums = row_sum(weights).view(len(LENGTHS), -1)
        expected = torch.tensor([1.0, 0.0, 1.0, 1.0])[:, None].expand_as(sums)
        torch.testing.assert_close(sums, expected, atol=1e-6, rtol=0)

    def test_pools_a_row_without_looking_at_others(self, kind):
        pooling, items = made(kind)
        together = pooling(items).vectors
        for row, row_items in enumerate(items.rows()):
            alone = pooling(Ragged(row_items, torch.tensor([len(row_items)])))
            torch.testing.assert_close(alone.vectors[0], together[row])

    def test_uses_the_weights_it_is_given(self, kind):
        pooling, items = made(kind)
        columns = pooling(items).weights.values.shape[1:]
        given = torch.rand(sum(LENGTHS), *columns)
        pooled = pooling(items, given)
        assert torch.equal(pooled.weights.values, given)
        twice = pooling(items, 2 * given)
        torch.testing.assert_close(twice.vectors, 2 * pooled.vectors)

    def test_spreads_one_given_column_over_all_of_its_own(self, kind):
        pooling, items = made(kind)
        given = torch.rand(sum(LENGTHS))
        columns = pooling(items).weights.values.shape[1:]
        spread = given.view(-1, *[1] * len(columns)).expand(-1, *columns)
        torch.testing.assert_close(pooling(items, given).vectors, pooling(items, spread).vectors)

    def test_takes_nothing(self, kind):
        pooling, _ = made(kind)
        for rows in (0, 2):
            nothing = Ragged(torch.zeros(0, SIZE), torch.zeros(rows, dtype=torch.int64))
            assert torch.equal(pooling(nothing).vectors, torch.zeros(rows, pooling.output_size))

    def test_has_the_gradient_of_finite_differences(self, kind):
        pooling, items = made(kind, torch.float64)
        values = items.values.requires_grad_()
        assert torch.autograd.gradcheck(lambda v: pooling(items.with_values(v)).vectors, values)


@pytest.mark.parametrize("name", [name for name in POOLINGS if name != "max"])
def test_its_own_weights_give_its_own_vectors(name):
    """Those of max pooling say where numbers came from, and not how items were mixed."""
    pooling, items = made(POOLINGS[name])
    own = pooling(items)
    torch.testing.assert_close(pooling(items, own.weights.values).vectors, own.vectors)
