"""What every score must do, tried on each one in the table."""

import pytest
import torch

from regard.nn.attention import SCORES
from regard.nn.rows import pad, row_softmax, row_sum, unpad
from regard.ragged import Ragged

KEY, HIDDEN, LENGTHS = 4, 3, [2, 0, 3]


def made(kind, dtype=torch.float32):
    torch.manual_seed(0)
    query_size = KEY if kind.same_size else 6
    score = kind(query_size, KEY, HIDDEN).to(dtype)
    keys = Ragged(torch.randn(sum(LENGTHS), KEY, dtype=dtype), torch.tensor(LENGTHS))
    return score, torch.randn(len(LENGTHS), query_size, dtype=dtype), keys


@pytest.mark.parametrize("kind", SCORES.values(), ids=SCORES)
class TestEveryScore:
    def test_gives_a_number_for_every_key(self, kind):
        score, query, keys = made(kind)
        assert score(query, keys).shape == (5,)

    def test_gives_weights_that_sum_to_one(self, kind):
        score, query, keys = made(kind)
        weights = row_softmax(keys.with_values(score(query, keys)))
        torch.testing.assert_close(row_sum(weights), torch.tensor([1.0, 0.0, 1.0]))

    def test_scores_a_row_by_its_own_query_alone(self, kind):
        score, query, keys = made(kind)
        together = score(query, keys).split(LENGTHS)
        for row, row_keys in enumerate(keys.rows()):
            alone = Ragged(row_keys, torch.tensor([len(row_keys)]))
            torch.testing.assert_close(score(query[row : row + 1], alone), together[row])

    def test_takes_one_query_for_all_rows(self, kind):
        score, query, keys = made(kind)
        repeated = query[:1].expand(len(LENGTHS), -1)
        torch.testing.assert_close(score(query[:1], keys), score(repeated, keys))

    def test_scores_padded_rows_as_it_scores_each_query(self, kind):
        """002-07: all the questions about a row at once."""
        score, query, keys = made(kind)
        queries = torch.stack([query, 2 * query], 1)
        prepared = score.prepare(keys)
        found = score.compare_padded(queries, pad(prepared))
        assert found.shape == (len(LENGTHS), 2, max(LENGTHS))
        for number in range(2):
            expected = score.compare(queries[:, number], prepared)
            torch.testing.assert_close(unpad(found[:, number], prepared).values, expected)

    def test_takes_no_keys_and_no_rows(self, kind):
        score, query, _ = made(kind)
        for rows in (0, 2):
            nothing = Ragged(torch.zeros(0, KEY), torch.zeros(rows, dtype=torch.int64))
            assert score(query[:rows], nothing).shape == (0,)

    def test_has_the_gradient_of_finite_differences(self, kind):
        score, query, keys = made(kind, torch.float64)
        inputs = (query.requires_grad_(), keys.values.requires_grad_())
        assert torch.autograd.gradcheck(lambda q, k: score(q, keys.with_values(k)), inputs)

    def test_starts_from_the_seed_and_finite(self, kind):
        """D14: no parameter is left as the memory was found."""
        first, second = (made(kind)[0].state_dict() for _ in range(2))
        for name, value in first.items():
            assert torch.isfinite(value).all()
            assert torch.equal(value, second[name])
