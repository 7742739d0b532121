"""Charts as inline SVG: to scale, escaped, with words for those who cannot see them."""

import re

import pytest

from regard.views.drawing.charts import (
    Axis,
    Frame,
    Histogram,
    IntervalRow,
    Line,
    draw_histogram,
    draw_intervals,
    draw_lines,
)
from support.pages import Page


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


def bars(svg):
    return [float(height) for height in re.findall(r'<rect[^>]* height="([\d.]+)"', svg)]


def test_bars_are_as_high_as_their_shares():
    svg = draw_histogram(Histogram((0.0, 1.0, 2.0, 3.0), (1, 0, 3), "x", "use"), title="t")
    low, high = bars(svg)
    assert high == pytest.approx(3 * low, rel=0.01)
    assert "x 2 to 3: 3 uses, 75 %" in svg and "x 0 to 1: 1 use, 25 %" in svg


def test_histograms_that_are_compared_share_their_height():
    half = Histogram((0.0, 1.0, 2.0), (1, 1), "x", "use")
    alone, beside = (bars(draw_histogram(half, title="t", highest=top)) for top in (None, 1.0))
    assert alone[0] == pytest.approx(2 * beside[0], rel=0.01)


def test_nothing_counted_draws_an_empty_frame():
    assert bars(draw_histogram(Histogram((0.0, 1.0), (0,), "x", "use"), title="t")) == []


def test_the_mean_is_a_dashed_line():
    drawn = draw_histogram(Histogram((0.0, 1.0), (2,), "x", "use", mean=0.5), title="t")
    assert 'class="ideal"' in drawn
