"""Settings to JSON and back, and from the command line."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from regard.config import (
    checked_settings,
    from_dict,
    require,
    require_counts,
    require_one_of,
    require_shares,
    to_dict,
    with_text_values,
)
from regard.data.caps import Caps
from regard.data.columns import Columns
from regard.errors import ConfigError
from regard.experiments import EXPERIMENTS
from regard.experiments.vectors import SkipGramConfig
from regard.models import MODELS
from regard.models.attention_lstm import AttentionLSTMConfig
from regard.models.seq2seq import Seq2SeqConfig
from regard.tasks.generate import ForcingConfig, GenerationConfig
from regard.text.tokenize import TextConfig
from regard.text.units import UnitsConfig
from regard.training.config import TrainingConfig


@dataclass(frozen=True)
@checked_settings
class Sample:
    count: int = 3
    share: float = 0.5
    name: str = "a"
    loud: bool = False
    limit: int | None = None
    rate: float | None = 1.0
    kind: Literal["this", "that"] = "this"
    kinds: Literal["x"] | None = None


@pytest.mark.parametrize(
    "config", [Sample, TextConfig, TrainingConfig, *MODELS.values()], ids=lambda kind: kind.__name__
)
def test_settings_survive_json(config):
    """000-06: every knob is in the saved config and comes back."""
    assert from_dict(config, json.loads(json.dumps(to_dict(config())))) == config()


def test_all_kinds_of_values_survive():
    sample = Sample(7, 1.0, "b c", True, 0, None, "that", "x")
    assert from_dict(Sample, json.loads(json.dumps(to_dict(sample)))) == sample


def test_a_whole_number_may_stand_for_a_number():
    assert from_dict(Sample, {"share": 1}) == Sample(share=1.0)
    assert isinstance(from_dict(Sample, {"share": 1}).share, float)
    assert isinstance(from_dict(Sample, {"rate": 2}).rate, float)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"cuont": 3}, "Sample has no setting 'cuont'; did you mean 'count'"),
        ({"zzz": 3}, "Sample has no setting 'zzz'; there are count, kind, kinds, limit"),
        ({"count": "3"}, "Sample.count must be a whole number, got '3'"),
        ({"count": 3.0}, "Sample.count must be a whole number, got 3.0"),
        ({"count": True}, "Sample.count must be a whole number, got True"),
        ({"count": None}, "Sample.count must be a whole number, got None"),
        ({"share": True}, "Sample.share must be a number, got True"),
        ({"kind": 3}, "Sample.kind must be 'this' or 'that', got 3"),
        ({"loud": 1}, "Sample.loud must be true or false, got 1"),
        ({"limit": "none"}, "Sample.limit must be a whole number or none, got 'none'"),
        ({"kind": "those"}, "Sample.kind cannot be 'those'; did you mean 'this'"),
    ],
)
def test_a_wrong_value_is_named(values, message):
    with pytest.raises(ConfigError, match=message):
        from_dict(Sample, values)
    if values.keys() <= to_dict(Sample()).keys():
        with pytest.raises(ConfigError, match=message):
            Sample(**values)


SETTINGS = [
    *(TrainingConfig, ForcingConfig, GenerationConfig, TextConfig, UnitsConfig, SkipGramConfig),
    *(Caps, Columns, AttentionLSTMConfig, Seq2SeqConfig, *MODELS.values(), *EXPERIMENTS.values()),
]


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_every_setting_names_a_value_of_a_wrong_type(kind):
    """Issue 10: ``TrainingConfig(epochs="3")`` raised a TypeError about a comparison."""
    for field in dataclasses.fields(kind):
        for wrong in (object(), [1], b"x"):
            with pytest.raises(ConfigError, match=rf"^{kind.__name__}\.{field.name} must be "):
                kind(**{field.name: wrong})
    kind()


def test_text_is_no_number_in_python_either():
    with pytest.raises(ConfigError, match=r"TrainingConfig.epochs must be a whole number, got '3'"):
        TrainingConfig(epochs="3")
    with pytest.raises(ConfigError, match="clip must be a number or none, got '1'"):
        dataclasses.replace(TrainingConfig(), clip="1")
    with pytest.raises(ConfigError, match="optimizer cannot be 'adma'; did you mean 'adam'"):
        TrainingConfig(optimizer="adma")


def test_numbers_of_numpy_become_pythons():
    """A search over ``np.arange(3)`` hands out such numbers, which JSON cannot hold."""
    config = TrainingConfig(epochs=np.int64(3), learning_rate=np.float32(0.5), clip=2)
    assert config == TrainingConfig(epochs=3, learning_rate=0.5, clip=2.0)
    assert [type(config.epochs), type(config.learning_rate), type(config.clip)] == [
        *(int, float, float)
    ]
    json.dumps(to_dict(config))


def test_ranges_are_checked_after_types_and_by_bases_too():
    with pytest.raises(ConfigError, match="hidden_size must be at least 1, got 0"):
        MODELS["han"](hidden_size=0)
    with pytest.raises(ConfigError, match="max_words must be at least 1, got 0"):
        Caps(max_words=0)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("count", "12", 12),
        ("share", "1e-3", 0.001),
        ("share", "2", 2.0),
        ("name", "12", "12"),
        ("name", "", ""),
        ("loud", "Yes", True),
        ("loud", "0", False),
        ("limit", "None", None),
        ("limit", "5", 5),
        ("rate", "null", None),
        ("kind", "that", "that"),
    ],
)
def test_text_becomes_what_the_setting_is(name, text, value):
    changed = with_text_values(Sample(), {name: text})
    assert getattr(changed, name) == value and type(getattr(changed, name)) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("count", "1.5", "Sample.count must be a whole number, got '1.5'"),
        ("count", "none", "Sample.count must be a whole number, got 'none'"),
        ("loud", "perhaps", "Sample.loud must be true or false, got 'perhaps'"),
        ("limit", "few", "Sample.limit must be a whole number or none, got 'few'"),
        ("kind", "those", "Sample.kind cannot be 'those'; did you mean 'this'"),
        ("knid", "this", "Sample has no setting 'knid'; did you mean 'kind'"),
    ],
)
def test_wrong_text_is_named(name, text, message):
    with pytest.raises(ConfigError, match=message):
        with_text_values(Sample(), {name: text})


def test_the_rest_stays_and_nothing_is_changed_in_place():
    sample = Sample(count=9)
    assert with_text_values(sample, {"name": "z"}) == Sample(count=9, name="z")
    assert sample.name == "a"
    assert with_text_values(sample, {}) == sample


def test_requirements_speak():
    require(True, "never seen")
    require_one_of("cell", "gru", ["rnn", "gru"])
    with pytest.raises(ConfigError, match=r"^a reason$"):
        require(False, "a reason")
    with pytest.raises(ConfigError, match="cell cannot be 'gur'; did you mean 'gru'"):
        require_one_of("cell", "gur", iter(["rnn", "gru"]))


def test_counts_are_at_least_one_or_left_open():
    require_counts(Sample(count=1, limit=None), "count", "limit")
    with pytest.raises(ConfigError, match=r"^count must be at least 1, got 0$"):
        require_counts(Sample(count=0), "limit", "count")
    with pytest.raises(ConfigError, match=r"^limit must be at least 1, got -2$"):
        require_counts(Sample(limit=-2), "count", "limit")


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_shares_are_from_zero_to_below_one(share):
    require_shares(Sample(share=0.0, rate=0.999), "share", "rate")
    with pytest.raises(ConfigError, match=f"^share must be from 0 to below 1, got {share}$"):
        require_shares(Sample(share=share), "share")
