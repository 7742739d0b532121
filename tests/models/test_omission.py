"""Whole sentences left out in training."""

from dataclasses import replace

import pytest
import torch

from random_ids import SMALL, batch_of, built, random_documents
from regard.models import HANConfig
from regard.models.omission import omit_sentences

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
