from __future__ import annotations

import copy
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError, ModelError
from regard.text import tokenize as tokenize_module
from regard.text import vocab as vocab_module
from regard.text.tokenize import TextConfig, tokenize
from regard.text.units import UnitsConfig, build_units
from regard.text.vocab import (
    PADDING,
    UNKNOWN,
    Numbering,
    Vocab,
    Vocabulary,
    count_words,
    cut_texts,
    settle_unknown,
)

KEEP_ALL = TextConfig(min_count=1)
TEXTS = ["The film, the FILM! A good film.", "the end. İ Σας \ud800 👍🏽"]


def vocab_of(texts: list[str], config: TextConfig = KEEP_ALL) -> Vocab:
    return Vocab.from_counts(count_words(map(tokenize, texts), config), config)


def test_words_have_ids_from_two_by_falling_frequency():
    """001-17: 0 is padding, 1 is out of the vocabulary, the most frequent word is 2."""
    vocab = Vocab.from_counts({"rare": 2, "often": 9, "some": 5}, KEEP_ALL)
    assert vocab.words == ["<pad>", "<oov>", "often", "some", "rare"]
    assert vocab.ids(["often", "some", "rare", "never"]).tolist() == [2, 3, 4, 1]
    assert (PADDING, UNKNOWN, len(vocab)) == (0, 1, 5)


def test_words_that_only_the_test_texts_hold_are_out_of_the_vocabulary():
    """001-17: nothing leaks from test texts into the vocabulary."""
    vocab = vocab_of(["a good film"])
    words = tokenize("a bad film, sadly").words()
    assert vocab.ids(words).tolist() == [vocab.words.index("a"), 1, vocab.words.index("film"), 1, 1]
    assert "good" in vocab and "bad" not in vocab


def test_equally_frequent_words_stand_in_alphabetical_order():
    counts = {word: 3 for word in ("pear", "apple", "Zoo", "fig", "\ud800", "éclair")}
    forward = Vocab.from_counts(counts, TextConfig(lowercase=False))
    backward = Vocab.from_counts(dict(reversed(counts.items())), TextConfig(lowercase=False))
    assert forward.words[2:] == backward.words[2:] == sorted(counts)


def test_rare_words_and_words_beyond_the_size_are_left_out():
    counts = {"a": 5, "b": 4, "c": 4, "d": 1}
    assert Vocab.from_counts(counts, TextConfig(min_count=2)).words[2:] == ["a", "b", "c"]
    assert Vocab.from_counts(counts, TextConfig(min_count=5)).words[2:] == ["a"]
    assert Vocab.from_counts(counts, TextConfig(max_size=2)).words[2:] == ["a", "b"]
    assert len(Vocab.from_counts({}, TextConfig())) == 2


def test_words_that_occur_once_are_known_where_they_are_many():
    """One in twenty: of few or short texts, whose next words are as often new."""
    once = {f"once{number}": 1 for number in range(6)}
    some, many = ({"the": count, "of": 10} | once for count in (110, 100))
    assert Vocab.from_counts(some, TextConfig()).words[2:] == ["the", "of"]
    assert len(Vocab.from_counts(many, TextConfig())) == 2 + 2 + 6
    assert len(Vocab.from_counts(many, TextConfig(min_count=2))) == 2 + 2


def test_counting_agrees_with_counting_word_by_word():
    plain = Counter(
        "".join(c.lower() if len(c.lower()) == 1 else c for c in word)
        for text in TEXTS
        for word in tokenize(text).words()
    )
    assert count_words(map(tokenize, TEXTS), KEEP_ALL) == plain
    cased = count_words(map(tokenize, TEXTS), TextConfig(lowercase=False))
    assert cased == Counter(word for text in TEXTS for word in tokenize(text).words())


def test_case_matters_only_if_asked():
    counts = {"Film": 1, "film": 2, "FILM": 3, "ΣΑΣ": 1, "σας": 2}
    lower = Vocab.from_counts(counts, TextConfig(min_count=2))
    assert lower.words[2:] == ["film", "σας"]  # ΣΑΣ is σασ, counted once
    assert lower.ids(["FILM", "Film", "σΑς"]).tolist() == [2, 2, 3]
    cased = Vocab.from_counts(counts, TextConfig(lowercase=False, min_count=1))
    assert cased.ids(["FILM", "fILM"]).tolist() == [2, 1]


def test_a_word_written_like_a_reserved_name_is_a_word_like_any_other():
    vocab = Vocab(["word"])
    assert vocab.ids(["<pad>", "<oov>"]).tolist() == [1, 1]
    assert Vocab(["<pad>"]).ids(["<pad>"]).tolist() == [2]


def test_a_lookup_compares_words_and_does_not_search():
    """D15: one comparison a word or so, however large the vocabulary."""
    comparisons = 0

    class Watched(str):
        def __eq__(self, other: object) -> bool:
            nonlocal comparisons
            comparisons += 1
            return str.__eq__(self, other)  # type: ignore[return-value]

        __hash__ = str.__hash__

    vocab = Vocab((f"word{n}" for n in range(50_000)), TextConfig(lowercase=False))
    words = [Watched(f"word{n}") for n in range(0, 100_000, 100)]
    found = vocab.ids(words)
    assert (found > UNKNOWN).sum() == 500
    assert comparisons <= 2 * len(words)


def test_ids_of_no_words_are_an_empty_array():
    ids = Vocab(["a"]).ids([])
    assert ids.shape == (0,) and ids.dtype == np.int32


@pytest.mark.parametrize("lowercase", [True, False])
def test_any_word_survives_saving_and_loading(tmp_path: Path, lowercase: bool):
    odd = [
        "",
        "<pad>",
        "\ud800",
        "\udfff\udc00",
        "\r",
        "\x85",
        "\u2028",
        "\0",
        "👩‍👩‍👧",
        "İ",
        " a b ",
    ]
    vocab = Vocab(odd, TextConfig(lowercase=lowercase))
    vocab.save(tmp_path / "vocab.txt")
    loaded = Vocab.load(tmp_path / "vocab.txt", TextConfig(lowercase=lowercase))
    assert loaded.words == vocab.words and loaded.lowercase == lowercase
    np.testing.assert_array_equal(loaded.ids(odd), vocab.ids(odd))


def test_a_saved_vocabulary_is_one_word_a_line_in_the_order_of_ids(tmp_path: Path):
    vocab_of(["b a b"]).save(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_text("utf-8").split("\n") == ["<pad>", "<oov>", "b", "a"]


def test_an_empty_vocabulary_survives_too(tmp_path: Path):
    Vocab([]).save(tmp_path / "vocab.txt")
    assert Vocab.load(tmp_path / "vocab.txt").words == ["<pad>", "<oov>"]


def test_a_word_that_holds_a_line_end_cannot_be_saved(tmp_path: Path):
    with pytest.raises(DataError, match=r"'two\\nlines' cannot be written"):
        Vocab(["two\nlines"]).save(tmp_path / "vocab.txt")
    assert not (tmp_path / "vocab.txt").exists()


def test_a_word_twice_is_an_error():
    with pytest.raises(DataError, match="cannot hold 'b' twice"):
        Vocab(["a", "b", "c", "b"])


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is no vocabulary"), (b"a\nb\nc", "is no vocabulary"), (b"\xff\xfe", "is damaged")],
)
def test_a_foreign_file_is_named(tmp_path: Path, content: bytes, message: str):
    (tmp_path / "vocab.txt").write_bytes(content)
    with pytest.raises(ModelError, match=rf"vocab\.txt {message}"):
        Vocab.load(tmp_path / "vocab.txt")


def numbered(config: TextConfig) -> Numbering:
    numbering = Numbering(config)
    numbering.encode(TEXTS)
    return numbering


VOCABULARIES = {
    "words": lambda: vocab_of(TEXTS, TextConfig(lowercase=False, min_count=1)),
    "words as they come": lambda: numbered(KEEP_ALL),
    "pieces: words": lambda: build_units(TEXTS, UnitsConfig("words", min_count=1)),
    "pieces: characters": lambda: build_units(TEXTS, UnitsConfig("characters", min_count=1)),
    "pieces: subwords": lambda: build_units(TEXTS, UnitsConfig("subwords", min_count=1)),
}


@pytest.mark.parametrize("made", VOCABULARIES.values(), ids=VOCABULARIES)
def test_every_vocabulary_turns_texts_into_ids_and_ids_into_texts(made):
    """Issue 11: one protocol for words, characters and parts of words."""
    pytest.importorskip("tokenizers")
    vocabulary: Vocabulary = made()
    texts = [*TEXTS, "", "  "]
    encoded = vocabulary.encode(texts)
    assert len(encoded) == len(texts) and encoded.ids.dtype == np.int32
    assert encoded.lengths.sum() == len(encoded.ids) == len(encoded.spans)
    assert encoded.sentences.sum() == len(encoded.sentence_lengths)
    assert encoded.sentence_lengths.sum() == len(encoded.ids) and encoded.sentence_lengths.all()
    assert ((encoded.ids >= 0) & (encoded.ids < len(vocabulary))).all()
    for text, cut in zip(texts, cut_texts(texts, vocabulary), strict=True):
        known = text.replace("\ud800", "\N{REPLACEMENT CHARACTER}")
        written = vocabulary.decode(cut.ids.tolist()).replace("\ud800", "\N{REPLACEMENT CHARACTER}")
        assert "".join(written.split()) == "".join(known.split())
        assert "".join("".join(cut.tokens.words()).split()) == "".join(text.split())
    assert cut_texts([], vocabulary) == []


def test_a_word_that_is_unknown_is_shown_as_such():
    assert Vocab(["film"]).decode([PADDING, 2, UNKNOWN]) == "film \N{REPLACEMENT CHARACTER}"


def test_a_vocabulary_reads_scripts_without_spaces_as_it_was_made(tmp_path):
    pytest.importorskip("icu4py")
    icu = TextConfig(cjk="icu", min_count=1)
    vocab = Vocab.from_counts({"我们": 1, "喜欢": 1}, icu)
    vocab.save(tmp_path / "vocab.txt")
    loaded = Vocab.load(tmp_path / "vocab.txt", TextConfig(cjk="icu"))
    assert len(vocab.encode(["我们喜欢"]).ids) == len(loaded.encode(["我们喜欢"]).ids) == 2
    assert len(Vocab.load(tmp_path / "vocab.txt").encode(["我们喜欢"]).ids) == 4


@pytest.mark.parametrize("unknown", ["alike", "nearest"])
@pytest.mark.parametrize("scanned", [True, False], ids=["in C", "plainly"])
def test_unknown_words_are_read_as_known_ones(tmp_path, monkeypatch, scanned, unknown):
    """Issue 13: words out of the vocabulary are no longer all one id."""
    if not scanned:
        for module in (tokenize_module, vocab_module):
            monkeypatch.setattr(module, "available", lambda: False)
    Vocab(["captivating", "dull", "boring"]).save(tmp_path / "vocab.txt")
    vocab = Vocab.load(tmp_path / "vocab.txt", TextConfig(unknown=unknown))
    text = "Captivatingly dull, boringly so"
    assert vocab.encode([text]).ids.tolist() == [2, 3, 1, 4, 1]
    assert vocab.read_as(tokenize(text).words()) == {
        "Captivatingly": "captivating",
        "boringly": "boring",
    }
    assert "captivatingly" not in vocab and "Captivating" in vocab


@pytest.mark.parametrize("unknown", ["alike", "nearest"])
def test_a_vocabulary_in_use_can_be_copied(unknown):
    vocab = Vocab(["captivating"], TextConfig(unknown=unknown))
    for _ in range(2):
        assert vocab.encode(["captivatingly"]).ids.tolist() == [2]
        vocab = pickle.loads(pickle.dumps(copy.deepcopy(vocab)))


def test_where_many_words_are_new_unknown_ones_are_read_as_the_nearest():
    """Finnish has more endings than English; beginnings alone say little of its new words."""
    few, many = ({"the": 90 - once, **{f"w{n}": 1 for n in range(once)}} for once in (9, 10))
    assert [settle_unknown(TextConfig(), counts).unknown for counts in (few, many)] == [
        "alike",
        "nearest",
    ]
    cased = {"The": 1, "the": 1}
    assert settle_unknown(TextConfig(), cased).unknown == "alike", "both are one word"
    assert settle_unknown(TextConfig(lowercase=False), cased).unknown == "nearest"
    assert settle_unknown(TextConfig(unknown="one"), many).unknown == "one"
    assert settle_unknown(TextConfig(), {}).unknown == "alike"


def test_a_vocabulary_that_says_nothing_of_unknown_words_reads_them_as_one():
    """Models that were saved before answer as they did."""
    vocab = Vocab(["captivating"])
    assert vocab.encode(["captivatingly"]).ids.tolist() == [UNKNOWN]
    assert vocab.ids(["captivatingly"]).tolist() == [UNKNOWN] and not vocab.read_as(["other"])
