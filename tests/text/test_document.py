from __future__ import annotations

import random

import numpy as np
import pytest

from regard.text.document import Document, Tokens, single_labels
from regard.text.tokenize import tokenize


def tokens_of(sentences: list[list[str]]) -> Tokens:
    """Tokens of a text in which every word is followed by a space."""
    words = [word for sentence in sentences for word in sentence]
    ends = np.cumsum([len(word) + 1 for word in words], dtype=np.int32) - 1
    starts = ends - np.array([len(word) for word in words], np.int32)
    counts = np.array([len(sentence) for sentence in sentences], np.int32)
    spans = np.stack([starts, ends], axis=1) if words else np.empty((0, 2), np.int32)
    return Tokens(" ".join(words), spans.astype(np.int32), counts)


def nested(tokens: Tokens) -> list[list[str]]:
    """The words of each sentence, taken one by one."""
    words = iter(tokens.words())
    return [[next(words) for _ in range(count)] for count in tokens.per_sentence]


def test_a_document_keeps_what_it_is_given():
    document = Document("text", ("a", "b"), {"id": 7})
    assert (document.text, document.label, document.fields) == ("text", ("a", "b"), {"id": 7})
    assert Document("text").label is None and Document("text").fields == {}


def test_words_are_the_text_at_the_spans():
    tokens = tokens_of([["One", "two"], ["three"]])
    assert tokens.words() == ["One", "two", "three"] and len(tokens) == 3


def test_a_span_takes_every_word_that_it_touches():
    tokens = tokens_of([["One", "two"], ["three"]])  # 0:3, 4:7, 8:13
    for spans, left in {
        (): [True, True, True],
        ((0, 3),): [False, True, True],
        ((3, 4), (7, 8)): [True, True, True],
        ((0, 1), (12, 13)): [False, True, False],
        ((2, 9), (0, 3)): [False, False, False],
        ((0, 13),): [False, False, False],
    }.items():
        assert tokens.words_outside(spans).tolist() == left
    joined = Tokens(tokens.text, tokens.spans, tokens.per_sentence, np.array([2, 1], np.int32))
    assert joined.words_outside([(5, 6)]).tolist() == [False, True]
    assert tokens_of([]).words_outside([]).tolist() == []


def test_a_sentence_spans_from_its_first_token_to_the_end_of_its_last():
    tokens = tokens_of([["One", "two"], ["three"]])
    assert [tokens.text[a:b] for a, b in tokens.sentence_spans()] == ["One two", "three"]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("sentences", "words"), [(None, None), (2, None), (None, 3), (2, 1), (99, 99)]
)
def test_truncation_keeps_the_first_sentences_and_the_first_words_of_each(seed, sentences, words):
    """The arrays against lists of lists, for texts of random shape."""
    generator = random.Random(seed)
    text = [["word"] * generator.randrange(1, 6) for _ in range(generator.randrange(6))]
    cut = tokens_of(text).truncated(sentences=sentences, tokens=words)
    assert nested(cut) == [sentence[:words] for sentence in text[:sentences]]
    assert cut.spans.dtype == cut.per_sentence.dtype == np.int32
    assert cut.per_sentence.sum() == len(cut)


def test_truncation_leaves_the_text_and_the_original_alone():
    tokens = tokenize("One two three. Four five.")
    cut = tokens.truncated(sentences=1, tokens=2)
    assert cut.text is tokens.text and cut.words() == ["One", "two"]
    assert len(tokens) == 7 and tokens.per_sentence.tolist() == [4, 3]


def test_a_text_without_tokens_truncates_to_itself():
    cut = tokenize("").truncated(sentences=3, tokens=3)
    assert len(cut) == 0 and cut.sentence_spans() == [] and cut.per_sentence.dtype == np.int32


@pytest.mark.parametrize(
    ("label", "singles"),
    [(None, ()), ((), ()), ("good", ("good",)), (0, (0,)), (("a", "b"), ("a", "b"))],
)
def test_labels_are_given_one_by_one(label, singles):
    assert single_labels(label) == singles
