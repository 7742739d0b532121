"""Training settings are checked where they are made."""

import json
import math
from dataclasses import FrozenInstanceError, fields

import pytest

from regard.config import from_dict, to_dict, with_text_values
from regard.errors import ConfigError
from regard.training.config import TrainingConfig

WRONG = {
    "epochs": 0,
    "batch_size": 0,
    "batch_tokens": 0,
    "optimizer": "adagrad",
    "learning_rate": 0.0,
    "momentum": 1.0,
    "weight_decay": -0.1,
    "schedule": "cosin",
    "warmup": -1.0,
    "clip": 0.0,
    "patience": 0,
    "min_delta": -1e-3,
    "monitor": "f1",
    "class_weights": "equal",
    "label_smoothing": 1.0,
    "focal": math.nan,
    "precision": "float16",
    "average": 0,
    "seed": -1,
}


@pytest.mark.parametrize("name", WRONG)
def test_a_value_out_of_range_is_named(name):
    with pytest.raises(ConfigError, match=name):
        TrainingConfig(**{name: WRONG[name]})


def test_only_settings_that_cannot_be_wrong_are_not_tried():
    assert {field.name for field in fields(TrainingConfig)} - set(WRONG) == {
        "cooling",
        "freeze_vectors",
    }


@pytest.mark.parametrize("name", ["learning_rate", "clip", "min_delta", "weight_decay"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_amount_is_infinite_or_undefined(name, value):
    with pytest.raises(ConfigError, match=name):
        TrainingConfig(**{name: value})


def test_a_misspelt_choice_is_corrected():
    with pytest.raises(ConfigError, match="did you mean 'cosine'"):
        TrainingConfig(schedule="cosin")


def test_settings_survive_json():
    """000-06: every knob goes to a file and back."""
    config = TrainingConfig(epochs=3, clip=None, patience=None, schedule="one-cycle", seed=7)
    assert from_dict(TrainingConfig, json.loads(json.dumps(to_dict(config)))) == config


def test_settings_can_be_given_as_text():
    """000-06: every knob can be set from the command line."""
    given = {
        "clip": "none",
        "learning_rate": "0.1",
        "freeze_vectors": "true",
        "monitor": "accuracy",
    }
    config = with_text_values(TrainingConfig(), given)
    assert (config.clip, config.learning_rate) == (None, 0.1)
    assert (config.freeze_vectors, config.monitor) == (True, "accuracy")


def test_settings_do_not_change():
    with pytest.raises(FrozenInstanceError):
        TrainingConfig().epochs = 3
