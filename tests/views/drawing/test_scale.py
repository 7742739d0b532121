"""How strongly a weight is drawn, and how it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.records.weights import Weights
from regard.views.drawing.colours import LEVELS
from regard.views.drawing.scale import Scale


def weights(values, by="document"):
    return Weights("word", tuple((0, 0) for _ in values), tuple(values), by=by)


def test_the_heaviest_word_is_drawn_in_full_if_it_stands_out():
    scale = Scale.of(weights([0.5] + [0.005] * 100))
    assert scale.level(0.5) == LEVELS
    assert scale.level(0.005) == 0


def test_even_weights_are_not_shaded():
    """Attention that says nothing must not pass for a reason."""
    assert Scale.of(weights([0.01] * 100)).level(0.01) == 0
    assert Scale.of_sentences(weights([0.1] * 10)).length(0.1) == pytest.approx(1 / 3)


def test_a_single_word_is_drawn_in_full():
    assert Scale.of(weights([1.0])).level(1.0) == LEVELS


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_levels_stay_in_range_and_grow_with_the_weight(values):
    scale = Scale.of(weights(values))
    levels = [scale.level(value) for value in sorted(values, key=abs)]
    assert levels == sorted(levels)
    assert all(0 <= level <= LEVELS for level in levels)


@pytest.mark.parametrize("scale", [Scale(0.01, 0.3), Scale(0.1, 0.5, power=1.0)])
def test_a_legend_tells_the_weight_of_each_level(scale):
    for level in range(1, LEVELS + 1):
        assert scale.level(scale.value_at(level)) == level


def test_within_sentences_the_scale_is_fixed():
    assert Scale.of(weights([0.9, 0.1], by="sentence")) == Scale.of(weights([1], by="sentence"))


def test_no_weights_draw_nothing():
    assert Scale.of(weights([])).level(0.0) == 0
    assert Scale.of(None).level(1.0) == 0
    assert Scale.of_sentences(None).length(1.0) == 0
    assert Scale.of(weights([0.0, 0.0])).level(0.0) == 0
    assert Scale.of_sentences(weights([])).length(0.0) == 0


def test_signed_weights_are_written_with_their_sign():
    scale = Scale.of(weights([0.5, -0.25]))
    assert (scale.text(0.5), scale.text(-0.25)) == ("+0.500", "-0.250")
    assert scale.level(-0.5) == scale.level(0.5) > 0
