import dataclasses

import pytest
import torch

from regard.config import from_dict, with_text_values
from regard.errors import ConfigError
from regard.models import MODELS, CAHANConfig, FlatConfig, HANConfig
from support.random_ids import SMALL, batch_of, built, random_documents

OTHER = {
    "embedding_size": 10,
    "hidden_size": 6,
    "sentence_hidden_size": 6,
    "attention_size": 7,
    "encoder": "none",
    "cell": "lstm",
    "layers": 3,
    "directions": 1,
    "heads": 2,
    "positions": "learned",
    "norm": "post",
    "pooling": "mean",
    "score": "additive",
    "hops": 3,
    "penalty": 2.5,
    "word_dropout": 0.5,
    "vector_dropout": 0.5,
    "state_dropout": 0.5,
    "reading": "flow",
    "weighing": "states",
    "sentence_dropout": 0.5,
    "context": "sum",
    "context_directions": 1,
    "gated": True,
    "word_pooling": "mean",
    "bert_layers": 3,
    "bert_heads": 1,
    "bert_feed_size": 9,
    "bert_longest": 5,
    "bert_segments": 1,
    "bert_dropout": 0.5,
    "bert_activation": "relu",
    "bert_eps": 1e-2,
    "bert_pieces": 40,
}
"""Another value for every setting of every model."""
OF_A_TRANSFORMER = ("heads", "positions", "norm")
OF_LEARNING = ("folder", "tuned_layers", "bert_rate", "layer_decay", "places")
"""What BERT starts from, how fast it learns, and what changes nothing before something is learnt:
tests of their own are in test_bert_han.py."""


def without_dropout(config):
    """The same settings, with nothing left to chance."""
    names = {field.name for field in dataclasses.fields(config) if field.name.endswith("_dropout")}
    return dataclasses.replace(config, **dict.fromkeys(names, 0.0))


def answer(config):
    """What a training step sees: logits and penalty, weights drawn from a seed."""
    batch = batch_of([document for document in random_documents(8, seed=4) if document])
    model = built(config).train()
    torch.manual_seed(9)
    output = model(batch)
    penalty = torch.zeros(1) if output.penalty is None else output.penalty.view(1)
    return torch.cat([output.logits.flatten(), penalty])


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, field.name)
        for kind in MODELS.values()
        for field in dataclasses.fields(kind)
        if field.name not in OF_LEARNING
    ],
)
def test_every_setting_has_an_effect(kind, name):
    """D7: none is read and then ignored."""
    encoder = "transformer" if name in OF_A_TRANSFORMER else "recurrent"
    settings = {"encoder": encoder, "pooling": "structured", "hops": 2, "layers": 2}
    if name == "heads":  # which must share the columns evenly
        settings["positions"] = "sinusoidal"
    if name == "weighing":
        settings["weighing"] = "sentences"
    start = without_dropout(kind(**SMALL, **settings))
    changed = dataclasses.replace(start, **{name: OTHER[name]})
    assert getattr(start, name) != OTHER[name]
    one, other = answer(start), answer(changed)
    assert not torch.allclose(one, other)


@pytest.mark.parametrize("name", ["word_dropout", "vector_dropout", "state_dropout"])
@pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)
def test_dropout_is_drawn_from_the_seed_and_only_in_training(kind, name):
    """D7."""
    config = dataclasses.replace(without_dropout(kind(**SMALL)), **{name: 0.5})
    assert torch.equal(answer(config), answer(config))
    batch = batch_of(random_documents(5))
    model = built(config)
    assert torch.equal(model(batch).logits, model(batch).logits)
    torch.testing.assert_close(model(batch).logits, built(kind(**SMALL))(batch).logits)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hidden_size", 0, "hidden_size must be at least 1, got 0"),
        ("embedding_size", -3, "embedding_size must be at least 1, got -3"),
        ("attention_size", 0, "attention_size must be at least 1"),
        ("layers", 0, "layers must be at least 1"),
        ("heads", 0, "heads must be at least 1"),
        ("hops", 0, "hops must be at least 1"),
        ("directions", 3, "directions must be 1 or 2, got 3"),
        ("word_dropout", 1.0, "word_dropout must be from 0 to below 1, got 1.0"),
        ("vector_dropout", -0.1, "vector_dropout must be from 0 to below 1"),
        ("state_dropout", 2.0, "state_dropout must be from 0 to below 1"),
        ("penalty", -1.0, "penalty must not be negative, got -1.0"),
        ("cell", "grU", "cell cannot be 'grU'; did you mean 'gru'"),
        ("encoder", "nope", "encoder cannot be 'nope'; did you mean 'none'"),
        ("pooling", "atention", "did you mean 'attention'"),
        ("score", "context ", "did you mean 'context'"),
    ],
)
@pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)
def test_a_value_out_of_range_is_named(kind, name, value, message):
    with pytest.raises(ConfigError, match=message):
        kind(**{name: value})


@pytest.mark.parametrize("kind", [HANConfig, CAHANConfig])
def test_a_wrong_hierarchy_is_named(kind):
    with pytest.raises(ConfigError, match="sentence_hidden_size must be at least 1, got 0"):
        kind(sentence_hidden_size=0)
    with pytest.raises(ConfigError, match="5 heads cannot share 22 columns evenly"):
        kind(encoder="transformer", sentence_hidden_size=11)
    with pytest.raises(ConfigError, match="reading cannot be 'flows'; did you mean 'flow'"):
        kind(reading="flows")


@pytest.mark.parametrize("kind", MODELS.values(), ids=MODELS)
def test_heads_that_cannot_share_a_transformers_columns_are_named(kind):
    with pytest.raises(ConfigError, match="3 heads cannot share 100 columns evenly"):
        kind(encoder="transformer", heads=3)
    with pytest.raises(ConfigError, match="heads of an even size, got 25"):
        kind(encoder="transformer", heads=4)
    assert kind(encoder="transformer", heads=4, positions="sinusoidal").heads == 4
    assert kind(encoder="recurrent", heads=3).heads == 3  # which has none


def test_a_wrong_context_is_named():
    with pytest.raises(ConfigError, match="context cannot be 'avg'; there are mean, sum"):
        CAHANConfig(context="avg")
    with pytest.raises(ConfigError, match="context_directions must be 1 or 2, got 0"):
        CAHANConfig(context_directions=0)


def test_settings_are_read_from_the_command_line():
    """000-06: --set network.hidden_size=100."""
    given = {"hidden_size": "100", "sentence_hidden_size": "none", "cell": "lstm"}
    assert with_text_values(HANConfig(), given) == HANConfig(hidden_size=100, cell="lstm")
    with pytest.raises(ConfigError, match="did you mean 'hidden_size'"):
        from_dict(FlatConfig, {"hiden_size": 3})


def test_batch_size_is_no_setting_of_a_model():
    """000-06."""
    for kind in MODELS.values():
        assert not any("batch" in field.name for field in dataclasses.fields(kind))
