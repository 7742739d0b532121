"""Numbers as every view writes them."""

import pytest

from regard.views.drawing.words import percent, points, two_digits, write_signed


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


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (0, "+0.000"),
        (0.25, "+0.250"),
        (-0.0005, "-0.001"),
        (-0.0004, "-0.0004"),
        (6e-5, "+0.0001"),
        (2e-9, "<+0.0001"),
        (-2e-9, ">-0.0001"),
    ],
)
def test_a_score_has_its_sign_and_is_never_a_power_of_ten(score, text):
    assert write_signed(score) == text


def test_points_have_a_sign_where_they_are_a_gain():
    assert (points(0.123), points(-0.123), points(-0.0)) == ("12.3", "−12.3", "0.0")
    assert (points(-0.004, 0), points(-0.006, 0)) == ("0", "−1")
    assert (points(0.123, sign=True), points(0.126, 0)) == ("+12.3", "13")
