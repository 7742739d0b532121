"""Looking inside: which heads are meant, what rows sum to, what pieces become, and the receipt."""

import numpy as np
import pytest
import torch

from regard import DocumentClassifier, FlatConfig, HANConfig, TrainingConfig
from regard.errors import ConfigError, DataError
from regard.explain.heads import MOST_WORDS, choose_heads, look_inside, roll_out
from regard.models import BertHANConfig
from regard.records.heads import AttentionHeads
from regard.text.pieced import PiecesOfWords
from support.random_ids import SETTINGS, SMALL, VOCAB_SIZE, batch_of, built, random_documents
from support.reviews import reviews, tiny

TEXTS, LABELS = reviews(24)
QUICK = TrainingConfig(epochs=1, batch_size=8)


@pytest.fixture(scope="module")
def fitted():
    network = FlatConfig(encoder="transformer", layers=2, embedding_size=8, hidden_size=5)
    classifier = DocumentClassifier(network, training=QUICK, wide=None, progress=False)
    return classifier.fit(TEXTS, LABELS).fitted_


def test_heads_are_chosen_by_layers_and_numbers():
    assert choose_heads("last", 3, 2) == [(3, 1), (3, 2)]
    assert len(choose_heads("all", 3, 2)) == 6
    assert choose_heads("1, 2.2", 3, 2) == [(1, 1), (1, 2), (2, 2)]
    assert choose_heads("2-3,2.1", 3, 2) == [(2, 1), (2, 2), (3, 1), (3, 2)]
    with pytest.raises(ConfigError, match="--heads cannot be '6:3'"):
        choose_heads("6:3", 3, 2)
    with pytest.raises(ConfigError, match=r"no head 4\.1; the network has 3 layers of 2 heads"):
        choose_heads("4", 3, 2)


def test_the_rollout_is_the_product_of_half_steps():
    """004-13: Abnar and Zuidema, with the mean of the heads; rows sum to one."""
    torch.manual_seed(0)
    weights = torch.rand(3, 2, 5, 5).softmax(-1) * 0.8
    expected = np.eye(5)
    for layer in weights.mean(1).numpy():
        step = 0.5 * layer / layer.sum(1, keepdims=True) + 0.5 * np.eye(5)
        expected = step @ expected
    found = roll_out(weights)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    torch.testing.assert_close(found.sum(1), torch.ones(5))


NAMES = ["han-transformer", "han-transformer-flow", "flat-transformer", "hierarchical-transformer"]


@pytest.mark.parametrize("name", [*NAMES, "bert-han", "bert-han-flow"])
def test_words_look_at_words_that_are_read_with_them(name):
    """004-13: every word once, and no row beyond one."""
    model, batch = built(SETTINGS[name]), batch_of(random_documents(4, seed=3))
    places = []
    with torch.no_grad():
        for looks in model.self_attention(batch):
            places += looks.words.tolist()
            sums = looks.weights.sum(-1)
            assert looks.weights.shape[2:] == (len(looks.words),) * 2
            assert (sums <= 1 + 1e-5).all()
            if not name.startswith("bert"):  # there marks that are no words get a share
                torch.testing.assert_close(sums, torch.ones_like(sums))
    assert sorted(places) == list(range(batch.token_count))


def test_the_looks_of_pieces_are_merged_to_those_of_words():
    model = built(BertHANConfig(**SMALL))
    lengths = 1 + np.arange(VOCAB_SIZE) % 3
    model.set_words(PiecesOfWords(np.arange(lengths.sum()) % 20, lengths, start=20, end=21))
    batch = batch_of([[[3, 4, 5]]])  # of one, two and three pieces
    with torch.no_grad():
        (looks,) = model.self_attention(batch)
        row = torch.cat(
            [torch.tensor([20]), model.pieces.cut(batch.ids.values).values, torch.tensor([21])]
        )
        whole = model.bert.weights(batch.ids.__class__(row, torch.tensor([8])))
    layer = whole[1].values.view(8, 8, -1)[1:-1, 1:-1]
    expected = layer[3:6].mean(0)[1:3].sum(0)  # the third word at the second
    torch.testing.assert_close(looks.weights[1, :, 2, 1], expected)


def test_every_head_has_a_receipt_and_the_record_survives_json(fitted):
    found = look_inside(fitted, TEXTS[1], heads="2")
    assert [head.name for head in found.heads[:2]] == ["rollout", "layer 2, head 1"]
    assert len(found.heads) == 6
    assert all(head.explanation.receipt is not None for head in found.heads)
    assert found.explanation.method == "rollout"
    assert sum(found.explanation.decisions[0].weights[0].values) == pytest.approx(1)
    assert "".join(TEXTS[1][a:b] for a, b in found.words) == "".join(TEXTS[1].split())
    assert AttentionHeads.from_json(found.to_json()) == found
    for head in found.heads:
        rows = np.array(head.shares).reshape(len(found.words), found.few)
        assert (rows.sum(1) <= 1005).all() and (np.diff(rows, axis=1) <= 0).all()


def test_what_has_no_heads_says_so(fitted):
    recurrent = tiny(progress=False, training__epochs=1).fit(TEXTS, LABELS)
    with pytest.raises(ConfigError, match="no heads to show"):
        look_inside(recurrent.fitted_, TEXTS[0])
    with pytest.raises(DataError, match="no words"):
        look_inside(fitted, " ")
    with pytest.raises(ConfigError, match="heads are shown of up to"):
        look_inside(fitted, "film " * (MOST_WORDS + 1))


def test_a_hierarchical_network_shows_words_within_their_sentences():
    network = HANConfig(encoder="transformer", embedding_size=8, hidden_size=5)
    classifier = DocumentClassifier(network, training=QUICK, progress=False).fit(TEXTS, LABELS)
    text = "The film was dull. We saw it."
    found = look_inside(classifier.fitted_, text, receipt=False)
    rollout = np.array(found.heads[0].targets).reshape(-1, found.few)
    shares = np.array(found.heads[0].shares).reshape(-1, found.few)
    assert set(rollout[:5][shares[:5] > 0]) <= set(range(5))
    assert found.explanation.receipt is None
