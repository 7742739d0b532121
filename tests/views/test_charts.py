import re

import pytest

from pages import Page
from regard.views.charts import Axis, Frame, IntervalRow, Line, draw_intervals, draw_lines


@pytest.mark.parametrize(
    "values", [(0.1, 0.9), (5.0, 5.0), (0.0, 0.0), (-3.0, 4.0), (1e-5, 3e-5), (1200.0, 98_000.0)]
)
def test_an_axis_holds_its_values_between_few_round_marks(values):
    axis = Axis.around(values, "title", str)
    assert axis.low <= min(values) and max(values) <= axis.high
    assert axis.low < axis.high
    assert 2 <= len(axis.ticks) <= 8
    assert all(0 <= axis.place(value) <= 1 for value in values)


@pytest.mark.parametrize("low", [0.0, 0.31, 0.5, 0.777, 0.8, 0.89, 0.95, 0.999, 1.0])
def test_an_axis_of_shares_ends_at_all_and_begins_below_the_lowest(low):
    axis = Axis.shares("", low)
    assert axis.high == 1.0 and axis.ticks[-1] == 1.0
    assert 0 <= axis.low <= low
    assert len(axis.ticks) <= 6
    assert axis.text(0.25) == "25 %"


def test_values_are_placed_in_proportion():
    frame = Frame(Axis(0, 10, (0, 10)), Axis(0, 1, (0, 1)))
    assert frame.across(0) == frame.left
    assert frame.across(10) == frame.width - frame.right
    assert frame.across(5) == (frame.across(0) + frame.across(10)) / 2
    assert frame.down(1) == frame.top
    assert frame.down(0) == frame.height - frame.bottom


def test_a_chart_says_in_words_what_it_shows():
    frame = Frame(Axis(0, 1, (0, 1), "x"), Axis(0, 1, (0, 1), "y"))
    line = Line(((0.0, 0.5), (1.0, 1.0)), notes=("first <b>", "second"))
    drawn = draw_lines(frame, [line], title="A & B", description="rising", mark=0.5)
    read = Page(drawn)
    assert ("svg", "aria-label", "A & B. rising") in read.attributes
    assert ("svg", "role", "img") in read.attributes
    assert "first <b>" in read.text and "second" in read.text
    assert "b" not in read.tags


def test_each_interval_is_drawn_from_its_low_to_its_high_end():
    axis = Axis.shares("", 0.5)
    rows = [
        IntervalRow("ours", 0.8, 0.7, 0.9, "80 %"),
        IntervalRow("theirs", 0.6, 0.6, 0.6, "60 %"),
    ]
    drawn = draw_intervals(axis, rows, title="Accuracy")
    Page(drawn)
    lines = re.findall(r'<line class="grey"[^>]* x1="([\d.]+)" x2="([\d.]+)"', drawn)
    dots = [float(x) for x in re.findall(r'<circle[^>]* cx="([\d.]+)"', drawn)]
    assert len(lines) == len(dots) == 2
    low, high = map(float, lines[0])
    assert dots[0] == pytest.approx((low + high) / 2, abs=0.02)
    assert float(lines[1][0]) == float(lines[1][1]) == dots[1] < dots[0]
