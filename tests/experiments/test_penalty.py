import pytest
import torch

from regard.experiments.penalty import PRICES, Penalty, overlap
from regard.ragged import Ragged


def test_the_overlap_falls_as_its_price_rises():
    """001-10: the mean of A A^T off its diagonal."""
    found = Penalty(length=14, examples=1500).run(0, lambda line: None)
    overlaps = [row.values[0] for row in found.rows]
    assert len(overlaps) == len(PRICES)
    assert overlaps == sorted(overlaps, reverse=True)
    assert overlaps[-1] < 0.5 * overlaps[0]


def test_overlap_is_the_mean_off_the_diagonal():
    rows = [torch.softmax(torch.randn(length, 3), 0) for length in (4, 2)]
    expected = 0.0
    for row in rows:
        product = row.T @ row
        expected += product[~torch.eye(3, dtype=torch.bool)].mean().item() / 2
    assert overlap(Ragged.from_rows(rows)) == pytest.approx(expected, rel=1e-5)


def test_hops_that_look_elsewhere_do_not_overlap():
    apart = Ragged.from_rows([torch.eye(2)])
    alike = Ragged.from_rows([torch.tensor([[1.0, 1.0], [0.0, 0.0]])])
    assert (overlap(apart), overlap(alike)) == (0.0, 1.0)
