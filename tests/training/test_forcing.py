import pytest
import torch

from regard.data.pairs import EncodedPairs
from regard.errors import ConfigError
from regard.models.base import Output
from regard.tasks.generate import TokenLoss
from regard.training.forcing import FORCINGS, ForcedLoss, ForcingConfig, forcing_ratio


@pytest.mark.parametrize("schedule", FORCINGS)
def test_every_schedule_falls_from_its_start_to_its_end(schedule):
    """002-10: the true token early, the decoder's own later."""
    config = ForcingConfig(schedule, start=0.9, end=0.2)
    ratios = [forcing_ratio(config, step / 20) for step in range(21)]
    assert ratios[0] == pytest.approx(0.9)
    assert ratios[-1] == pytest.approx(0.9 if schedule == "constant" else 0.2)
    assert ratios == sorted(ratios, reverse=True)
    assert all(0 <= ratio <= 1 for ratio in ratios)


def test_each_has_its_own_shape():
    half = {name: forcing_ratio(ForcingConfig(name, start=1.0, end=0.25), 0.5) for name in FORCINGS}
    assert half == {
        "constant": 1.0,
        "linear": pytest.approx(0.625),
        "exponential": pytest.approx(0.5),
        "inverse-sigmoid": pytest.approx(0.625),
    }
    early = forcing_ratio(ForcingConfig("inverse-sigmoid", end=0.0), 0.1)
    assert early > 0.97  # flat at first, unlike the straight line


def test_before_the_start_and_after_the_end_nothing_changes():
    config = ForcingConfig("linear", end=0.5)
    assert forcing_ratio(config, -1.0) == 1.0
    assert forcing_ratio(config, 2.0) == 0.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"schedule": "liner"}, "did you mean 'linear'"),
        ({"start": 1.2}, "start must be from 0 to 1, got 1.2"),
        ({"end": -0.1}, "end must be from 0 to 1"),
        ({"schedule": "exponential", "end": 0.0}, "never reaches 0"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        ForcingConfig(**wrong)


class Spy:
    """Keeps how often each step was to be told the true token."""

    def __init__(self):
        self.told = []

    def __call__(self, batch, forcing):
        self.told.append(forcing)
        return Output(torch.zeros(batch.target.values.shape[0], 9))


def test_the_loss_follows_the_schedule():
    """002-09, 002-10: all at the start of the training, none at its end."""
    spy, batch = Spy(), EncodedPairs([[5]], [[6, 7]]).batch([0])
    loss = ForcedLoss(TokenLoss(), ForcingConfig("linear", start=1.0, end=0.0))
    costs = [loss(spy, batch, progress) for progress in (0.0, 0.25, 1.0)]
    assert spy.told == pytest.approx([1.0, 0.75, 0.0])
    assert float(costs[0].weight) == 3  # two tokens and the end
    assert loss.to(torch.device("cpu")) is loss
