"""A network with n-grams beside it is one model, whose two shares can be told apart."""

import numpy as np
import pytest
import torch

from regard import ConfigError
from regard.data.batch import collate
from regard.models import MODELS
from regard.models.han import HANConfig
from regard.models.ngrams import NGramTable, count_ngrams
from regard.models.wide import Wide, WideConfig, WidePart, rows_of
from regard.text.tokenize import TextConfig, tokenize_many
from regard.text.vocab import Vocab, count_words
from regard.training.devices import device_of
from support.reviews import reviews

TEXTS = [*reviews(12, seed=3)[0], "", "unheard of"]
TOKENS = tokenize_many(TEXTS)
VOCAB = Vocab.from_counts(count_words(TOKENS, TextConfig()), TextConfig())
BATCH = collate(TOKENS, VOCAB)


def widened(config=None, *, scale=0.5):
    torch.manual_seed(0)
    network = (config or HANConfig(embedding_size=6, hidden_size=5)).build(
        vocab_size=len(VOCAB), label_count=3
    )
    counted = count_ngrams(rows_of(BATCH))
    draw = np.random.default_rng(0)
    words = np.arange(2, len(VOCAB), 2)
    tables = (
        NGramTable(counted.keys, counted.rarity),
        NGramTable(words, (1 / words).astype(np.float32), 1),
    )
    weights = [draw.normal(size=(len(table), 3)).astype(np.float32) for table in tables]
    return Wide(
        network,
        list(map(WidePart, tables, weights)),
        intercepts=draw.normal(size=3).astype(np.float32),
        scale=scale,
    ).eval()


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_logits_are_the_sum_of_both_shares(config):
    model = widened(config())
    output, alone = model(BATCH), model.network(BATCH)
    torch.testing.assert_close(output.logits, 0.5 * alone.logits + model.share(BATCH))
    for layer, other in zip(output.attention, alone.attention, strict=True):
        assert torch.equal(layer.weights.values, other.weights.values)


def test_shares_of_words_add_up_to_the_share():
    model = widened()
    words = model.word_shares(BATCH).split(BATCH.by_document.host_lengths)
    together = torch.stack([document.sum(0) for document in words])
    expected = (model.share(BATCH) - model.intercepts).double()
    torch.testing.assert_close(together, expected, atol=1e-6, rtol=0)


def test_company_changes_nothing():
    model = widened()
    alone = torch.cat([model.share(collate([text], VOCAB)) for text in TOKENS])
    assert torch.equal(model.share(BATCH), alone)


def test_it_computes_where_its_network_is():
    """N-grams stay with the host; batches must go to the network's device all the same."""
    model = widened()
    model.network.to("meta")
    assert device_of(model) == torch.device("meta")


def test_it_is_the_same_from_vectors():
    model = widened()
    output = model.from_vectors(model.embed(BATCH), BATCH)
    torch.testing.assert_close(output.logits, model(BATCH).logits)


@pytest.mark.parametrize("change", [{"longest": 0}, {"longest": 4}, {"most_weights": 0}])
def test_settings_out_of_range_are_refused(change):
    with pytest.raises(ConfigError, match=f"{next(iter(change))} must be"):
        WideConfig(**change)
