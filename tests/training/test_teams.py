"""Who trains a model, alone or with others: what each judges it by."""

import torch
from torch import nn

from regard.training.batches import PlannedBatches
from regard.training.teams import Alone, batches_to_judge
from support.toys import ToySource, plain_config

WHOLE = PlannedBatches(ToySource(10), plain_config(batch_size=4))


class Third(Alone):
    """One of three processes."""

    size = 3

    def __init__(self, rank):
        self.rank = rank

    def share_batches(self, batches):
        return batches.share(self.rank, self.size)


def words(batches):
    return torch.cat([batch.ids.values for batch in batches]).sort().values


def test_all_processes_together_judge_by_every_document_once():
    model = nn.Linear(1, 1)
    shares = [list(batches_to_judge(model, WHOLE, Third(rank))) for rank in range(3)]
    assert torch.equal(words(batch for share in shares for batch in share), words(WHOLE.read(0)))


def test_a_share_without_documents_is_passed_over():
    assert any(not len(batch) for rank in range(3) for batch in WHOLE.share(rank, 3).read(0))
    for rank in range(3):
        assert all(len(batch) for batch in batches_to_judge(nn.Linear(1, 1), WHOLE, Third(rank)))


def test_batches_come_where_the_model_is():
    model = nn.Linear(1, 1, device="meta")
    assert {b.ids.values.device.type for b in batches_to_judge(model, WHOLE, Alone())} == {"meta"}
