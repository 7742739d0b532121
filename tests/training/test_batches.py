"""Planned batches: every document once an epoch, in an order the seed decides."""

import dataclasses

import numpy as np
import torch

from regard.training.batches import PlannedBatches
from support.toys import ToySource, plain_config

SOURCE = ToySource(50)
CONFIG = plain_config(batch_size=8)


def contents(batches):
    return [batch.ids.values.tolist() for batch in batches]


def test_asked_twice_it_gives_the_same_batches():
    batches = PlannedBatches(SOURCE, CONFIG)
    first = contents(batches.read(3))
    assert contents(batches.read(4)) != first
    assert contents(batches.read(3)) == first
    assert contents(PlannedBatches(SOURCE, CONFIG).read(3)) == first
    other = PlannedBatches(SOURCE, dataclasses.replace(CONFIG, seed=1))
    assert contents(other.read(3)) != first


def test_a_later_start_leaves_out_the_first_batches():
    batches = PlannedBatches(SOURCE, CONFIG)
    assert contents(batches.read(0, 2)) == contents(batches.read(0))[2:]
    assert contents(batches.read(0, batches.count(0))) == []


def test_every_chosen_document_comes_once():
    chosen = np.array([3, 7, 11, 40, 41])
    batches = list(PlannedBatches(SOURCE, CONFIG, indices=chosen).read(0))
    words = torch.cat([batch.ids.values for batch in batches]).sort().values
    expected = SOURCE.batch(chosen).ids.values.sort().values
    assert torch.equal(words, expected)
    assert sum(map(len, batches)) == 5


def test_no_batch_has_more_tokens_or_documents_than_allowed():
    config = plain_config(batch_size=8, batch_tokens=30)
    batches = list(PlannedBatches(SOURCE, config).read(0))
    assert len(batches) == PlannedBatches(SOURCE, config).count(0)
    assert all(len(batch) <= 8 and len(batch.ids.values) <= 30 for batch in batches)


def test_shares_are_the_whole_batch_and_may_be_empty():
    source = ToySource(10)
    whole = PlannedBatches(source, plain_config(batch_size=4))
    shares = [whole.share(rank, 3) for rank in range(3)]
    assert {share.count(0) for share in shares} == {whole.count(0)} == {3}
    for batch, *parts in zip(whole.read(0), *(share.read(0) for share in shares), strict=True):
        assert sum(map(len, parts)) == len(batch)
        words = torch.cat([part.ids.values for part in parts])
        assert torch.equal(words.sort().values, batch.ids.values.sort().values)
    sizes = [[len(batch) for batch in share.read(0)] for share in shares]
    assert any(0 in row for row in sizes)


def test_no_documents_are_no_batches():
    assert PlannedBatches(SOURCE, CONFIG, indices=np.zeros(0, np.int64)).count(0) == 0
