"""The fixed-size array: padded with zeros, cut where too long, and what was cut counted."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batch import Batch, collate
from regard.data.export import to_fixed_array
from regard.errors import ConfigError
from regard.ragged import Ragged
from regard.text.tokenize import TextConfig, tokenize
from regard.text.vocab import Vocab, count_words


def batch_of(documents):
    """A batch of documents given as lists of sentences of ids."""
    sentences = [sentence for document in documents for sentence in document]
    ids = [id for sentence in sentences for id in sentence]
    lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64)
    counts = torch.tensor([len(document) for document in documents], dtype=torch.int64)
    return Batch(Ragged(torch.tensor(ids, dtype=torch.int64), lengths), counts)


def test_a_sentence_of_26_ids_becomes_26_ids_and_4_zeros():
    """001-16: the note's example, an array (1, doc_size, sent_size) with sent_size 30."""
    ids = list(range(2, 28))
    found = to_fixed_array(batch_of([[ids]]), document_size=1, sentence_size=30)
    assert found.ids.shape == (1, 1, 30)
    assert found.ids[0, 0].tolist() == ids + [0] * 4
    assert found.report.total.documents_cut == 0


def test_a_text_becomes_the_array_that_its_words_spell():
    """001-16: ids from a vocabulary, 1 for a word that is not in it, zeros after the last."""
    text = (
        "First of all the film that we saw in the evening was a story of two people and a town "
        "that nobody had ever heard of. It ends well."
    )
    config = TextConfig()
    tokens = tokenize(text, config)
    known = count_words([tokens], config)
    del known["town"]
    vocab = Vocab.from_counts(known, TextConfig(min_count=1))
    found = to_fixed_array(collate([tokens], vocab), document_size=3, sentence_size=30)
    assert found.ids.shape == (1, 3, 30)
    words = [word.lower() for word in re.findall(r"\w+|\.", text)]
    first, second = words[:27], words[27:]
    for row, sentence in zip(found.ids[0], (first, second, []), strict=True):
        spelled = [vocab.words[id] for id in row[: len(sentence)]]
        assert spelled == [word if word != "town" else vocab.words[1] for word in sentence]
        assert not row[len(sentence) :].any()


sentences = st.lists(st.integers(1, 99), min_size=1, max_size=6)
documents = st.lists(st.lists(sentences, max_size=5), max_size=5)


@settings(max_examples=200, deadline=None)
@given(documents, st.integers(1, 4), st.integers(1, 5))
def test_the_array_is_that_of_a_plain_loop(documents, document_size, sentence_size):
    found = to_fixed_array(
        batch_of(documents), document_size=document_size, sentence_size=sentence_size
    )
    wanted = np.zeros((len(documents), document_size, sentence_size), dtype=np.int64)
    for row, document in zip(wanted, documents, strict=True):
        for line, sentence in zip(row, document, strict=False):
            kept = sentence[:sentence_size]
            line[: len(kept)] = kept
    assert np.array_equal(found.ids, wanted)
    words = sum(len(sentence) for document in documents for sentence in document)
    assert found.report.total.words == words
    assert found.report.total.words_dropped == words - np.count_nonzero(found.ids)


def test_what_is_cut_is_counted_for_each_label():
    batch = batch_of([[[5, 6, 7]], [[5]], [[5], [6], [7]]])
    found = to_fixed_array(batch, document_size=2, sentence_size=2, labels=["a", "b", "b"])
    a, b = found.report.classes
    assert (a.documents_cut, a.words_dropped, a.sentences_dropped) == (1, 1, 0)
    assert (b.documents, b.documents_cut, b.words_dropped, b.sentences_dropped) == (2, 1, 1, 1)


def test_sizes_are_checked():
    with pytest.raises(ConfigError, match="sentence_size must be at least 1, got 0"):
        to_fixed_array(batch_of([]), document_size=1, sentence_size=0)
