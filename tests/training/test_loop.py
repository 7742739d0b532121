"""The loop, against one written by hand, and stopped and taken up again at every step."""

import dataclasses
import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from regard.errors import DataError
from regard.models import HANConfig
from regard.records.history import Epoch
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Snapshot
from regard.training.config import TrainingConfig
from regard.training.loop import EarlyStopping, count_steps, train
from regard.training.optimizers import OPTIMIZERS
from regard.training.seeds import seeded
from regard.training.state import TrainingState
from support.toys import MANY_WORDS, ToySource, plain_config, toy_model

SOURCE = ToySource(30)
CONFIG = plain_config(epochs=2, batch_size=8, learning_rate=0.05, clip=None)


def steps_of(model, config, loss=None):
    batches = PlannedBatches(SOURCE, config)
    return train(model, batches, loss=loss or ClassificationLoss(), config=config)


def weights_after(config, *, dropout=0.0, between=lambda model: None):
    model = toy_model(dropout=dropout)
    for _ in steps_of(model, config):
        between(model)
    return torch.cat([weight.flatten() for weight in model.state_dict().values()])


def test_the_loop_does_what_a_plain_one_does():
    """001-19: Adam on the mean loss, batch after batch, the smaller last one included (000-07)."""
    model = toy_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    batches = PlannedBatches(SOURCE, CONFIG)
    losses = []
    for epoch in range(2):
        for batch in batches.read(epoch):
            loss = F.cross_entropy(model(batch).logits, batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    expected = torch.cat([weight.flatten() for weight in model.state_dict().values()])
    torch.testing.assert_close(weights_after(CONFIG), expected)
    seen = [step.loss for step in steps_of(toy_model(), CONFIG)]
    assert seen == pytest.approx(losses, rel=1e-5)


def test_each_step_says_where_it_is():
    seen = list(steps_of(toy_model(), CONFIG))
    places = [(step.epoch, step.batch, step.batches, step.step, step.total_steps) for step in seen]
    assert places == [
        (1, 1, 4, 1, 8),
        (1, 2, 4, 2, 8),
        (1, 3, 4, 3, 8),
        (1, 4, 4, 4, 8),
        (2, 1, 4, 5, 8),
        (2, 2, 4, 6, 8),
        (2, 3, 4, 7, 8),
        (2, 4, 4, 8, 8),
    ]
    assert [step.ends_epoch for step in seen] == [False, False, False, True] * 2
    assert sum(step.documents for step in seen) == 60
    assert sum(step.tokens for step in seen) == 2 * SOURCE.lengths.sum()
    assert all(step.seconds > 0 and step.learning_rate == 0.05 for step in seen)


def test_it_prints_nothing(capsys):
    list(steps_of(toy_model(), CONFIG))
    assert capsys.readouterr() == ("", "")


def test_to_stop_asking_is_to_stop():
    model, other = toy_model(), toy_model()
    for step in steps_of(model, CONFIG):
        if step.step == 3:
            break
    for _, _ in zip(range(3), steps_of(other, CONFIG), strict=False):
        pass
    assert torch.equal(model.classify.weight, other.classify.weight)


def test_the_same_seed_gives_the_same_bits():
    config = dataclasses.replace(CONFIG, seed=5)
    first = weights_after(config, dropout=0.5)
    assert torch.equal(weights_after(config, dropout=0.5), first)
    assert not torch.equal(weights_after(CONFIG, dropout=0.5), first)


def test_what_the_caller_does_between_steps_changes_nothing():
    def disturb(model):
        model.eval()
        torch.manual_seed(1)
        torch.rand(7)
        model.zero_grad()

    with torch.random.fork_rng():
        disturbed = weights_after(CONFIG, dropout=0.5, between=disturb)
    assert torch.equal(disturbed, weights_after(CONFIG, dropout=0.5))


def test_the_callers_random_state_is_not_touched():
    before = torch.get_rng_state()
    for _ in steps_of(toy_model(dropout=0.5), CONFIG):
        assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("limit", [0.5, 0.01])
def test_gradients_are_no_longer_than_the_limit(limit):
    """001-19: after clipping the norm is at most the limit, at every step."""
    model = toy_model()
    norms = []
    for step in steps_of(model, dataclasses.replace(CONFIG, clip=limit)):
        norms.append(torch.cat([p.grad.flatten() for p in model.parameters()]).norm())
        assert norms[-1] <= limit
        assert step.gradient_norm >= norms[-1] * (1 - 1e-5)
    assert max(norms) > 0.5 * limit


def test_the_penalty_is_part_of_the_loss_and_told_apart():
    """001-10: what the model adds to its loss is reported by itself."""
    plain = next(steps_of(toy_model(), CONFIG))
    step = next(steps_of(toy_model(penalty=0.7), CONFIG))
    assert plain.penalty == 0
    assert step.penalty > 0
    assert step.loss == pytest.approx(plain.loss + step.penalty)


def test_double_precision_holds_throughout():
    """001-19: the float64 option."""
    model = toy_model()
    for step in steps_of(model, dataclasses.replace(CONFIG, precision="float64")):
        assert step.result.mean.dtype == torch.float64
    assert {weight.dtype for weight in model.parameters()} == {torch.float64}
    list(steps_of(model, CONFIG))
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


def test_mixed_precision_computes_in_sixteen_bits_and_keeps_weights_in_thirty_two():
    model = toy_model()
    seen = set()
    model.classify.register_forward_hook(lambda module, given, made: seen.add(made.dtype))
    for step in steps_of(model, dataclasses.replace(CONFIG, precision="bfloat16")):
        assert step.result.mean.dtype == torch.float32
    assert seen == {torch.bfloat16}
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


def test_frozen_vectors_stay_and_the_rest_learns():
    """000-12, D16: vectors can be frozen, and are not unless asked."""
    model = toy_model()
    list(steps_of(model, dataclasses.replace(CONFIG, freeze_vectors=True)))
    assert torch.equal(model.embedding.weight, toy_model().embedding.weight)
    assert not torch.equal(model.classify.weight, toy_model().classify.weight)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("schedule", ["constant", "cosine", "one-cycle"])
def test_a_run_goes_on_from_any_step_to_the_same_bits(optimizer, schedule):
    config = dataclasses.replace(CONFIG, optimizer=optimizer, schedule=schedule, warmup=3)
    batches, loss = PlannedBatches(SOURCE, config), ClassificationLoss()
    expected = weights_after(config, dropout=0.5)
    for stop in range(1, 9):
        state = TrainingState(toy_model(dropout=0.5), config, total_steps=8)
        steps = train(state.model, batches, loss=loss, config=config, state=state)
        for _ in range(stop):
            next(steps)
        kept = state.snapshot()
        kept = Snapshot(
            {name: tensor.clone() for name, tensor in kept.tensors.items()},
            json.loads(json.dumps(kept.values)),
        )
        again = TrainingState(toy_model(dropout=0.5, seed=9), config, total_steps=8)
        again.restore(kept)
        rest = list(train(again.model, batches, loss=loss, config=config, state=again))
        assert [step.step for step in rest] == list(range(stop + 1, 9))
        weights = torch.cat([weight.flatten() for weight in again.model.state_dict().values()])
        assert torch.equal(weights, expected)


def test_no_documents_are_an_error_not_an_endless_loop():
    nothing = PlannedBatches(SOURCE, CONFIG, indices=np.zeros(0, np.int64))
    with pytest.raises(DataError, match="nothing to train on"):
        next(train(toy_model(), nothing, loss=ClassificationLoss(), config=CONFIG))
    with pytest.raises(DataError, match="nothing to train on"):
        count_steps(nothing, CONFIG)


def test_fewer_batches_than_announced_are_an_error_not_an_endless_loop():
    class Short(PlannedBatches):
        def read(self, epoch, start=0):
            yield next(super().read(epoch, start))

    with pytest.raises(DataError, match="was to have 4 batches, got 1"):
        list(train(toy_model(), Short(SOURCE, CONFIG), loss=ClassificationLoss(), config=CONFIG))


def test_one_document_is_enough():
    batches = PlannedBatches(SOURCE, CONFIG, indices=np.array([4]))
    steps = list(train(toy_model(), batches, loss=ClassificationLoss(), config=CONFIG))
    assert [step.documents for step in steps] == [1, 1]


class ManyWords(ToySource):
    """Documents of a hundred words of many, enough for every kernel to wake its threads."""

    def __init__(self, count):
        super().__init__(count)
        draw = np.random.default_rng(1)
        self.documents = [draw.integers(2, MANY_WORDS, (5, 20)) for _ in range(count)]
        self.lengths = np.full(count, 100)


def test_threads_change_no_bit_of_a_training():
    """A network of the paper's size with all of its dropout: same seed, same bits."""
    config = plain_config(epochs=1, batch_size=64, clip=0.5)
    before, found = torch.get_num_threads(), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        with seeded(0):
            model = HANConfig().build(vocab_size=MANY_WORDS, label_count=3)
        for _ in train(
            model, PlannedBatches(ManyWords(128), config), loss=ClassificationLoss(), config=config
        ):
            pass
        found.append(model.state_dict())
    torch.set_num_threads(before)
    for name, weight in found[0].items():
        assert torch.equal(weight, found[1][name]), name


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


def test_one_epoch_without_progress_does_not_end_a_training_by_default():
    """Where one sentence decides, losses stand still before it is found (benchmarks/planted.py)."""
    stopping = EarlyStopping(TrainingConfig())
    for epoch in epochs([0.69, 0.66, 0.67, 0.61, 0.62], "loss"):
        stopping.judge(epoch)
        assert not stopping.exhausted
    for epoch in epochs([0.62], "loss"):
        stopping.judge(epoch)
    assert stopping.exhausted and stopping.best_epoch == 4


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
