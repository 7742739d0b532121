"""HAN over BERT: windows, pieces of words, what is kept, what learns and how fast."""

import numpy as np
import pytest
import torch

from regard.data.sentence_store import StoredSentences
from regard.errors import ConfigError
from regard.models import BertHANConfig
from regard.models import bert_han as module
from regard.models.bert_han import plan_windows
from regard.ragged import Ragged
from regard.text.pieced import PiecesOfWords
from regard.training.config import TrainingConfig
from regard.training.optimizers import build_optimizer
from support.random_ids import SMALL, VOCAB_SIZE, batch_of, built, random_documents

DOCUMENTS = random_documents(6, seed=2, sentences=6, words=12)


def in_pieces(config, seed=0):
    """A network whose words have one to three pieces."""
    model = built(config, seed=seed)
    lengths = 1 + np.arange(VOCAB_SIZE) % 3
    pieces = np.random.default_rng(0).integers(1, 20, lengths.sum())
    model.set_words(PiecesOfWords(pieces, lengths, start=20, end=21))
    return model


@pytest.mark.parametrize("flow", [False, True])
def test_windows_hold_every_piece_in_order_and_never_too_many(flow):
    draw = np.random.default_rng(1)
    for _ in range(50):
        documents = draw.integers(0, 5, 4)
        sentences = draw.integers(0, 30, documents.sum())
        words = draw.integers(1, 9, sentences.sum())
        windows = plan_windows(words, sentences, documents, room=11, flow=flow)
        assert sum(windows) == words.sum()
        assert all(0 < size <= 11 for size in windows)


def test_windows_are_cut_at_sentence_and_word_ends():
    words = np.array([1, 1, 1, 4, 4, 4, 2, 30])
    sentences = np.array([2, 1, 3, 1, 1])
    documents = np.array([4, 1])
    alone = plan_windows(words, sentences, documents, room=10, flow=False)
    assert alone == [2, 1, 8, 4, 2, 10, 10, 10]
    together = plan_windows(words, sentences, documents, room=10, flow=True)
    assert together == [3, 8, 4, 2, 10, 10, 10]


def test_a_long_sentence_is_read_to_its_end():
    """Its last word changes the answer, however few places BERT has."""
    model = built(BertHANConfig(**SMALL, bert_longest=6))
    sentence = list(range(1, 29))
    one, other = ([[*sentence, last]] for last in (2, 3))
    assert not torch.allclose(model(batch_of([one])).logits, model(batch_of([other])).logits)


@pytest.mark.parametrize("reading", ["isolated", "flow"])
def test_how_much_is_read_at_once_changes_neither_answer_nor_gradient(monkeypatch, reading):
    """What is not kept but read again for the gradient gives the same one."""
    config = BertHANConfig(**SMALL, bert_longest=8, reading=reading, bert_dropout=0.0)
    found = []
    for limit in (8192, 16):
        monkeypatch.setitem(module.PIECES_AT_ONCE, "cpu", limit)
        model = in_pieces(config)
        logits = model(batch_of(DOCUMENTS)).logits
        logits.square().sum().backward()
        found.append((logits.detach(), [part.grad for part in model.parameters()]))
    torch.testing.assert_close(found[0][0], found[1][0])
    for one, other in zip(found[0][1], found[1][1], strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_a_words_vector_is_the_mean_over_its_pieces():
    model = in_pieces(BertHANConfig(**SMALL))
    batch = batch_of([[[2, 5]]])
    pieces = model.pieces.cut(batch.ids.values)
    row = torch.cat([torch.tensor([20]), pieces.values, torch.tensor([21])])
    states = model.bert(Ragged(row, torch.tensor([len(row)]))).values[1:-1]
    expected = torch.stack([part.mean(0) for part in states.split(pieces.host_lengths)])
    torch.testing.assert_close(model.read(batch).values, expected)


def test_moving_a_word_moves_all_of_its_pieces():
    """The entrance for gradients: given the words' own vectors nothing changes."""
    model, batch = in_pieces(BertHANConfig(**SMALL, bert_longest=8)), batch_of(DOCUMENTS)
    vectors = model.embed(batch)
    given = model.from_vectors(vectors, batch).logits
    torch.testing.assert_close(given, model(batch).logits)
    moved = model.from_vectors(vectors.with_values(vectors.values.flip(0)), batch).logits
    assert not torch.allclose(moved, given)


def test_kept_sentences_give_the_answers_of_sentences_that_are_read(tmp_path):
    """000-09: on CPU to the bit of what was stored first."""
    config = BertHANConfig(**SMALL, tuned_layers=0, word_pooling="mean", bert_longest=8)
    model, batch = in_pieces(config), batch_of([*DOCUMENTS, *DOCUMENTS[:2]])
    plain = model(batch).logits
    model.store = StoredSentences(tmp_path, config.embedding_size)
    first = model(batch).logits
    known = len(model.store)
    assert known == len({tuple(row.tolist()) for row in batch.ids.rows()})
    model.bert.blocks.apply(_spoil)  # whoever reads again would answer otherwise
    again = model(batch).logits
    torch.testing.assert_close(first, plain, atol=1e-6, rtol=1e-5)
    assert torch.equal(first, again)
    assert len(model.store) == known


def test_sentences_of_the_same_pieces_in_other_words_are_told_apart(tmp_path):
    """A mean of words is no mean of pieces."""
    config = BertHANConfig(**SMALL, tuned_layers=0, word_pooling="mean")
    model = built(config)
    model.set_words(
        PiecesOfWords(np.array([9, 9, 4, 5, 6, 4, 5, 6]), np.array([1, 1, 1, 2, 2, 1]), 20, 21)
    )
    model.store = StoredSentences(tmp_path, config.embedding_size)
    vectors = model.sentence_vectors(batch_of([[[2, 3], [4, 5]]])).values
    assert len(model.store) == 2
    assert not torch.allclose(vectors[0], vectors[1])


def _spoil(part):
    for weight in part.parameters(recurse=False):
        weight.data.fill_(3.0)


@pytest.mark.parametrize(("tuned", "learning"), [(0, 0), (1, 1), (2, 2), (None, 2)])
def test_only_the_last_layers_learn(tuned, learning):
    model = built(BertHANConfig(**SMALL, tuned_layers=tuned))
    blocks = [any(w.requires_grad for w in block.parameters()) for block in model.bert.blocks]
    assert blocks == [False] * (2 - learning) + [True] * learning
    assert model.embedding.weight.requires_grad == (tuned is None)
    assert model.train().bert.training == (tuned != 0)


def test_lower_layers_learn_more_slowly():
    model = built(BertHANConfig(**SMALL, bert_rate=1e-4, layer_decay=0.5))
    optimizer = build_optimizer(model, TrainingConfig(learning_rate=2e-3))
    rate_of = {id(w): group["lr"] for group in optimizer.param_groups for w in group["params"]}
    rates = {name: rate_of[id(part)] for name, part in model.named_parameters()}
    assert rates["classify.weight"] == optimizer.param_groups[0]["lr"] == 2e-3
    assert rates["bert.blocks.1.feed.widen.weight"] == pytest.approx(1e-4)
    assert rates["bert.blocks.0.feed.widen.weight"] == pytest.approx(5e-5)
    assert rates["embedding.table.weight"] == pytest.approx(2.5e-5)
    assert rates["bert.norm.weight"] == pytest.approx(2.5e-5)


def test_vectors_of_words_are_refused():
    with pytest.raises(ConfigError, match=r"starts from network\.folder"):
        built(BertHANConfig(**SMALL)).set_vectors(torch.zeros(1), torch.zeros(1))


def test_sentences_weigh_by_their_place_once_that_is_learnt():
    config, batch = BertHANConfig(**SMALL, places=True), batch_of(DOCUMENTS)
    model = built(config)
    plain = built(BertHANConfig(**SMALL))
    torch.testing.assert_close(model(batch).logits, plain(batch).logits)
    scores = model.sentences.places.scores
    model(batch).logits.square().sum().backward()
    assert scores.grad.abs().min() > 0, "every part of it learns"
    with torch.no_grad():
        scores[0] = 2.0
    rows = model(batch).attention[1].weights.rows()
    assert all(row[0] > 0.9 for row in rows if len(row)), "the first sentence has nearly all"
    with pytest.raises(ConfigError, match="places change what attention weighs; pooling is 'mean'"):
        BertHANConfig(**SMALL, places=True, pooling="mean")
