from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from regard.errors import ConfigError
from regard.text.encode import encode
from regard.text.tokenize import (
    TextConfig,
    join_words,
    settle_hangul,
    tokenize,
    tokenize_many,
)
from regard.text.vocab import Numbering
from support.native_cases import needs_native
from support.odd_texts import random_text

SOURCES = Path(__file__).resolve().parents[2] / "src"


@pytest.mark.parametrize("seed", range(10))
def test_random_texts_of_all_of_unicode_keep_every_promise_about_spans(seed):
    """001-23, and issue 2: 10,000 documents, every span is the text it points at."""
    generator = random.Random(seed)
    for _ in range(1000):
        text = random_text(generator)
        tokens = tokenize(text)
        spans, counts = tokens.spans, tokens.per_sentence
        assert spans.dtype == counts.dtype == np.int32 and spans.shape == (len(tokens), 2)
        starts, ends = spans[:, 0], spans[:, 1]
        assert (starts < ends).all() and (ends[:-1] <= starts[1:]).all()
        assert len(spans) == 0 or (starts[0] >= 0 and ends[-1] <= len(text))
        assert counts.sum() == len(spans) and (counts > 0).all()
        words = tokens.words()
        assert words == [text[start:end] for start, end in spans.tolist()]
        assert not any(re.search(r"\s", word) for word in words)
        assert tokens.text is text


@pytest.mark.parametrize("seed", range(3))
def test_the_same_text_always_gives_the_same_tokens(seed):
    for _ in range(100):
        text = random_text(random.Random(seed))
        one, other = tokenize(text), tokenize(str(text))
        np.testing.assert_array_equal(one.spans, other.spans)
        np.testing.assert_array_equal(one.per_sentence, other.per_sentence)


@pytest.mark.parametrize("seed", range(10))
def test_what_stands_beyond_a_blank_line_changes_nothing(seed):
    """Two texts with a blank line between have the tokens and the sentences of each alone."""
    generator = random.Random(seed)
    for _ in range(100):
        # A tag may reach over lines; no other rule does.
        first, second = (random_text(generator).replace("<", "") for _ in range(2))
        together, one, other = (tokenize(t) for t in (f"{first}\n\n{second}", first, second))
        shifted = other.spans + len(first) + 2
        np.testing.assert_array_equal(together.spans, np.concatenate([one.spans, shifted]))
        counts = np.concatenate([one.per_sentence, other.per_sentence])
        np.testing.assert_array_equal(together.per_sentence, counts)


@pytest.mark.parametrize("seed", range(10))
def test_a_tag_is_passed_over_like_as_many_spaces(seed):
    generator = random.Random(seed)
    for _ in range(100):
        parts = [random_text(generator).replace("<", "") for _ in range(3)]
        tagged, spaced = tokenize("<b>".join(parts)), tokenize("   ".join(parts))
        np.testing.assert_array_equal(tagged.spans, spaced.spans)
        np.testing.assert_array_equal(tagged.per_sentence, spaced.per_sentence)


NASTY = {
    "letters": "a",
    "spaces": " ",
    "lines": "\n",
    "dots": ".",
    "spaced dots": ". ",
    "stops before a letter": "." * 50 + "a",
    "questions": "?",
    "opened tags": "<",
    "half tags": "<b ",
    "half attributes": "<b a=",
    "half comments": "<!--",
    "tags": "<br>",
    "half entities": "&#1",
    "entities": "&amp;",
    "at signs": "@",
    "half mails": "a.",
    "mails": "a@b.c",
    "half addresses": "http://",
    "brackets after an address": "www.((((",
    "faces": ":)",
    "half faces": ":-",
    "marks": "\u0301",
    "joiners": "\u200d",
    "flags": "🇩",
    "ideographs": "漢",
    "ideographic stops": "。",
    "stops and brackets": "。《",
    "Korean": "다 ",
    "tildes": "다~",
    "quotes": "\"'",
    "stops and quotes": ".\"'",
    "references": ".[1]",
    "items": "1) ",
    "bullets": "• ",
    "initials": "A.",
    "numbers": "1,",
    "surrogates": "\ud800",
    "wrapped lines": "x" * 59 + "\n",
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", NASTY.values(), ids=NASTY)
def test_no_text_takes_more_than_time_in_proportion_to_its_length(piece):
    """Where a rule looked back over the whole text these would take minutes, not a moment."""
    text = piece * (100_000 // len(piece))
    tokens = tokenize(text)
    assert len(tokens) <= len(text) and tokens.per_sentence.sum() == len(tokens)
    # A rule that fails for want of its last character must not start over at each of the others.
    assert tokenize(text + "x").text.endswith("x")


def test_a_single_line_of_a_million_characters_is_legal():
    text = "It is a long story, that's all. " * 31_250
    tokens = tokenize(text)
    assert len(text) == 1_000_000
    assert len(tokens.per_sentence) == 31_250 and (tokens.per_sentence == 9).all()
    assert text[slice(*tokens.spans[-1])] == "."


def test_a_text_without_words_has_no_tokens():
    tokens = tokenize(" <br>\0")
    assert len(tokens) == 0 and tokens.words() == [] and tokens.sentence_spans() == []
    assert tokens.spans.shape == (0, 2) and tokens.per_sentence.shape == (0,)


def test_nothing_is_cut_whatever_the_settings_say():
    """Caps are applied by whoever reports what they cut."""
    capped = TextConfig(max_sentences=1, max_words=1, max_size=1)
    assert tokenize("One. Two three.", capped).words() == ["One", ".", "Two", "three", "."]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_count": 0}, "min_count must be at least 1, got 0"),
        ({"max_size": -1}, "max_size must be at least 1, got -1"),
        ({"max_sentences": 0}, "max_sentences"),
        ({"max_words": 0}, "max_words"),
        ({"hangul": "jamo"}, "hangul cannot be 'jamo'; there are auto, syllables, words"),
        ({"reading": "bytes"}, "reading cannot be 'bytes'; there are auto, letters, words"),
        ({"cjk": "jieba"}, "cjk cannot be 'jieba'; there are characters, icu"),
    ],
)
def test_a_setting_out_of_range_is_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        TextConfig(**settings)


ENDINGS = ("다", "는데", "지만", "네요", "어서", "고", "니까", "거든요")
KOREAN = [f"{chr(0xAC00 + 28 * stem)}화{ending} 봤" for stem in range(99) for ending in ENDINGS]


def test_korean_whose_words_are_mostly_new_is_read_by_syllables():
    assert settle_hangul(KOREAN, TextConfig()).hangul == "syllables"


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["plain English words"] * 9, ["좋은 영화"] * 50, [*KOREAN, "many words " * 999]],
)
def test_other_texts_stay_in_words(texts):
    """Where there is no Korean, where its words are all known, and where it is quoted."""
    assert settle_hangul(texts, TextConfig()) == TextConfig()


@pytest.mark.parametrize("asked", ["words", "syllables"])
def test_what_is_asked_for_is_not_chosen(asked):
    config = TextConfig(hangul=asked)
    assert settle_hangul(KOREAN, config) == settle_hangul([], config) == config


def test_text_works_without_torch():
    code = "import sys, regard.text.tokenize, regard.text.vocab; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(SOURCES)})


DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"

# file: how many of its rows to take, spread over all of it
FILES = {
    "imdb/train.parquet": 400,
    "imdb/unsup.parquet": 200,
    "20newsgroups/train.parquet": 200,
    "gnad10_de/official_test_only.parquet": 100,
    "nsmc_ko/train.parquet": 2000,
    "chnsenticorp_zh/train.parquet": 500,
    "sentence_boundaries/golden_rules.parquet": 1000,
    "sentence_boundaries/ud_de_gsd.parquet": 1000,
    "sentence_boundaries/ud_en_ewt.parquet": 2000,
    "sentence_boundaries/ud_en_gum.parquet": 1000,
    "sentence_boundaries/ud_ko_gsd.parquet": 1000,
    "sentence_boundaries/ud_ko_kaist.parquet": 1000,
}


@needs_native
@pytest.mark.skipif(not DATA.is_dir(), reason=f"needs the texts in {DATA.name}")
@pytest.mark.parametrize("file", FILES)
def test_real_texts_are_scanned_as_defined(file):
    """Issue 3: spans, sentences and words are those of the plain definition."""
    column = pyarrow.parquet.read_table(DATA / file, columns=["text"])["text"].to_pylist()
    texts = column[:: max(1, len(column) // FILES[file])]
    texts += [" ".join(column[place : place + 10]) for place in range(0, min(len(column), 500), 10)]
    numbering = Numbering()
    encoded = encode(texts, numbering, TextConfig())
    words = np.array(numbering.words, dtype=object)[encoded.ids].tolist()
    for text, found in zip(texts, tokenize_many(texts), strict=True):
        wanted = tokenize(text)
        np.testing.assert_array_equal(found.spans, wanted.spans)
        np.testing.assert_array_equal(found.per_sentence, wanted.per_sentence)
        assert words[: len(wanted)] == wanted.words()
        del words[: len(wanted)]
    assert not words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("房间很干净，早餐也不错。", "房间 很 干净 ， 早餐 也 不错 。"),
        ("我们喜欢看电影", "我们 喜欢 看 电影"),
        ("部屋がとても綺麗。", "部屋 が とても 綺麗 。"),
        ("東京のホテル", "東京 の ホテル"),
        ("アーリーチェックイン", "アーリーチェックイン"),
        ("隣の部屋がうるさくて眠れません。", "隣 の 部屋 が うるさくて 眠れません 。"),
        ("朝食が美味しかったです", "朝食 が 美味しかった です"),
        ("エアコンが壊れていました", "エアコン が 壊れていました"),
        ("もう食べられない", "もう 食べられない"),
        ("駅から近くて便利", "駅 から 近くて 便利"),
        ("อาหารอร่อยมาก", "อาหาร อร่อย มาก"),
        ("Das Wort 酒店 heißt Hotel.", "Das Wort 酒店 heißt Hotel ."),
        ("<b>酒</b>店", "酒 店"),
    ],
)
def test_characters_that_a_model_reads_make_up_words_that_people_see(text, expected):
    pytest.importorskip("icu4py")
    words = join_words(tokenize(text))
    assert [text[start:end] for start, end in words.word_spans()] == expected.split()
    assert words.per_sentence.sum() == len(words) == len(tokenize(text))


def test_syllables_make_up_korean_words():
    text = "영화가 재밌었다. 3D로 봄!"
    words = join_words(tokenize(text, TextConfig(hangul="syllables")))
    spans = [text[start:end] for start, end in words.word_spans()]
    assert spans == ["영화가", "재밌었다", ".", "3D로", "봄", "!"]
    assert words.per_word.tolist() == [3, 4, 1, 2, 1, 1]


def test_letters_make_up_words_of_any_script():
    text = "Anna's café, 12.5% 한국 😀!!"
    config = TextConfig(reading="letters")
    tokens = tokenize(text, config)
    assert tokens.words() == [*"Anna's", *"café", ",", *"12.5", "%", *"한국", "😀", "!!"]
    words = join_words(tokens, config)
    spans = [text[start:end] for start, end in words.word_spans()]
    assert spans == tokenize(text).words()
    assert list(tokens.per_sentence) == [len(tokens)] and not words.spelt


@pytest.mark.parametrize(("text", "spelt"), [("Anna", True), ("A", False), ("Anna B", False)])
def test_of_a_single_word_its_letters_are_seen(text, spelt):
    config = TextConfig(reading="letters")
    words = join_words(tokenize(text, config), config)
    assert words.spelt is spelt
    assert len(words.word_spans()) == (4 if spelt else len(text.split()))
    assert not join_words(tokenize(text)).spelt


def test_what_was_cut_off_is_no_part_of_a_word():
    pytest.importorskip("icu4py")
    cut = tokenize("房间干净。我们喜欢电影。").truncated(tokens=3)
    words = join_words(cut)
    spans = [cut.text[start:end] for start, end in words.word_spans()]
    assert spans == ["房间", "干", "我们", "喜"]
    assert words.sum_by_word(np.ones(6)).tolist() == [2, 1, 2, 1]


@pytest.mark.parametrize("text", ["", "Plain words.", "Ça va, très bien.", "한국어 단어"])
def test_where_every_token_is_a_word_nothing_is_joined(text):
    tokens = tokenize(text)
    assert join_words(tokens) is tokens
    values = np.arange(len(tokens), dtype=float)
    assert join_words(tokens).sum_by_word(values) is values
    assert len(tokens.word_spans()) == len(tokens)


def test_without_icu_people_see_the_characters_that_are_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    assert join_words(tokenize("酒店")).per_word is None
    assert join_words(tokenize("ホテルの")).per_word.tolist() == [3, 1]
