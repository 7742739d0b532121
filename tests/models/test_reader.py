"""How texts are read: in bounded batches, answers in order, and company changes nothing."""

import random

import numpy as np
import pytest
import torch

from regard.errors import DataError
from regard.models import MODELS, reader
from regard.models.reader import TextReader, chunks, text_chunks
from regard.text.tokenize import TextConfig, tokenize
from support.native_cases import needs_native
from support.reviews import reviews, tiny

ODD = ["", "word", " \n\t ", "...", "🎬 <br> &amp; \x00 \ud800", "a " * 3000, "One. " * 700]
TEXTS = [*ODD, *reviews(25, seed=8)[0]]


@pytest.mark.parametrize("network", ["han", "flat", "cahan", "flow"])
def test_a_text_gets_the_same_answer_alone_and_in_any_company(network):
    """000-06, 000-07 and D14: batches of 1, 7 and all; a batch of one keeps its shape."""
    config = MODELS["han" if network == "flow" else network]
    sizes = {"embedding_size": 8, "hidden_size": 4, "attention_size": 4}
    reading_mode = {"reading": "flow"} if network == "flow" else {}
    classifier = tiny(network=config(**sizes, **reading_mode), training__epochs=1)
    classifier.fit(*reviews(30))
    together = classifier.predict_proba(TEXTS)
    order = random.Random(1).sample(range(len(TEXTS)), len(TEXTS))
    shuffled = classifier.predict_proba([TEXTS[place] for place in order])
    np.testing.assert_allclose(shuffled, together[order], atol=1e-6)
    for size in (1, 7):
        parts = [classifier.predict_proba(chunk) for chunk in chunks(TEXTS, size)]
        assert {part.shape[1] for part in parts} == {2}
        np.testing.assert_allclose(np.concatenate(parts), together, atol=1e-6)


@needs_native
@pytest.mark.parametrize("network", ["han", "flat"])
def test_with_native_kernels_company_changes_not_a_bit(network):
    """Issue 18: a promise of the README; other networks and poolings keep it to 1e-6."""
    classifier = tiny(network=MODELS[network](), training__epochs=1).fit(*reviews(30))
    together = classifier.predict_proba(TEXTS)
    for size in (1, 7):
        parts = [classifier.predict_proba(chunk) for chunk in chunks(TEXTS, size)]
        assert np.array_equal(np.concatenate(parts), together)


def test_batches_hold_every_text_once_and_similar_lengths(fitted, monkeypatch):
    monkeypatch.setattr(reader, "BATCH_TOKENS", 100)
    batches = list(fitted.reader_.batches(TEXTS))
    places = [place for read in batches for place in read.places]
    assert sorted(places) == list(range(len(TEXTS)))
    sizes = [[len(tokens) for tokens in read.complete] for read in batches]
    assert [n for batch in sizes for n in batch] == sorted(len(tokenize(text)) for text in TEXTS)
    assert all(sum(batch) <= 100 or len(batch) == 1 for batch in sizes)
    assert len(batches) > 3
    for read in batches:
        assert [TEXTS[place] for place in read.places] == [text.text for text in read.complete]


def test_logits_come_back_in_the_order_of_the_texts(fitted):
    found = fitted.reader_.answer(fitted.model_, TEXTS)
    assert found.logits.shape == (len(TEXTS), 2)
    assert found.lengths.tolist() == [len(tokenize(text)) for text in TEXTS]
    words = [word for text in TEXTS for word in tokenize(text).words()]
    assert found.unknown == sum(word not in fitted.vocab_ for word in words) > 0
    alone = fitted.reader_.answer(fitted.model_, [TEXTS[5]])
    np.testing.assert_allclose(alone.logits[0], found.logits[5], atol=1e-5)
    nothing = fitted.reader_.answer(fitted.model_, [])
    assert len(nothing.logits) == len(nothing.lengths) == nothing.unknown == 0


def test_caps_cut_what_the_model_reads_and_not_what_is_counted(fitted):
    config = TextConfig(max_sentences=1, max_words=2)
    reader = TextReader(fitted.vocab_, config, fitted.reader_.device)
    (read,) = reader.batches(["One two three. Four."])
    assert [len(text) for text in read.batch.texts] == [2]
    assert [len(text) for text in read.complete] == [6]


def test_a_stream_is_cut_into_lists():
    assert list(chunks(iter(range(5)), 2)) == [[0, 1], [2, 3], [4]]
    assert list(chunks([], 2)) == []


def test_a_stream_of_texts_is_cut_by_number_and_by_characters(monkeypatch):
    monkeypatch.setattr(reader, "CHUNK", 3)
    monkeypatch.setattr(reader, "CHUNK_CHARACTERS", 10)
    texts = ["a", "b", "c", "d", "e" * 9, "f", "g" * 50, "h"]
    found = list(text_chunks(iter(texts), len))
    assert found == [["a", "b", "c"], ["d", "e" * 9], ["f", "g" * 50], ["h"]]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_endless_stream_is_answered_as_it_comes(fitted, monkeypatch, threads):
    """What is read ahead is bounded, and the answers are those of predict_proba."""
    monkeypatch.setattr(reader, "CHUNK", 4)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    asked = []

    def endless():
        while True:
            asked.append(len(asked))
            yield TEXTS[asked[-1] % len(TEXTS)]

    stream = fitted.stream_proba(endless())
    found = [next(stream) for _ in range(len(TEXTS))]
    stream.close()
    assert len(asked) <= len(TEXTS) + 4 * 4
    np.testing.assert_array_equal(found, fitted.predict_proba(TEXTS))


def test_a_stream_of_what_is_no_text_is_an_error_that_names_the_place(fitted):
    for wrong in (3, None, b"bytes"):
        with pytest.raises(DataError, match="texts:2"):
            fitted.predict_proba(["fine", wrong])
    with pytest.raises(DataError, match="put it in a list"):
        fitted.predict_proba("a single text")
    assert fitted.predict_proba(iter(())).shape == (0, 2)
    assert list(fitted.stream_proba([])) == []
