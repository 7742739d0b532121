import re

import pytest

from regard.views.histograms import Histogram, draw_histogram


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
