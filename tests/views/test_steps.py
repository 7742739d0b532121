"""Bars of the weights of steps: as high as the means, in SVG and in pictures."""

import re

import numpy as np
import pytest

from pages import Page
from regard.errors import ConfigError, DataError
from regard.views.steps import StepWeights, draw, render, write


def heights(svg):
    return [float(height) for height in re.findall(r'<rect[^>]* height="([\d.]+)"', svg)]


def planted(series=300, steps=20, at=10):
    scores = np.random.default_rng(0).normal(size=(series, steps))
    scores[:, at] += 4
    grown = np.exp(scores)
    return grown / grown.sum(1, keepdims=True)


def test_bars_are_as_high_as_the_mean_over_the_series():
    """003-12: the mean over 300 series, a bar for each step, the planted one the highest."""
    weights = planted()
    svg = draw(StepWeights.of(weights, mark=10), title="Attention")
    drawn = np.array(heights(svg))
    assert drawn / drawn.sum() == pytest.approx(weights.mean(0), abs=0.01)
    assert drawn.argmax() == 10 and svg.count("orange-fill") == 1
    assert "mean of 300 series" in svg and "step 10: 63 % ±" in svg
    Page(svg)


def test_one_series_needs_no_mean():
    steps = StepWeights.of([0.25, 0.75], ["a", "b"])
    svg = draw(steps, title="t")
    low, high = heights(svg)
    assert high == pytest.approx(3 * low, rel=0.01)
    assert "±" not in svg and "mean of" not in svg and ">Step<" in svg


def test_names_are_escaped():
    svg = draw(StepWeights.of([1.0], ["<b>&"]), title='"<i>')
    assert "<b>" not in svg and "<i>" not in svg
    Page(svg)


@pytest.mark.parametrize("count", [1, 24, 25, 1000])
def test_names_do_not_crowd(count):
    """Of many steps some names are written, that of the marked one always."""
    steps = StepWeights.of(np.full(count, 1 / count), mark=count - 1)
    shown = [place for place, _ in steps.shown_names]
    assert len(shown) <= 25 and count - 1 in shown
    assert heights(draw(steps, title="t"))


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_picture_is_the_same_each_time(kind, tmp_path):
    """003-12: a picture to keep."""
    pytest.importorskip("matplotlib", reason="pictures need the extra plots")
    steps = StepWeights.of(planted(30), ["$x_1$", "두", *map(str, range(18))], mark=10)
    write(steps, tmp_path / f"steps.{kind}", title="Attention $after$ the LSTM")
    assert (tmp_path / f"steps.{kind}").read_bytes() == render(
        steps, kind, title="Attention $after$ the LSTM"
    )


def test_what_cannot_be_drawn_is_an_error():
    for weights in ([], [[]], [np.nan], np.zeros((2, 2, 2))):
        with pytest.raises(DataError, match="cannot be drawn"):
            StepWeights.of(weights)
    with pytest.raises(DataError, match="1 names do not fit 2 steps"):
        StepWeights.of([0.5, 0.5], ["a"])
    with pytest.raises(DataError, match="there is no step 2 among 2"):
        StepWeights.of([0.5, 0.5], mark=2)
    with pytest.raises(ConfigError, match="cannot be 'gif'"):
        render(StepWeights.of([1.0]), "gif", title="t")
