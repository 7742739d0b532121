"""Colours that can be read, and told apart by the colour-blind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.records.weights import Weights
from regard.views.drawing.colours import DARK, LEVELS, LIGHT, Scale, contrast, hexadecimal, mix

# How the eye sees linear red, green and blue without one kind of cones (Machado et al. 2009).
BLINDNESS = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def seen(colour, matrix):
    linear = [(part / 255) ** 2.2 for part in colour]
    mixed_light = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in matrix]
    return [255 * max(0, min(1, part)) ** (1 / 2.2) for part in mixed_light]


def distance(first, second):
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("against", [False, True])
def test_a_word_can_be_read_at_every_level(theme, against):
    for level in range(LEVELS + 1):
        shade = theme.shade(level, against=against)
        assert contrast(theme.ink_on(shade), shade) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_bars_stand_out_from_the_paper(theme):
    assert contrast(theme.ink, theme.paper) >= 7
    assert contrast(theme.muted, theme.paper) >= 4.5
    assert contrast(theme.muted, theme.panel) >= 4.5
    assert contrast(theme.sentence, theme.paper) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("kind", BLINDNESS)
def test_words_and_sentences_are_told_apart_without_one_kind_of_cones(theme, kind):
    matrix = BLINDNESS[kind]
    word, sentence = seen(theme.word, matrix), seen(theme.sentence, matrix)
    assert distance(word, sentence) > 90
    assert distance(word, seen(theme.against, matrix)) > 90


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_shades_grow_away_from_the_paper(theme):
    ratios = [contrast(theme.shade(level), theme.paper) for level in range(LEVELS + 1)]
    assert ratios == sorted(ratios)
    assert theme.shade(0) == theme.paper
    assert theme.shade(LEVELS) == theme.word


def test_contrast_is_that_of_the_standard():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)
    assert contrast((5, 5, 5), (5, 5, 5)) == 1


def test_colours_are_written_and_mixed():
    assert hexadecimal((0, 114, 178)) == "#0072b2"
    assert mix((0, 0, 0), (10, 20, 30), 0.5) == (5, 10, 15)


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
