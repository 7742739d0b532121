"""Nested settings under scikit-learn's names."""

import pytest
from sklearn.base import clone

from regard import ConfigError, DocumentClassifier, FlatConfig, HANConfig, TrainingConfig


def test_every_setting_is_a_parameter():
    params = DocumentClassifier(HANConfig(hidden_size=7)).get_params()
    assert params["network__hidden_size"] == 7
    assert params["training__epochs"] == TrainingConfig().epochs
    assert params["text__lowercase"] is True
    assert params["validation"] == 0.1
    assert set(DocumentClassifier().get_params(deep=False)) == {
        "network",
        "training",
        "text",
        "validation",
        "device",
        "progress",
    }


def test_what_was_given_is_stored_untouched():
    network, training = FlatConfig(), TrainingConfig(epochs=3)
    classifier = DocumentClassifier(network, training=training)
    assert classifier.network is network and classifier.training is training


def test_one_setting_changes_without_the_others():
    classifier = DocumentClassifier(HANConfig(cell="lstm"))
    assert classifier.set_params(network__hidden_size=9, training__seed=4) is classifier
    assert classifier.network == HANConfig(cell="lstm", hidden_size=9)
    assert classifier.training.seed == 4


def test_new_settings_come_before_their_fields():
    classifier = DocumentClassifier()
    classifier.set_params(network__hidden_size=9, network=FlatConfig(cell="rnn"))
    assert classifier.network == FlatConfig(cell="rnn", hidden_size=9)


def test_a_clone_is_equal_and_apart():
    classifier = DocumentClassifier(FlatConfig(hidden_size=3), validation=0.3, device="cpu")
    copied = clone(classifier)
    assert copied is not classifier
    assert copied.get_params() == classifier.get_params()
    copied.set_params(network__hidden_size=4)
    assert classifier.network.hidden_size == 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"netwrok": 1}, "no parameter 'netwrok'; did you mean 'network'"),
        ({"network__hiden_size": 1}, "HANConfig has no setting 'hiden_size'; did you mean 'hidden"),
        ({"validation__x": 1}, "float has no setting 'x'"),
        ({"network__hidden_size": 0}, "hidden_size must be at least 1, got 0"),
    ],
)
def test_a_wrong_parameter_is_named(params, message):
    with pytest.raises(ConfigError, match=message):
        DocumentClassifier().set_params(**params)
