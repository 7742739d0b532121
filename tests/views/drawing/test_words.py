"""Numbers as every view writes them."""

import pytest

from regard.views.drawing.words import percent, two_digits


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (1e-5, "<0.1 %"),
        (0.0123, "1.2 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.5, "50 %"),
        (0.9999, ">99.9 %"),
        (0.994, "99 %"),
        (0.996, "99.6 %"),
        (1, "100 %"),
    ],
)
def test_shares_are_written_with_the_digits_that_matter(share, text):
    assert two_digits(share) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (1e-4, "<0.1 %"), (0.5, "50.0 %"), (0.9996, ">99.9 %"), (1, "100 %")],
)
def test_a_share_has_one_decimal_and_is_never_a_false_zero_or_hundred(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.004, "<1 %"), (0.02, "2 %"), (0.996, ">99 %"), (1.0, "100 %")]
)
def test_without_decimals_the_ends_are_as_true(share, text):
    assert percent(share, 0) == text
