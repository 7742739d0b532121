"""CAHAN against its equations, followed sentence by sentence."""

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from regard.models import CAHANConfig, HANConfig
from support.random_ids import SMALL, batch_of, built, random_documents

DOCUMENTS = [*random_documents(6, seed=6, sentences=6), []]
VARIANTS = [
    {"context": context, "context_directions": directions, "gated": gated}
    for context in ("sum", "mean")
    for directions in (1, 2)
    for gated in (False, True)
]


def one_direction(part, states, *, averages):
    """The vectors and weights of one document's sentences, each made in view of those before."""
    vectors, weights = [], []
    for sentence in states:
        context = sum(vectors, torch.zeros(states[0].shape[1]))
        if averages and vectors:
            context = context / len(vectors)
        key, seen = part.key(sentence), part.context(context)
        if part.gate_key is None:
            mixed = key + seen
        else:
            gate = torch.sigmoid(part.gate_key(sentence) + part.gate_context(context))
            mixed = gate * key + (1 - gate) * seen
        scores = torch.tanh(mixed + part.bias) @ part.query
        weights.append(torch.softmax(scores, 0))
        vectors.append(weights[-1] @ sentence)
    return vectors, weights


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_it_is_its_equations(variant):
    """001-14: u = tanh(W h + V c + b), gated or not, the context before and after."""
    model = built(CAHANConfig(**SMALL, **variant))
    with torch.no_grad():
        for part in model.words.pooling.directions:
            part.bias.normal_()
            part.query.normal_()
    batch = batch_of(DOCUMENTS)
    output, made = model(batch), model.sentence_vectors(batch)
    states = model.words.encoder(model.embed(batch)).rows()
    found_weights = output.attention[0].weights.rows()
    first = 0
    for document, vectors in zip(DOCUMENTS, made.rows(), strict=True):
        own = states[first : first + len(document)]
        columns = [vectors[:, :10], vectors[:, 10:]]
        for direction, part in enumerate(model.words.pooling.directions):
            order = range(len(own)) if direction == 0 else range(len(own) - 1, -1, -1)
            expected, weights = one_direction(
                part, [own[place] for place in order], averages=variant["context"] == "mean"
            )
            for place, vector, weight in zip(order, expected, weights, strict=True):
                torch.testing.assert_close(columns[direction][place], vector, atol=1e-5, rtol=1e-5)
                found = found_weights[first + place]
                found = found if found.ndim == 1 else found[:, direction]
                torch.testing.assert_close(found, weight, atol=1e-5, rtol=1e-5)
        first += len(document)


def test_without_context_it_pools_as_han_does():
    """The first sentence of a document has nothing before it."""
    cahan = built(CAHANConfig(**SMALL, context_directions=1))
    han = built(HANConfig(**SMALL))
    han.words.encoder.load_state_dict(cahan.words.encoder.state_dict())
    han.embedding.load_state_dict(cahan.embedding.state_dict())
    part = cahan.words.pooling.directions[0]
    han.words.pooling.load_state_dict(
        {
            "query": part.query[None],
            "score.key.weight": part.key.weight,
            "score.key.bias": part.bias,
        }
    )
    alone = batch_of([[sentence] for document in DOCUMENTS for sentence in document])
    torch.testing.assert_close(
        cahan.sentence_vectors(alone).values, han.sentence_vectors(alone).values
    )


def changed_vectors(directions):
    """Which sentences' vectors change when the third of five does."""
    model = built(CAHANConfig(**SMALL, context_directions=directions))
    before = [[2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    after = [*before[:2], [12, 13], *before[3:]]
    one, other = (model.sentence_vectors(batch_of([text])).values for text in (before, after))
    return ((one - other).abs().amax(1) > 0).tolist()


def test_context_comes_from_before_and_in_two_directions_from_after_too():
    assert changed_vectors(1) == [False, False, True, True, True]
    assert changed_vectors(2) == [True] * 5


def test_permuted_sentences_do_not_give_permuted_vectors():
    """000-08: so its sentence vectors may not be kept when a sentence is erased."""
    model = built(CAHANConfig(**SMALL))
    assert not model.isolated
    sentences = [[2, 3], [4, 5], [6, 7]]
    vectors = model.sentence_vectors(batch_of([sentences])).values
    turned = model.sentence_vectors(batch_of([sentences[::-1]])).values
    assert not torch.allclose(vectors, turned.flip(0))


ASPECTS = 4


def reviews(count, draw):
    """Documents that repeat one aspect in every sentence beside another one that is said once.

    Each aspect is praised or blamed by a word of its own; the labels are all of these verdicts.
    Also says which words are the ones said once, where the repeated one was already heard.
    """
    documents, labels, once = [], [], []
    for _ in range(count):
        verdicts = torch.randint(0, 2, (ASPECTS,), generator=draw)
        words = [2 + 2 * aspect + int(verdict) for aspect, verdict in enumerate(verdicts)]
        repeated, *others = torch.randperm(ASPECTS, generator=draw).tolist()
        sentences = [[words[repeated], words[other]] for other in others]
        once += [number > 0 and place == 1 for number in range(len(others)) for place in (0, 1)]
        documents.append(sentences)
        labels.append(verdicts.float())
    return batch_of(documents, torch.stack(labels)), torch.tensor(once)


def weight_of_what_is_new(config, seed=0):
    """How much of a sentence's weight a trained model gives the word that is said once."""
    draw = torch.Generator().manual_seed(seed)
    model = built(config, label_count=ASPECTS, seed=seed).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(200):
        batch, _ = reviews(32, draw)
        loss = binary_cross_entropy_with_logits(model(batch).logits, batch.labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    batch, once = reviews(200, draw)
    weights = model.eval()(batch).attention[0].weights.values.detach()
    return float(weights[once].mean())


def test_it_does_not_spend_attention_on_what_was_said_before():
    """001-14: HAN cannot know which of two words is the redundant one; CAHAN can."""
    settings = SMALL | {"encoder": "none", "embedding_size": 12}
    plain = weight_of_what_is_new(HANConfig(**settings))
    aware = weight_of_what_is_new(CAHANConfig(**settings, context_directions=1))
    assert plain == pytest.approx(0.5, abs=0.05)
    assert aware > plain + 0.1
