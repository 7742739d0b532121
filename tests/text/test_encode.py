"""Texts to ids at once: what the words of each text give one by one."""

import copy
import pickle
import random

import numpy as np
import pytest

from regard.text.document import cut_tokens
from regard.text.encode import encode
from regard.text.tokenize import TextConfig, tokenize
from regard.text.vocab import PADDING, UNKNOWN, Numbering, Vocab, count_words
from support.native_cases import needs_native
from support.odd_texts import dense_text, random_text

TEXTS = ["Ab cd. Ef ab <pad>", "", "\ud800 CD!", "ÀÉ İ Σ ΑΣ ǅ K"]
EVERY_WORD = TextConfig(min_count=1)


@pytest.fixture(params=["scanner", "plain"])
def way(request, monkeypatch):
    """Both ways must give the same; where there is no scanner, both are the plain one."""
    if request.param == "plain":
        monkeypatch.setenv("REGARD_KERNELS", "0")
    return request.param


@pytest.mark.parametrize("lowercase", [True, False])
def test_ids_are_those_of_the_words(way, lowercase):
    """Issue 3: the ids of lower-cased words, for all of Unicode."""
    generator = random.Random(lowercase)
    texts = [*TEXTS, *(random_text(generator) for _ in range(500))]
    texts += [dense_text(generator) for _ in range(500)]
    tokens = [tokenize(text) for text in texts]
    config = TextConfig(min_count=1, lowercase=lowercase)
    vocab = Vocab.from_counts(count_words(tokens[::2], config), config)
    found = encode(texts, vocab, config)
    wanted = [vocab.ids(some.words()) for some in tokens]
    np.testing.assert_array_equal(found.ids, np.concatenate(wanted))
    assert found.lengths.tolist() == [len(ids) for ids in wanted]
    assert UNKNOWN in found.ids and PADDING not in found.ids


def test_tokens_are_those_of_each_text(way):
    cut = cut_tokens(TEXTS, encode(TEXTS, Vocab([]), EVERY_WORD))
    for found, text in zip(cut, TEXTS, strict=True):
        wanted = tokenize(text)
        assert found.words() == wanted.words() and found.text is text
        np.testing.assert_array_equal(found.per_sentence, wanted.per_sentence)


def test_no_texts_are_no_ids(way):
    for texts in ([], [""], ["", " <br>"]):
        found = encode(texts, Vocab(["a"]), EVERY_WORD)
        assert len(found) == len(texts) == len(found.sentences)
        assert found.ids.shape == (0,) and found.spans.shape == (0, 2)
        assert found.ids.dtype == found.sentence_lengths.dtype == np.int32
        assert found.lengths.dtype == found.sentences.dtype == np.int64


def test_new_words_are_numbered_as_they_come(way):
    numbering = Numbering()
    assert encode(["b a b"], numbering, EVERY_WORD).ids.tolist() == [0, 1, 0]
    assert encode(["", "B a"], numbering, EVERY_WORD).ids.tolist() == [2, 1]
    assert numbering.words == ["b", "a", "B"]
    assert Numbering().words == []


@needs_native
def test_a_vocabulary_that_was_searched_can_be_copied():
    vocab = Vocab(["film", "\ud800"])
    wanted = encode(["Film \ud800 x"], vocab, EVERY_WORD).ids.tolist()
    assert wanted == [2, 3, 1]
    for copied in (copy.deepcopy(vocab), pickle.loads(pickle.dumps(vocab))):
        assert encode(["Film \ud800 x"], copied, EVERY_WORD).ids.tolist() == wanted
