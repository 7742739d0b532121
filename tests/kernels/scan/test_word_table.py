"""A table of words gives the numbers that a dictionary gives."""

import ctypes
import random

import numpy as np
import pytest

from regard.errors import DataError
from regard.kernels.scan.jobs import NumberJob, call
from regard.kernels.scan.word_table import WordTable, joined_codes
from regard.text.document import cut_tokens
from regard.text.encode import encode
from regard.text.tokenize import TextConfig
from regard.text.vocab import Numbering
from support.native_cases import needs_native

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
    codes, starts = joined_codes(["ab", "", "😀\ud800"])
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


def test_a_hundred_thousand_words_are_told_apart():
    texts = [" ".join(f"w{number}" for number in range(100_000))] * 2
    numbering = Numbering()
    found = encode(texts, numbering, TextConfig())
    assert len(numbering.search.table) == 100_000
    np.testing.assert_array_equal(found.ids, np.tile(np.arange(100_000), 2))


def test_a_table_without_room_is_an_error_even_where_asserts_are_off():
    """Issue 10: an assert is lost under ``python -O``, and wrong ids would have been returned."""
    codes, starts = joined_codes(["one"])
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
