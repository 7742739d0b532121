from dataclasses import replace

import pytest
import torch

from regard.models import HANConfig
from regard.models.base import mean_penalty
from regard.models.words import WordEmbedding, omit_sentences
from regard.ragged import Ragged
from regard.text.vocab import PADDING, UNKNOWN
from support.random_ids import SMALL, batch_of, built, random_documents


def test_word_vectors_start_small_and_the_padding_at_zero():
    """001-12: the padding's vector is zero and gets no gradient."""
    torch.manual_seed(0)
    embedding = WordEmbedding(20, 5)
    assert not embedding.weight[PADDING].any()
    assert 0 < embedding.weight.abs().max() <= 0.1
    embedding(torch.tensor([PADDING, 3])).sum().backward()
    assert embedding.weight.grad.any(1).nonzero().flatten().tolist() == [3]


def read(ids, **dropout):
    """What is picked for ids in training, and the plain vectors."""
    torch.manual_seed(0)
    embedding = WordEmbedding(30, 8, **dropout).train()
    with torch.no_grad():
        embedding.weight[:] = torch.arange(1.0, 31)[:, None]
    rows = Ragged(ids, torch.tensor([len(ids)]))
    return embedding.pick(rows).look_up().values.detach(), embedding(ids).detach()


def test_dropped_words_are_read_as_unknown():
    ids = torch.full((2000,), 7)
    found, plain = read(ids, word_dropout=0.25)
    lost = (found != plain).any(1)
    assert (found[lost] == UNKNOWN + 1.0).all()
    assert 0.2 < lost.float().mean() < 0.3


def test_a_word_is_dropped_out_alike_wherever_it_stands():
    """One draw a distinct word, so that each is still looked up and projected once."""
    ids = torch.arange(2, 12).repeat(3)
    found, plain = read(ids, vector_dropout=0.5)
    first, second, third = found.view(3, 10, -1)
    assert torch.equal(first, second) and torch.equal(second, third)
    kept = found != 0
    torch.testing.assert_close(found[kept], 2 * plain[kept])
    assert 0.3 < kept.float().mean() < 0.7
    assert not torch.equal(kept[0], kept[1])


def test_vectors_are_dropped_out_in_training_too():
    embedding = WordEmbedding(30, 8, vector_dropout=0.5).train()
    words = Ragged(torch.ones(50, 8), torch.tensor([50]))
    assert set(embedding.drop(words).values.unique().tolist()) == {0.0, 2.0}
    assert torch.equal(embedding.eval().drop(words).values, words.values)


def test_states_are_dropped_out_before_the_classifier():
    model = built(HANConfig(**SMALL | {"state_dropout": 0.5})).train()
    seen = []
    model.classify.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    model(batch_of([document for document in random_documents(20) if document]))
    assert 0.3 < (seen[0] == 0).float().mean() < 0.7


def test_the_mean_penalty_weighs_documents_alike():
    words, sentences = torch.tensor([2.0, 5.0, 0.0]), torch.tensor([1.0, 0.0, 1.0])
    assert mean_penalty(0.5, words, sentences).item() == pytest.approx(0.5 * (7 + 2) / 3)
    assert mean_penalty(0.5, None, sentences).item() == pytest.approx(0.5 * 2 / 3)
    assert mean_penalty(0.5, None, None) is None
    assert mean_penalty(1.0, torch.zeros(0)).item() == 0


DOCUMENTS = random_documents(40, seed=3)


def documents_of(batch):
    """The batch as lists of lists of ids."""
    sentences = iter(row.tolist() for row in batch.ids.rows())
    return [[next(sentences) for _ in range(count)] for count in batch.sentences.tolist()]


def is_within(shorter, longer):
    """Whether the sentences of one stand in the other, in the same order."""
    rest = iter(longer)
    return all(sentence in rest for sentence in shorter)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_whole_sentences_go_and_the_others_keep_their_words_and_order(share):
    torch.manual_seed(0)
    left = documents_of(omit_sentences(batch_of(DOCUMENTS), share))
    assert len(left) == len(DOCUMENTS)
    for shorter, longer in zip(left, DOCUMENTS, strict=True):
        assert is_within(shorter, longer)
        assert bool(shorter) == bool(longer), "no text loses all it has"


def test_the_share_is_what_was_asked_for():
    torch.manual_seed(0)
    batch = batch_of([[[2]] * 20_000])
    assert len(omit_sentences(batch, 0.3).ids) == pytest.approx(14_000, abs=300)


def test_nothing_is_left_out_without_a_share_or_without_sentences():
    batch = batch_of(DOCUMENTS)
    assert omit_sentences(batch, 0.0) is batch
    empty = batch_of([[], []])
    assert omit_sentences(empty, 0.5).sentences.tolist() == [0, 0]


def test_a_network_leaves_sentences_out_in_training_only():
    """D7: the setting has an effect."""
    model = built(replace(HANConfig(**SMALL), sentence_dropout=0.5))
    batch = batch_of(DOCUMENTS)
    whole = model.eval()(batch).logits
    torch.manual_seed(0)
    missed = model.train()(batch)
    assert len(missed.attention[0].weights) < len(batch.ids)
    assert not torch.allclose(missed.logits, whole)
    torch.manual_seed(0)
    by_hand = omit_sentences(batch, 0.5)
    assert torch.equal(model.eval()(by_hand).logits, missed.logits)


def test_who_stays_is_drawn_as_the_plain_formula_draws():
    """The same seed leaves the same sentences out wherever the batch lies."""
    batch = batch_of(DOCUMENTS)
    torch.manual_seed(3)
    found = documents_of(omit_sentences(batch, 0.6))
    torch.manual_seed(3)
    stays = iter((torch.rand(len(batch.ids)) >= 0.6).tolist())
    for document, left in zip(DOCUMENTS, found, strict=True):
        flags = [next(stays) for _ in document]
        chosen = [sentence for sentence, stay in zip(document, flags, strict=True) if stay]
        assert left == (chosen or document)


def test_what_is_left_is_known_on_the_host():
    left = omit_sentences(batch_of(DOCUMENTS), 0.5)
    assert torch.equal(left.shape.sentence_lengths, left.ids.lengths)
    assert torch.equal(left.shape.sentences, left.sentences)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_the_same_sentences_go_and_nobody_waits():
    batch = batch_of(DOCUMENTS)
    torch.manual_seed(1)
    wanted = omit_sentences(batch, 0.5)
    there = batch.to("cuda")
    omit_sentences(there, 0.5)  # the first call loads what it needs
    torch.manual_seed(1)
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = omit_sentences(there, 0.5)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for one, other in zip(found.tensors, wanted.tensors, strict=True):
        assert torch.equal(one.cpu(), other)
