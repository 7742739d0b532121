import pytest
import torch

from regard.models import FlatConfig, HANConfig
from regard.models.base import Hierarchical, Model
from support.random_ids import SMALL, VOCAB_SIZE, batch_of, built


def test_known_words_start_from_pretrained_vectors():
    """000-12: only where a vector was found."""
    model = built(HANConfig(**SMALL))
    before = model.embedding.weight.detach().clone()
    vectors = torch.randn(VOCAB_SIZE, SMALL["embedding_size"], dtype=torch.float64)
    known = torch.zeros(VOCAB_SIZE, dtype=torch.bool)
    known[[3, 7]] = True
    model.set_vectors(vectors, known)
    torch.testing.assert_close(model.embedding.weight[known], vectors[known].float())
    assert torch.equal(model.embedding.weight[~known], before[~known])
    assert model.embedding.weight.requires_grad


def test_word_vectors_are_given_one_row_a_sentence():
    model, batch = built(FlatConfig(**SMALL)), batch_of([[[2, 3], [4]], []])
    words = model.embed(batch)
    assert words.lengths.tolist() == [2, 1]
    assert torch.equal(words.values, model.embedding.weight[[2, 3, 4]])


def test_gradients_reach_the_word_vectors_they_are_asked_for():
    model, batch = built(HANConfig(**SMALL)), batch_of([[[2, 3], [2]]])
    words = model.embed(batch)
    given = words.values.detach().requires_grad_()
    output = model.from_vectors(words.with_values(given), batch)
    (gradient,) = torch.autograd.grad(output.logits[0, 1], given)
    assert gradient.shape == given.shape
    assert gradient.abs().sum(1).min() > 0  # the two places of one word have gradients of their own
    assert not torch.equal(gradient[0], gradient[2])


def test_only_hierarchies_make_sentences():
    assert isinstance(built(HANConfig(**SMALL)), Hierarchical)
    assert not isinstance(built(FlatConfig(**SMALL)), Hierarchical)


def test_a_model_must_say_how_it_reads_vectors():
    with pytest.raises(NotImplementedError):
        Model().from_vectors(None, None)
