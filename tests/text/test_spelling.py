"""Words by their letters."""

import itertools

import numpy as np

from regard.text.spelling import (
    ALIKE,
    NEAREST,
    Alike,
    Nearest,
    are_spelt,
    letter_sizes,
    run_worths,
    spell,
)


def test_the_runs_of_a_word_have_its_edges():
    found = spell(["", "ab"], (3, 5))
    assert found.words.tolist() == [1, 1, 1]
    assert found.runs.tolist() == [0, 1, 2]
    assert found.run_count == 3, "' ab', 'ab ' and ' ab '"


def test_words_that_are_spelt_alike_share_runs():
    found = spell(["walk", "walked"], (3, 3))
    first, second = (set(found.runs[found.words == place].tolist()) for place in (0, 1))
    assert len(first & second) == 3, "' wa', 'wal' and 'alk'"


def test_a_run_is_counted_once_a_word():
    assert spell(["aaaaa"], (3, 3)).runs.tolist() == [0, 1, 2]


def test_sizes_follow_the_script():
    assert letter_sizes(["word", "a"], np.array([5, 2])) == (3, 5)
    assert letter_sizes(["영화", "정말", "the"], np.array([5, 5, 2])) == (2, 4)
    assert letter_sizes(["电", "影", "the"], np.array([5, 5, 2])) == (3, 5)


def test_single_characters_have_nothing_inside():
    assert are_spelt(["word", "a"], np.array([5, 2]))
    assert not are_spelt(["电", "影", "the"], np.array([5, 5, 2]))


def test_a_word_is_like_the_known_one_that_shares_its_longest_beginning():
    alike = Alike(["captive", "captivated", "captivating", "international"])
    found = [alike.find(word) for word in ("captivatingly", "captivates", "captives", "captivity")]
    assert found == [2, 1, 0, None], "6 letters are not 7 tenths of captivity"
    assert alike.find("intern") is None, "nor are they 7 tenths of international"


def test_of_words_that_begin_alike_the_most_frequent_stands_for_others():
    assert Alike(["painted", "painter"]).find("paints") == 0
    assert Alike(["painter", "painted"]).find("paints") == 0
    assert Alike(["painted", "painter"]).find("painters") == 1, "the longer beginning comes first"


def test_short_words_long_ones_and_numbers_are_like_no_other():
    endless = "a" * ALIKE.longest
    alike = Alike(["film", "10,000", endless + "a", endless])
    assert [alike.find(word) for word in ("films", "10,001", "", endless + "b")] == [None] * 4
    assert alike.find(endless[:-1]) == 3


OTHERS = ["".join(letters) for letters in itertools.product("vwyz", repeat=4)]
"""Words that have no run in common with those that are asked about, as in a real vocabulary."""


def test_a_word_is_nearest_to_the_known_one_that_most_of_its_letters_are_of():
    nearest = Nearest(["tiedosto", "kirjanmerkki", "ikkuna", "international", *OTHERS])
    asked = ("kirjanmerkit", "uusikirjanmerkki", "tiedostosta", "ikkunoiden", "national", "talo")
    assert [nearest.find(word) for word in asked] == [1, 1, 0, None, 3, None]


def test_a_word_counts_each_run_once():
    """ "nan" and "ana" stand twice in banana, and three times in the other."""
    assert Nearest(["banana", *OTHERS]).find("bananana") == 0


def test_the_nearest_of_two_is_found_and_of_equal_ones_the_first():
    assert Nearest(["painted", "repainting", "painter", *OTHERS]).find("painters") == 2
    assert Nearest(["tapasa", "tapiso", *OTHERS]).find("tapo") is None
    for words in (["katapulttia", "katapultteja"], ["katapultteja", "katapulttia"]):
        assert Nearest([*words, *OTHERS]).find("katapulttia") == words.index("katapulttia")
    for words in (["katapulttia", "katapulttio"], ["katapulttio", "katapulttia"]):
        assert Nearest([*words, *OTHERS]).find("katapultti") == 0


def test_runs_that_very_many_words_have_say_nothing():
    """A word is not read as one with which it has but the ending in common."""
    ends = [f"{first}{second}iness" for first in "bcdfghjklm" for second in "aeiou"]
    assert Nearest(["xiness", *OTHERS]).find("qiness") == 0
    assert Nearest(["xiness", *OTHERS, *ends]).find("qiness") is None
    assert run_worths(np.array([8, 9]), 50).tolist() == [9, 0]
    assert run_worths(np.array([0, 1, 100, 101]), 6400).tolist() == [169, 144, 36, 0]


def test_figures_and_long_words_are_nearest_to_nothing():
    endless = "ab" * NEAREST.most_letters
    nearest = Nearest(["10,000", endless, endless[: NEAREST.most_letters]])
    assert [nearest.find(word) for word in ("10,001", "", endless)] == [None] * 3
    assert nearest.find(endless[: NEAREST.most_letters]) == 2
    assert Nearest([]).find("film") is None
