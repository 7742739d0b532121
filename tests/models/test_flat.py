import torch
from torch import nn

from regard.models import FlatConfig
from support.random_ids import SMALL, batch_of, built, random_documents


def test_it_is_an_lstm_with_attention():
    """Zhou et al. (2016): one row of words a document, whatever its sentences."""
    model = built(FlatConfig(**SMALL, cell="lstm"))
    documents = [document for document in random_documents(6, seed=8) if document]
    output = model(batch_of(documents))
    old = model.words.encoder.layers
    layer = nn.LSTM(old.input_size, old.hidden_size, bidirectional=True)
    layer.load_state_dict(old.state_dict())
    for number, document in enumerate(documents):
        ids = torch.tensor([word for sentence in document for word in sentence])
        states, _ = layer(model.embedding(ids))
        pooling = model.words.pooling
        scores = torch.tanh(pooling.score.key(states)) @ pooling.query[0]
        weights = torch.softmax(scores, 0)
        logits = model.classify(weights @ states)
        torch.testing.assert_close(output.logits[number], logits, atol=1e-5, rtol=1e-5)
        found = output.attention[0].weights.rows()[number]
        torch.testing.assert_close(found, weights, atol=1e-5, rtol=1e-5)


def test_sentence_ends_mean_nothing_to_it():
    model = built(FlatConfig(**SMALL))
    cut, joined = batch_of([[[2, 3], [4], [5, 6]]]), batch_of([[[2, 3, 4, 5, 6]]])
    torch.testing.assert_close(model(cut).logits, model(joined).logits)


def test_the_penalty_is_the_mean_over_documents():
    """001-10, D3: also for the self-attentive embedding of Lin et al. (2017)."""
    model = built(FlatConfig(**SMALL, pooling="structured", hops=3, penalty=0.3))
    batch = batch_of([*random_documents(4, seed=8), []])
    output = model(batch)
    total = 0.0
    for weights in output.attention[0].weights.rows():
        if len(weights):
            total += (weights.T @ weights - torch.eye(3)).square().sum()
    torch.testing.assert_close(output.penalty, 0.3 * total / len(batch))
