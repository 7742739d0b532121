"""The scanner in C finds exactly what the plain definition finds, in any text."""

import ctypes
import random
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from regard.errors import DataError
from regard.kernels import describe, scan
from regard.kernels.scan import scanner
from regard.kernels.scan.scanner import NumberJob, WordTable, call, join_codes
from regard.text.document import cut_tokens
from regard.text.encode import encode
from regard.text.tokenize import TextConfig, scanner_for, tokenize, tokenize_many
from regard.text.vocab import Numbering, Vocab
from support.native_cases import needs_native
from support.odd_texts import dense_text, lined_text, random_text

SYLLABLES = TextConfig(hangul="syllables")
LETTERS = TextConfig(reading="letters")


def assert_scanned_as_defined(texts, config=None):
    assert scan.available()
    config = config or TextConfig()
    for text, found in zip(texts, tokenize_many(texts, config), strict=True):
        wanted = tokenize(text, config)
        same = np.array_equal(found.spans, wanted.spans)
        same &= np.array_equal(found.per_sentence, wanted.per_sentence)
        assert same, f"{text!r}: {found.words()}, not {wanted.words()}"
        assert found.text is text and found.spans.dtype == found.per_sentence.dtype == np.int32


@needs_native
@pytest.mark.parametrize("seed", range(10))
def test_random_texts_of_all_of_unicode_are_scanned_as_defined(seed):
    """Issue 3: the same spans as the plain Python definition, on 10,000 documents."""
    generator = random.Random(seed)
    assert_scanned_as_defined([random_text(generator) for _ in range(500)])
    assert_scanned_as_defined([dense_text(generator) for _ in range(500)])
    assert_scanned_as_defined([lined_text(generator) for _ in range(100)])
    for config in (SYLLABLES, LETTERS):
        assert_scanned_as_defined([dense_text(generator) for _ in range(100)], config)


CONTEXTS = ("{}", "a{0}b", "1{0}1", "{0}.{0} A", "A.{0}. x", "《。{}", "word {}\nWord")


@needs_native
@pytest.mark.parametrize("context", CONTEXTS)
def test_every_code_point_is_scanned_as_defined(context):
    """In runs, each with all those after it; planes without characters are only sampled."""
    planes = [*range(0, 0x20000, 7), *range(0x20000, 0x110000, 0x1FFF), 0x10FFFF]
    texts = [
        context.format("".join(map(chr, range(first, min(first + 7, 0x110000)))))
        for first in planes
    ]
    assert_scanned_as_defined([text for text in texts if len(text) > 1])


@needs_native
@pytest.mark.parametrize("context", ["{}", "한{0}글", "한.{0} 요. {0}", "가{0}'a1나{0}"])
def test_syllables_are_scanned_as_defined(context):
    planes = [*range(0x300, 0x1200, 5), *range(0x3130, 0x3190, 5), *range(0xA960, 0xD7FC, 99)]
    assert_scanned_as_defined(
        [context.format("".join(map(chr, range(first, first + 5)))) for first in planes], SYLLABLES
    )


NASTY = (
    *("a", " ", "\n", ".", ". ", "." * 50 + "a", "?", "<", "<b ", "<b a=", "<!--", "<br>", "&#1"),
    *("&amp;", "@", "a.", "a@b.c", "http://", "www.((((", ":)", ":-", "\u0301", "\u200d", "🇩"),
    *("漢", "。", "。《", "다 ", "다~", "\"'", ".\"'", ".[1]", "1) ", "• ", "A.", "1,", "\ud800"),
    *("x" * 59 + "\n", "\0", "\r\n", "- "),
)


@needs_native
@pytest.mark.timeout(60)
@pytest.mark.parametrize("end", ["", "x", "<", ">"])
def test_long_monotonous_texts_are_scanned_as_defined(end):
    """Where a rule looked back over the whole text these would take minutes, not a moment."""
    assert_scanned_as_defined([piece * (20_000 // len(piece)) + end for piece in NASTY])


@needs_native
def test_a_line_of_a_megabyte_is_scanned_as_defined():
    assert_scanned_as_defined(["It is a long story, that's all. " * 31_250, "x" * 1_000_000])


@needs_native
def test_texts_are_cut_at_any_place_into_blocks(monkeypatch):
    """What is scanned together changes nothing, whatever a block holds."""
    generator = random.Random(7)
    texts = ["", *(random_text(generator) for _ in range(50)), "x" * 100, "", ""]
    whole = tokenize_many(texts)
    for block in (1, 10, 99, 1000):
        monkeypatch.setattr(scanner, "_BLOCK", block)
        for one, other in zip(whole, tokenize_many(texts), strict=True):
            np.testing.assert_array_equal(one.spans, other.spans)
            np.testing.assert_array_equal(one.per_sentence, other.per_sentence)


@needs_native
def test_very_many_empty_texts_and_none_at_all_are_legal():
    found = scanner_for(TextConfig()).scan([""] * 100_000)
    assert found.lengths.shape == found.sentences.shape == (100_000,)
    assert not found.lengths.any() and found.spans.shape == (0, 2)
    found = scanner_for(TextConfig()).scan([])
    assert found.lengths.shape == (0,) and found.sentence_lengths.shape == (0,)


@needs_native
def test_what_is_no_text_is_an_error_and_no_crash(monkeypatch):
    class Odd(str):
        def __len__(self):
            return 1_000_000

    with pytest.raises(TypeError, match="no plain str"):
        tokenize_many([Odd("short")])
    with pytest.raises(TypeError):
        tokenize_many(["text", b"bytes"])
    monkeypatch.setattr(scanner, "_LONGEST", 10)
    with pytest.raises(DataError, match="a text has 11 characters; at most 10 can be read"):
        tokenize_many(["x" * 10, "x" * 11])


@needs_native
def test_threads_scan_at_the_same_time():
    generator = random.Random(3)
    texts = [random_text(generator) for _ in range(300)]
    wanted = scanner_for(TextConfig()).scan(texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: scanner_for(TextConfig()).scan(texts), range(8)):
            np.testing.assert_array_equal(found.spans, wanted.spans)
            np.testing.assert_array_equal(found.sentence_lengths, wanted.sentence_lengths)


@needs_native
def test_memory_is_that_of_the_answers_and_one_block():
    texts = ["some words of a text " * 50] * 4000  # 4 million characters, 1 million tokens
    scan = scanner_for(TextConfig()).scan
    scan(texts[:10])
    tracemalloc.start()
    found = scan(texts)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The parts and what they are joined into, and about 25 bytes for a character of the block.
    assert most < 2.2 * found.spans.nbytes + 25 * (1 << 18) + 1_000_000


def test_the_switch_turns_the_scanner_off(monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", "0")
    assert not scan.available() and scanner_for(TextConfig()) is None
    reason = "native: not used, switched off by REGARD_KERNELS=0; Python runs instead"
    assert scan.describe() == describe()["text_scanner"] == reason
    assert tokenize_many(["One. Two."])[0].words() == ["One", ".", "Two", "."]


@needs_native
def test_a_library_of_another_version_is_not_used(monkeypatch):
    """A stale build would misread its jobs."""
    assert scan.describe() == "native"
    monkeypatch.setattr(scanner, "_INTERFACE", -1)
    scanner._load.cache_clear()
    try:
        assert not scan.available() and "this package needs -1" in scan.describe()
    finally:
        scanner._load.cache_clear()


@needs_native
def test_dictionaries_are_not_for_the_scanner():
    assert scanner_for(TextConfig(cjk="icu")) is None


pytestmark = needs_native

WORDS = [
    "",
    "a",
    "ab",
    "ba",
    "\0",
    "\0\0",
    "\ud800",
    "\udfff",
    "x" * 7,
    "x" * 8,
    "x" * 9,
    "İ",
    "😀",
]


def test_words_come_back_in_their_order():
    long = ["y" * 100_000, "y" * 99_999 + "z"]
    assert WordTable([*WORDS, *long]).words() == [*WORDS, *long]
    assert WordTable().words() == [] and len(WordTable()) == 0


def test_joined_characters_have_those_more_that_are_read_at_once():
    codes, starts = join_codes(["ab", "", "😀\ud800"])
    assert starts.tolist() == [0, 2, 2, 4]
    assert codes.tolist() == [97, 98, 0x1F600, 0xD800] + [0] * 8


@pytest.mark.parametrize("seed", range(5))
def test_new_words_are_numbered_as_by_a_dictionary(seed):
    generator = random.Random(seed)
    letters = "abAB é漢😀\ud800"[: 4 + seed]
    numbers: dict[str, int] = {}
    numbering = Numbering()
    for _ in range(20):
        texts = [
            " ".join(
                "".join(generator.choices(letters, k=generator.randrange(12))).strip()
                for _ in range(generator.randrange(200))
            )
            for _ in range(5)
        ]
        found = encode(texts, numbering, TextConfig())
        words = [word for tokens in cut_tokens(texts, found) for word in tokens.words()]
        assert found.ids.tolist() == [numbers.setdefault(word, len(numbers)) for word in words]
    assert numbering.words == list(numbers)


@needs_native
@pytest.mark.parametrize("unknown", ["alike", "nearest"])
@pytest.mark.parametrize("letters", ["ab", "abc1", "aé𝒜", "가ab"])
def test_unknown_words_are_read_as_others_as_defined(letters, unknown):
    """Issue 13: as the known word that the plain Python definition finds, on 16,000 words."""
    generator = random.Random(letters)

    def word():
        # Mostly the same letter, so that beginnings are shared.
        size = generator.choice((1, 4, 5, 6, 7, 9, 10, 20, 39, 40, 41, 60))
        drawn = [*generator.choices(letters, k=size), *letters[0] * 9 * size]
        return "".join(generator.sample(drawn, size))

    vocab = Vocab(dict.fromkeys(word() for _ in range(300)), TextConfig(unknown=unknown))
    text = " ".join(word() for _ in range(4000))
    words = tokenize(text).words()
    known = {word: id for id, word in enumerate(vocab.words)}
    stand_ins = {word: vocab.stand_ins.find(word) for word in words if word not in known}
    others = {word: 1 if place is None else 2 + place for word, place in stand_ins.items()}
    wanted = [(known | others)[word] for word in words]
    np.testing.assert_array_equal(vocab.encode([text]).ids, wanted)
    np.testing.assert_array_equal(vocab.ids(words), wanted)
    assert len(set(vocab.read_as(words).values())) > 20


def test_a_hundred_thousand_words_are_told_apart():
    texts = [" ".join(f"w{number}" for number in range(100_000))] * 2
    numbering = Numbering()
    found = encode(texts, numbering, TextConfig())
    assert len(numbering.search.table) == 100_000
    np.testing.assert_array_equal(found.ids, np.tile(np.arange(100_000), 2))


def test_a_table_without_room_is_an_error_even_where_asserts_are_off():
    """Issue 10: an assert is lost under ``python -O``, and wrong ids would have been returned."""
    codes, starts = join_codes(["one"])
    table = WordTable(["two"]).job()
    numbering = NumberJob()
    numbering.table = ctypes.pointer(table)
    spans, counts = np.array([[0, 3]], np.int32), np.ones(1, np.int64)
    numbering.fill(grows=1, text_count=1, starts=starts, codes=codes, spans=spans)
    numbering.fill(token_counts=counts, numbers=np.zeros(1, np.int32))
    with pytest.raises(DataError, match="'number_words' ran out of room"):
        call("number_words", numbering)


def test_arrays_that_c_would_misread_are_refused():
    with pytest.raises(ValueError, match="codes does not lie in memory item after item"):
        NumberJob().fill(codes=np.zeros(8, np.uint32)[::2])
