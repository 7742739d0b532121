"""HAN against an independent, padded and masked implementation with the same weights."""

import math

import pytest
import torch
from torch import nn

from regard.models import HANConfig
from regard.nn.dropout import drop
from regard.nn.rows import row_sum
from regard.ragged import Ragged
from support.random_ids import (
    LABEL_COUNT,
    NO_DROPOUT,
    SIZES,
    SMALL,
    VOCAB_SIZE,
    batch_of,
    built,
    random_documents,
)

DOCUMENTS = [document for document in random_documents(12, seed=2) if document]


class PaddedHAN(nn.Module):
    """The network as a tutorial would write it: rectangles, masks and torch's own layers."""

    def __init__(self, model, cell):
        super().__init__()
        kind = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[cell]
        self.embedding, self.classify = model.embedding, model.classify
        self.levels = []
        readers = (model.words.encoder, model.sentences.encoder)
        poolings = (model.words.pooling, model.sentences.pooling)
        for reader, pooling in zip(readers, poolings, strict=True):
            old = reader.layers
            layer = kind(old.input_size, old.hidden_size, batch_first=True, bidirectional=True)
            layer.load_state_dict(old.state_dict())
            self.levels.append((layer, pooling.score.key, pooling.query[0]))

    def attend(self, level, vectors, lengths):
        """Read padded rows, (rows, longest, size), and weigh what is not padding."""
        layer, key, query = self.levels[level]
        packed = nn.utils.rnn.pack_padded_sequence(
            vectors, lengths, batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True)
        scores = torch.tanh(key(states)) @ query
        mask = torch.arange(states.shape[1]) < lengths[:, None]
        weights = torch.softmax(scores.masked_fill(~mask, -math.inf), 1)
        return (weights[:, :, None] * states).sum(1), weights

    def forward(self, documents):
        sentences = [torch.tensor(sentence) for document in documents for sentence in document]
        padded = nn.utils.rnn.pad_sequence(sentences, batch_first=True)
        lengths = torch.tensor([len(sentence) for sentence in sentences])
        vectors, words = self.attend(0, self.embedding(padded), lengths)
        counts = torch.tensor([len(document) for document in documents])
        rows = nn.utils.rnn.pad_sequence(vectors.split(counts.tolist()), batch_first=True)
        pooled, weights = self.attend(1, rows, counts)
        return self.classify(pooled), words, weights


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_it_equals_an_independent_padded_and_masked_network(cell):
    """000-04, 001-12: logits, both weights and all gradients."""
    model = built(HANConfig(**SMALL, cell=cell, sentence_hidden_size=4, weighing="states"))
    output = model(batch_of(DOCUMENTS))
    logits, words, sentences = PaddedHAN(model, cell)(DOCUMENTS)
    torch.testing.assert_close(output.logits, logits, atol=1e-5, rtol=1e-5)
    for layer, dense in zip(output.attention, (words, sentences), strict=True):
        for row, found in enumerate(layer.weights.rows()):
            expected = dense[row, : len(found)]
            torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
            assert not dense[row, len(found) :].any()
    leaves = [model.embedding.weight, model.words.pooling.query, model.classify.weight]
    found = torch.autograd.grad(output.logits.square().sum(), leaves, retain_graph=True)
    expected = torch.autograd.grad(logits.square().sum(), leaves)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_one_call_equals_a_loop_over_sentences():
    """001-11: every sentence by itself gives the vector it gets among all others."""
    model = built(HANConfig(**SMALL))
    together = model.sentence_vectors(batch_of(DOCUMENTS)).values
    sentences = [sentence for document in DOCUMENTS for sentence in document]
    alone = [model.sentence_vectors(batch_of([[sentence]])).values for sentence in sentences]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=1e-5)


def in_order(model, order):
    document = [[2, 3, 4], [5], [6, 7], [8, 9, 10, 11]]
    return model.sentence_vectors(batch_of([[document[place] for place in order]])).values


@pytest.mark.parametrize("settings", [{}, {"encoder": "none"}, {"pooling": "structured"}])
def test_permuted_sentences_give_permuted_vectors(settings):
    """000-08, D12: no state is carried from one sentence to the next."""
    model = built(HANConfig(**SMALL, **settings))
    assert model.isolated
    order = [2, 0, 3, 1]
    torch.testing.assert_close(in_order(model, order), in_order(model, range(4))[order])


def test_under_flow_a_sentence_depends_on_its_neighbours():
    """000-08: reading on across sentence ends is a choice, and it shows."""
    model = built(HANConfig(**SMALL, reading="flow"))
    assert not model.isolated
    order = [2, 0, 3, 1]
    moved = (in_order(model, order) - in_order(model, range(4))[order]).abs().amax(1)
    assert (moved > 1e-6).all()


def test_flow_reads_a_document_as_if_it_were_one_sentence():
    model = built(HANConfig(**SMALL, reading="flow"))
    cut = batch_of([[[2, 3], [4], [5, 6]]])
    states = model.words.encoder(model.embed(batch_of([[[2, 3, 4, 5, 6]]])))
    wanted = model.words.pooling(cut.ids.with_values(states.values)).vectors
    torch.testing.assert_close(model.sentence_vectors(cut).values, wanted)


def test_the_glass_box_adds_up_words():
    """With no encoder the document is a weighted sum of its word vectors, and nothing else."""
    model = built(HANConfig(**SMALL, encoder="none"))
    batch = batch_of(DOCUMENTS)
    output = model(batch)
    words, sentences = (layer.weights.values for layer in output.attention)
    weights = words * sentences[batch.ids.row_ids]
    vectors = model.embedding(batch.ids.values) * weights[:, None]
    summed = torch.stack([part.sum(0) for part in vectors.split(batch.by_document.host_lengths)])
    torch.testing.assert_close(output.logits, model.classify(summed), atol=1e-5, rtol=1e-5)


def test_each_level_has_the_size_it_was_given():
    """000-06."""
    model = built(HANConfig(**SMALL, sentence_hidden_size=7, weighing="states"))
    assert model.words.pooling.output_size == 2 * SMALL["hidden_size"]
    assert model.sentences.output_size == 14
    assert model.classify.out_features == LABEL_COUNT
    assert model.embedding.weight.shape == (VOCAB_SIZE, SMALL["embedding_size"])
    same = built(HANConfig(**SMALL))
    assert same.sentences.output_size == 2 * SMALL["hidden_size"]


def test_the_penalty_is_the_mean_over_documents_of_both_levels():
    """D3, 001-10: per sentence averaged within its document, plus that of the document."""
    config = HANConfig(**SMALL, pooling="structured", hops=3, penalty=0.5)
    model, batch = built(config), batch_of([*DOCUMENTS, []])
    output = model(batch)
    words, sentences = (layer.weights.rows() for layer in output.attention)

    def redundancy(weights):
        difference = weights.T @ weights - torch.eye(3)
        return difference.square().sum() if len(weights) else torch.zeros(())

    by_sentence = torch.stack([redundancy(row) for row in words])
    total = sum(
        redundancy(row) + (part.mean() if len(part) else 0)
        for row, part in zip(sentences, by_sentence.split(batch.sentences.tolist()), strict=True)
    )
    torch.testing.assert_close(output.penalty, 0.5 * total / len(batch))
    assert built(HANConfig(**SMALL))(batch).penalty is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("reading", ["isolated", "flow"])
def test_a_gpu_gives_what_the_cpu_gives(reading):
    """000-07."""
    model, batch = built(HANConfig(**SMALL, reading=reading)), batch_of(DOCUMENTS)
    expected = model(batch).logits
    found = model.to("cuda")(batch.to("cuda")).logits.cpu()
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_dropout_stands_over_words_sentences_and_documents():
    """A word loses the same numbers wherever it stands; a sentence is dropped as it is read."""
    settings = NO_DROPOUT | {"vector_dropout": 0.5, "state_dropout": 0.4, "sentence_dropout": 0.0}
    model = built(HANConfig(**SIZES, **settings))
    batch = batch_of(DOCUMENTS)
    torch.manual_seed(3)
    found, index = torch.unique(batch.ids.values, return_inverse=True)
    words = drop(model.embedding.weight[found], 0.5, training=True)[index]
    sentences = drop(model.words(batch.ids.with_values(words)).vectors, 0.4, training=True)
    documents = model.sentences(Ragged(sentences, batch.sentences)).vectors
    expected = model.classify(drop(documents, 0.4, training=True))
    torch.manual_seed(3)
    torch.testing.assert_close(model.train()(batch).logits, expected)


def test_weighing_sentences_adds_up_the_sentences_own_vectors():
    """What is added up is each sentence's own vector, by weights its neighbours had a say in."""
    model = built(HANConfig(**SMALL, weighing="sentences"))
    batch = batch_of(random_documents(6))
    sentences = model.sentence_vectors(batch)
    output = model(batch)
    weights = output.attention[1].weights.values[:, None]
    summed = row_sum(sentences.with_values(sentences.values * weights))
    torch.testing.assert_close(output.logits, model.classify(summed))
