"""Batches: the way from texts to ids and back."""

import numpy as np
import pytest
import torch

from regard.data.batch import collate, gather, tokens_per_document
from regard.text.encode import encode
from regard.text.tokenize import TextConfig, tokenize
from regard.text.vocab import UNKNOWN, Vocab

VOCAB = Vocab(["a", "b", ".", "!"])


def test_ids_lie_in_the_order_of_the_tokens():
    texts = [tokenize("A b! B a."), tokenize(""), tokenize("a c")]
    batch = collate(texts, VOCAB)
    assert len(batch) == 3
    assert batch.sentences.tolist() == [2, 0, 1]
    assert batch.ids.lengths.tolist() == [3, 3, 2]
    assert batch.ids.values.tolist() == [2, 3, 5, 3, 2, 4, 2, UNKNOWN]
    assert batch.ids.values.dtype == batch.sentences.dtype == torch.int64
    assert [text.words() for text in batch.texts] == [[*"Ab!Ba."], [], ["a", "c"]]


def test_the_same_ids_one_row_a_document():
    batch = collate([tokenize("a b. b a."), tokenize(""), tokenize("a")], VOCAB)
    assert [row.tolist() for row in batch.by_document.rows()] == [[2, 3, 4, 3, 2, 4], [], [2]]


def test_no_texts_are_an_empty_batch():
    batch = collate([], VOCAB)
    assert len(batch) == 0 and len(batch.ids) == 0 and batch.ids.values.dtype == torch.int64
    assert len(collate([tokenize("")], VOCAB)) == 1


def test_labels_travel_with_the_batch():
    batch = collate([tokenize("a")], VOCAB, torch.tensor([1]))
    assert batch.to("cpu").labels.tolist() == [1]
    assert collate([tokenize("a")], VOCAB).to("cpu").labels is None


def test_tokens_are_added_up_document_by_document():
    lengths, sentences = torch.tensor([2, 3, 4]), torch.tensor([0, 2, 0, 1])
    assert tokens_per_document(lengths, sentences).tolist() == [0, 5, 0, 4]


def test_a_text_is_never_altered():
    text = "A  b.\u00a0<b>C</b>"
    assert collate([tokenize(text)], VOCAB).texts[0].text is text


@pytest.mark.parametrize("text", ["", " ", "<br />", "\n\n"])
def test_a_text_without_words_is_a_document_of_no_sentences(text):
    batch = collate([tokenize(text)], VOCAB)
    assert batch.sentences.tolist() == [0] and len(batch.ids.values) == 0


@pytest.mark.parametrize("places", [[0, 1, 2, 3], [3, 0], [1], [], [2, 2]])
def test_encoded_texts_give_the_batch_of_their_tokens(places):
    texts = ["A b! B a.", "", "a c", "b. b"]
    found = gather(encode(texts, VOCAB, TextConfig()), np.array(places, dtype=np.int64))
    wanted = collate([tokenize(texts[place]) for place in places], VOCAB)
    assert torch.equal(found.ids.values, wanted.ids.values)
    assert torch.equal(found.ids.lengths, wanted.ids.lengths)
    assert torch.equal(found.sentences, wanted.sentences) and found.texts == ()


def test_a_moved_batch_knows_how_long_its_documents_are():
    """A GPU need not be asked, which would have to be waited for."""
    batch = collate([tokenize("A b! B a."), tokenize(""), tokenize("a c")], VOCAB)
    assert batch.to("meta").by_document.host_lengths == [6, 0, 2]


def test_a_batch_knows_its_shape_on_the_host():
    batch = collate([tokenize("A b! B a."), tokenize(""), tokenize("a c")], VOCAB)
    for found in (batch, batch.to("cpu")):
        assert found.shape.sentence_lengths.tolist() == [3, 3, 2]
        assert found.shape.sentences.tolist() == [2, 0, 1]
