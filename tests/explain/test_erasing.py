"""Whatever is kept, the answers are those of reading every shortened document anew."""

import numpy as np
import pytest
import torch

from regard.data.batch import Batch, collate
from regard.errors import ConfigError
from regard.explain import erasing
from regard.explain.erasing import Eraser, documents
from regard.models import MODELS
from regard.ragged import Ragged
from regard.text.tokenize import tokenize
from regard.text.vocab import UNKNOWN
from support.questions import CONFIGS, TEXTS, VOCAB, built

BATCH = collate([tokenize(text) for text in TEXTS], VOCAB)


def naive(model, ids, kept, policy):
    """Read one version at a time, written out sentence by sentence."""
    found = []
    for row in kept:
        sentences = []
        for sentence, keeps in zip(
            ids.rows(), np.split(row, np.cumsum(ids.host_lengths)[:-1]), strict=True
        ):
            words = sentence.tolist()
            if policy == "mask":
                words = [id if keep else UNKNOWN for id, keep in zip(words, keeps, strict=True)]
            else:
                words = [id for id, keep in zip(words, keeps, strict=True) if keep]
            if words:
                sentences.append(torch.tensor(words))
        flat = torch.cat(sentences) if sentences else torch.zeros(0, dtype=torch.int64)
        lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64)
        with torch.no_grad():
            batch = Batch(Ragged(flat, lengths), torch.tensor([len(sentences)]))
            found.append(model(batch).logits.double())
    return torch.cat(found)


def masks(count, versions=12, seed=0):
    """Some random masks, all and nothing among them."""
    kept = np.random.default_rng(seed).random((versions, count)) < 0.6
    kept[0], kept[1] = True, False
    return kept


@pytest.mark.parametrize("policy", erasing.POLICIES)
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("place", [0, 2, 3])
def test_words_and_sentences_are_erased_exactly(name, policy, place):
    """Trust rule 4: exact, not sampled, through kept sentence vectors where these are isolated."""
    model, ids = built(CONFIGS[name], label_count=3), documents(BATCH)[place]
    eraser = Eraser(model, ids, policy)
    kept = masks(len(ids.values))
    torch.testing.assert_close(
        eraser.with_words(kept), naive(model, ids, kept, policy), atol=1e-5, rtol=1e-5
    )
    kept = masks(len(ids))
    by_word = kept[:, eraser.homes]
    expected = naive(model, ids, by_word, policy)
    torch.testing.assert_close(eraser.with_sentences(kept), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(eraser.reread(by_word), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["han", "flat"])
def test_small_portions_change_nothing(name, monkeypatch):
    model, ids = built(CONFIGS[name]), documents(BATCH)[0]
    kept = masks(len(ids.values))
    whole = Eraser(model, ids)
    expected = [whole.with_words(kept), whole.without_each_word(), whole.without_each_sentence()]
    for limit in ("BATCH_ITEMS", "KEPT_ITEMS"):
        monkeypatch.setattr(erasing, limit, 5)
    small = Eraser(model, ids)
    found = [small.with_words(kept), small.without_each_word(), small.without_each_sentence()]
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CONFIGS)
def test_each_piece_is_left_out_once(name):
    model, ids = built(CONFIGS[name]), documents(BATCH)[3]
    eraser = Eraser(model, ids)
    words, sentences = len(ids.values), len(ids)
    expected = naive(model, ids, ~np.eye(words, dtype=bool), "delete")
    torch.testing.assert_close(eraser.without_each_word(), expected, atol=1e-5, rtol=1e-5)
    some = np.array([4, 1])
    torch.testing.assert_close(eraser.without_each_word(some), expected[some], atol=1e-5, rtol=1e-5)
    by_word = ~np.eye(sentences, dtype=bool)[:, eraser.homes]
    torch.testing.assert_close(
        eraser.without_each_sentence(), naive(model, ids, by_word, "delete"), atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("name", CONFIGS)
def test_of_an_empty_document_nothing_can_be_erased(name):
    model = built(CONFIGS[name])
    eraser = Eraser(model, documents(BATCH)[1])
    with torch.no_grad():
        empty = model(collate([tokenize("")], VOCAB)).logits.double()
    torch.testing.assert_close(eraser.whole(), empty)
    torch.testing.assert_close(eraser.with_words(np.ones((2, 0), bool)), empty.expand(2, -1))
    assert eraser.without_each_word().shape == eraser.without_each_sentence().shape == (0, 2)


def test_the_whole_document_is_answered_as_ever():
    model = built(CONFIGS["han"])
    with torch.no_grad():
        expected = model(BATCH).logits.double()
    found = torch.cat([Eraser(model, ids).whole() for ids in documents(BATCH)])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("policy", erasing.POLICIES)
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("most", [7, 1 << 15])
def test_versions_of_many_documents_are_answered_as_alone(name, policy, most, monkeypatch):
    model = built(CONFIGS[name], label_count=3)
    made = erasing.erasers(model, BATCH, policy)
    kept = [masks(one.word_count, seed=place) for place, one in enumerate(made)]
    expected = [one.with_words(some) for one, some in zip(made, kept, strict=True)]
    for limit in ("BATCH_ITEMS", "KEPT_ITEMS"):
        monkeypatch.setattr(erasing, limit, most)
    asked = [one.keep_words(some) for one, some in zip(made, kept, strict=True)]
    for found, wanted in zip(erasing.answer(asked), expected, strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_an_unknown_policy_is_refused():
    with pytest.raises(ConfigError, match="delete"):
        Eraser(built(CONFIGS["han"]), documents(BATCH)[0], "delet")


@pytest.mark.parametrize("name", [name for name in MODELS if name != "flat"])
def test_kept_vectors_are_looked_up_or_picked_alike(name):
    """``from_kept`` is ``from_sentences`` after looking the vectors up."""
    model = built(CONFIGS[name])
    vectors = torch.randn(5, model.words.pooling.output_size)
    numbers = Ragged(torch.tensor([4, 0, 0, 2, 1]), torch.tensor([3, 0, 2]))
    with torch.no_grad():
        picked = model.from_kept(vectors, numbers)
        looked_up = model.from_sentences(numbers.with_values(vectors[numbers.values]))
    torch.testing.assert_close(picked.logits, looked_up.logits)
