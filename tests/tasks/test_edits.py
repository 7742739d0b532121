"""Edit distance and character error rate, against the plain recursion."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.tasks.edits import character_error_rate, edit_distance


def plain_distance(one, other):
    """The definition itself."""

    @cache
    def between(left, right):
        if not left or not right:
            return left + right
        replaced = between(left - 1, right - 1) + (one[left - 1] != other[right - 1])
        return min(replaced, between(left - 1, right) + 1, between(left, right - 1) + 1)

    return between(len(one), len(other))


WORDS = st.text(alphabet="ab한😀", max_size=9)


@given(WORDS, WORDS)
def test_the_distance_is_the_plain_one(one, other):
    assert edit_distance(one, other) == plain_distance(one, other) == edit_distance(other, one)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("", "", 0), ("seorak", "solak", 2)],
)
def test_known_distances(one, other, distance):
    assert edit_distance(one, other) == distance


def test_a_long_text_is_compared_in_a_moment():
    assert edit_distance("ab" * 1500, "ba" * 1500) == 2


def test_the_rate_is_of_all_letters_together():
    """003-14: edits of all words over the letters of all references."""
    assert character_error_rate(["seorak", "gumi"], ["seorak", "guri"]) == 1 / 10
    assert character_error_rate(["abcdef"], ["a"]) == 5, "it may be over one"
    assert character_error_rate([], []) == 0


def test_empty_references_give_a_number_too():
    assert character_error_rate(["", ""], ["", ""]) == 0
    assert character_error_rate(["a", ""], ["", ""]) == 1
    assert character_error_rate(["a", ""], ["", "ab"]) == 1.5


def test_texts_without_references_are_an_error():
    with pytest.raises(DataError, match="2 texts do not fit 1 references"):
        character_error_rate(["a", "b"], ["a"])
