"""Which documents go together: every one once, within the limits, decided by seed and epoch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batches import plan_batches, split_by_rank
from regard.errors import ConfigError

lengths = st.lists(st.integers(0, 300), max_size=200)
limits = st.integers(1, 40)


@settings(max_examples=200, deadline=None)
@given(lengths, limits, st.integers(1, 500), st.integers(0, 5))
def test_every_document_is_in_one_batch_within_the_limits(lengths, batch_size, batch_tokens, epoch):
    sizes = np.array(lengths, dtype=np.int64)
    plan = plan_batches(
        sizes, batch_size=batch_size, batch_tokens=batch_tokens, seed=1, epoch=epoch
    )
    together = np.concatenate(plan) if plan else np.zeros(0, np.int64)
    assert sorted(together.tolist()) == list(range(len(lengths)))
    for batch in plan:
        assert 1 <= len(batch) <= batch_size
        assert sizes[batch].sum() <= batch_tokens or len(batch) == 1


def plan(lengths, *, seed=0, epoch=0, batch_size=8, batch_tokens=1_000):
    planned = plan_batches(
        lengths, batch_size=batch_size, batch_tokens=batch_tokens, seed=seed, epoch=epoch
    )
    return [batch.tolist() for batch in planned]


def test_seed_and_epoch_decide_everything():
    sizes = np.random.default_rng(3).integers(0, 90, 500)
    assert plan(sizes) == plan(sizes)
    assert plan(sizes) != plan(sizes, epoch=1)
    assert plan(sizes) != plan(sizes, seed=1)
    assert plan(sizes, seed=0, epoch=1) != plan(sizes, seed=1, epoch=0)


def test_companions_change_from_epoch_to_epoch():
    """Also among documents of one length, where grouping alone would keep them together."""
    sizes = np.full(400, 10)
    first = {frozenset(batch) for batch in plan(sizes)}
    second = {frozenset(batch) for batch in plan(sizes, epoch=1)}
    assert len(first & second) < 3


def test_documents_of_a_batch_are_of_like_length():
    sizes = np.random.default_rng(3).integers(1, 1_000, 5_000)
    grouped = plan(sizes, batch_size=32, batch_tokens=10**9)
    spread = np.mean([np.ptp(sizes[batch]) for batch in grouped])
    at_random = np.random.default_rng(4).permutation(5_000).reshape(-1, 50)
    assert spread < np.mean([np.ptp(sizes[batch]) for batch in at_random]) / 10


def test_batches_do_not_come_in_the_order_of_their_lengths():
    sizes = np.arange(2_000)
    means = [float(np.mean(sizes[batch])) for batch in plan(sizes, batch_tokens=10**9)]
    assert abs(np.corrcoef(means, range(len(means)))[0, 1]) < 0.2


def test_batches_are_nearly_full():
    sizes = np.random.default_rng(3).integers(1, 400, 10_000)
    planned = plan(sizes, batch_size=64, batch_tokens=8_000)
    assert len(planned) < 1.15 * max(10_000 / 64, sizes.sum() / 8_000)


def test_a_million_documents_are_planned_at_once():
    sizes = np.random.default_rng(0).integers(1, 300, 1_000_000)
    planned = plan_batches(sizes, batch_size=256, batch_tokens=65_536, seed=0, epoch=0)
    assert sum(map(len, planned)) == 1_000_000


@given(st.lists(st.integers(0, 1000), max_size=30, unique=True), st.integers(1, 8))
def test_the_shares_of_all_ranks_are_the_batch(documents, world):
    batch = np.array(documents, dtype=np.int64)
    shares = [split_by_rank(batch, rank=rank, world=world) for rank in range(world)]
    assert sorted(np.concatenate(shares).tolist()) == sorted(documents)
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1


def test_a_rank_may_get_nothing():
    assert len(split_by_rank(np.array([5]), rank=1, world=2)) == 0


def test_limits_and_ranks_are_checked():
    for wrong in ({"batch_size": 0}, {"batch_tokens": 0}):
        with pytest.raises(ConfigError, match="must be at least 1, got 0"):
            plan([1], **wrong)
    with pytest.raises(ConfigError, match="rank must be from 0 to 1, got 2"):
        split_by_rank(np.array([1]), rank=2, world=2)
