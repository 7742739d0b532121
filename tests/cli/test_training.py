"""``--set part.name=value``: settings from the shell."""

import pytest

from regard.errors import ConfigError
from regard.estimators.named import classifier_from, split_changes


def test_settings_of_every_part_can_be_changed():
    """000-06: every knob from the shell."""
    classifier = classifier_from(
        "flat",
        [
            "network.hidden_size=7",
            "network.cell = lstm",
            "training.clip=none",
            "training.freeze_vectors=yes",
            "training.learning_rate=1e-3",
            "text.max_size=500",
        ],
        device="cpu",
    )
    assert classifier.network.name == "flat" and classifier.network.hidden_size == 7
    assert classifier.network.cell == "lstm"
    assert classifier.training.clip is None and classifier.training.freeze_vectors is True
    assert classifier.training.learning_rate == 0.001
    assert classifier.text.max_size == 500
    assert classifier.device == "cpu"


def test_the_later_of_two_changes_wins():
    assert split_changes(["text.cjk=a", "text.cjk=b=c"])["text"] == {"cjk": "b=c"}
    assert classifier_from("han", [], device="cpu").get_params()["network"].name == "han"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("hidden_size=5", "takes part.name=value"),
        ("network.hidden_size", "takes part.name=value"),
        ("", "takes part.name=value"),
        ("trianing.epochs=5", "knows no part 'trianing'; did you mean 'training'"),
        ("network.=5", "HANConfig has no setting ''"),
        ("network.cell=gur", "cell cannot be 'gur'; did you mean 'gru'"),
        ("network.pooling=maen", "pooling cannot be 'maen'; did you mean 'mean'"),
        ("training.epochs=1.5", "epochs must be a whole number, got '1.5'"),
        ("training.freeze_vectors=perhaps", "must be true or false, got 'perhaps'"),
        ("training.learning_rate=nan", "learning_rate is too large, or no number: nan"),
    ],
)
def test_a_wrong_change_is_named(change, message):
    with pytest.raises(ConfigError, match=message):
        classifier_from("han", [change], device="cpu")


def test_an_unknown_network_is_named():
    with pytest.raises(
        ConfigError, match=r"--model cannot be 'xyz'; there are .*cahan, flat, .*han"
    ):
        classifier_from("xyz", [], device="cpu")
