"""Leaving out each piece: exact where it is cheap, a good guess and the best measured elsewhere."""

import numpy as np
import pytest
import torch

from regard.data.batch import collate
from regard.explain import erasing, erasure
from regard.explain.erasing import Eraser, documents
from regard.explain.erasure import without_each_sentence, without_each_word
from regard.explain.methods import METHODS
from regard.text.tokenize import tokenize
from support.questions import CONFIGS, TEXTS, VOCAB, asked, bag, built

LONG = " ".join([TEXTS[0], TEXTS[3]] * 6)


def unchanged(logits):
    return logits


def eraser(name, text=LONG, policy="delete"):
    (ids,) = documents(collate([tokenize(text)], VOCAB))
    return Eraser(built(CONFIGS[name], label_count=3), ids, policy)


def counted(made, monkeypatch):
    """How many words and sentences a model reads from now on."""
    seen = []
    for name in ("sentence_vectors", "from_kept"):
        plain = getattr(made.model, name)

        def watch(first, *rest, plain=plain):
            seen.append(len(rest[0].values) if rest else len(first.ids.values))
            return plain(first, *rest)

        monkeypatch.setattr(made.model, name, watch)
    return seen


@pytest.mark.parametrize("policy", erasing.POLICIES)
@pytest.mark.parametrize("name", CONFIGS)
def test_within_the_allowance_everything_is_measured(name, policy):
    made = eraser(name, policy=policy)
    found = without_each_word(made, unchanged), without_each_sentence(made, unchanged)
    torch.testing.assert_close(found[0].values, made.without_each_word())
    torch.testing.assert_close(found[1].values, made.without_each_sentence())
    assert found[0].measured is found[1].measured is None


@pytest.mark.parametrize("name", CONFIGS)
def test_beyond_it_the_most_moving_pieces_are_measured(name, monkeypatch):
    made = eraser(name)
    exact = made.without_each_word(), made.without_each_sentence()
    monkeypatch.setattr(erasure, "ITEMS", 1500)
    monkeypatch.setattr(erasure, "ITEMS_PER_WORD", 1)
    words, sentences = without_each_word(made, unchanged), without_each_sentence(made, unchanged)
    assert 0 < words.measured < made.word_count
    for found, right in ((words, exact[0]), (sentences, exact[1])):
        torch.testing.assert_close(
            found.values[found.places], right[found.places], atol=1e-5, rtol=1e-5
        )
        assert bool(torch.isfinite(found.values).all())
    if name in ("flat", "flow", "han"):
        both = torch.stack([words.values, exact[0]]) - made.whole()
        assert float(torch.corrcoef(both.flatten(1))[0, 1]) > 0.5


def test_a_sentence_read_again_alone_gives_a_near_guess(monkeypatch):
    """Nothing is measured at the end: what is left is the slope along the sentence's vector."""
    made = eraser("han")
    whole, exact = made.whole(), made.without_each_word()
    monkeypatch.setattr(erasure, "ITEMS", 2 * int((made.lengths**2).sum()))
    monkeypatch.setattr(erasure, "ITEMS_PER_WORD", 0)
    monkeypatch.setattr(erasure, "_furthest", lambda *_: np.zeros(0, dtype=np.int64))
    found = without_each_word(made, unchanged)
    assert found.measured == 0
    guessed, truly = found.values - whole, exact - whole
    assert float((guessed - truly).abs().mean() / truly.abs().mean()) < 0.25
    both = torch.stack([guessed.flatten(), truly.flatten()])
    assert float(torch.corrcoef(both)[0, 1]) > 0.95


@pytest.mark.parametrize("text", [LONG, "laughed " * 300, "One.\n\n" * 200], ids=len)
def test_no_more_is_read_than_allowed(text, monkeypatch):
    """Whatever the shape: usual sentences, one without end, hundreds of one word."""
    made = eraser("han", text)
    monkeypatch.setattr(erasure, "ITEMS", 3000)
    monkeypatch.setattr(erasure, "ITEMS_PER_WORD", 4)
    allowed = max(3000, 4 * made.word_count)
    for ask in (without_each_word, without_each_sentence):
        seen = counted(made, monkeypatch)
        found = ask(made, unchanged)
        monkeypatch.undo()
        monkeypatch.setattr(erasure, "ITEMS", 3000)
        monkeypatch.setattr(erasure, "ITEMS_PER_WORD", 4)
        # The whole document is asked about a few times besides.
        assert sum(seen) <= 1.05 * allowed + 4 * made.sentence_count
        assert bool(torch.isfinite(found.values).all())
        assert len(found.values) in (made.word_count, made.sentence_count)


def test_explanations_say_how_much_was_measured(monkeypatch):
    answers = asked(built(CONFIGS["han"]), [LONG], chosen=(0, 1))
    (whole,) = METHODS["erasure"].explain(answers)
    assert [weights.measured for weights in whole.decisions[0].weights] == [None, None]
    monkeypatch.setattr(erasure, "ITEMS", 1500)
    monkeypatch.setattr(erasure, "ITEMS_PER_WORD", 1)
    for name in ("erasure", "contrast"):
        (found,) = METHODS[name].explain(answers)
        words = found.decisions[0].level("word")
        assert 0 < words.measured < len(words)
        assert type(found).from_json(found.to_json()) == found
    (plain,) = METHODS["erasure"].explain(answers)
    top = whole.decisions[0].level("word").heaviest(5)
    assert set(top) <= set(plain.decisions[0].level("word").heaviest(12))


def test_a_bag_of_words_is_guessed_without_an_error(monkeypatch):
    """In a linear model the slope is all there is."""
    monkeypatch.setattr(erasure, "ITEMS", 1)
    monkeypatch.setattr(erasure, "ITEMS_PER_WORD", 0)
    (ids,) = documents(collate([tokenize(LONG)], VOCAB))
    made = Eraser(bag({"dull": 1.5, "brilliant": -2.0}), ids)
    found = without_each_word(made, unchanged)
    assert found.measured == 0
    torch.testing.assert_close(found.values, made.without_each_word(), atol=1e-5, rtol=1e-5)
    found = without_each_sentence(made, unchanged)
    torch.testing.assert_close(found.values, made.without_each_sentence(), atol=1e-5, rtol=1e-5)
