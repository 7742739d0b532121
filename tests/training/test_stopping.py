"""Early stopping, on scores written down by hand."""

import json

import pytest

from regard.records.history import Epoch
from regard.training.snapshot import Snapshot
from regard.training.stopping import EarlyStopping
from support.toys import plain_config


def epochs(scores, monitor="accuracy"):
    for number, score in enumerate(scores, 1):
        found = {} if score is None else {monitor: score}
        yield Epoch(number, 0.5, 1e-3, 10, 1.0, found)


def run(scores, **settings):
    """The best epoch, and after which one there was no patience left."""
    config = plain_config(**{"monitor": "accuracy", **settings})
    stopping = EarlyStopping(config)
    for epoch in epochs(scores, config.monitor):
        stopping.judge(epoch)
        if stopping.exhausted:
            return stopping.best_epoch, epoch.epoch
    return stopping.best_epoch, None


@pytest.mark.parametrize(
    ("scores", "settings", "expected"),
    [
        ([0.5, 0.6, 0.6, 0.6, 0.6], {"patience": 2}, (2, 4)),
        ([0.5, 0.6, 0.4, 0.7, 0.3, 0.2], {"patience": 2}, (4, 6)),
        ([0.5, 0.4, 0.3, 0.2, 0.1], {"patience": None}, (1, None)),
        ([0.7, 0.6, 0.8, 0.7, 0.5], {"patience": 2, "monitor": "loss"}, (2, 4)),
        ([0.1, 0.2, 0.2], {"patience": 1, "monitor": "macro_f1"}, (2, 3)),
        ([0.50, 0.51, 0.52, 0.9], {"patience": 2, "min_delta": 0.05}, (3, 3)),
        ([0.50, 0.54, 0.56, 0.58, 0.62], {"patience": 2, "min_delta": 0.05}, (5, None)),
        ([0.5], {"patience": 1}, (1, None)),
    ],
)
def test_it_stops_when_there_is_no_progress(scores, settings, expected):
    """001-21, 000-14: a plateau ends the patience, and the best epoch is remembered."""
    assert run(scores, **settings) == expected


def test_without_scores_the_last_epoch_is_the_best_and_nothing_stops():
    assert run([None] * 10, patience=1) == (10, None)


def test_the_loss_tells_while_bleu_is_nothing():
    """Texts below four words have no BLEU: the first epoch would be the best of all."""
    stopping = EarlyStopping(plain_config(monitor="bleu", patience=2))
    best = []
    for number, (loss, bleu) in enumerate([(3.0, 0.0), (2.0, 0.0), (2.5, 0.0), (9.0, 0.1)], 1):
        stopping.judge(Epoch(number, 0.5, 1e-3, 10, 1.0, {"loss": loss, "bleu": bleu}))
        best.append(stopping.best_epoch)
    assert best == [1, 2, 2, 4] and not stopping.exhausted


@pytest.mark.parametrize("seen", [0, 1, 3])
def test_it_goes_on_from_a_snapshot(seen):
    scores = [0.5, 0.6, 0.55, 0.58, 0.59, 0.57]
    config = plain_config(patience=3, monitor="accuracy")
    whole, first, second = EarlyStopping(config), EarlyStopping(config), EarlyStopping(config)
    for epoch in epochs(scores):
        whole.judge(epoch)
    for epoch in list(epochs(scores))[:seen]:
        first.judge(epoch)
    second.restore(Snapshot(values=json.loads(json.dumps(first.snapshot().values))))
    for epoch in list(epochs(scores))[seen:]:
        second.judge(epoch)
    assert second.snapshot().values == whole.snapshot().values
    assert second.exhausted
