"""Scenes of coloured shapes: what the caption says is where the masks say it is."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.errors import ConfigError
from regard.experiments.shapes import COLOURS, KINDS, Scenes, Shapes, _looks, _Lost, _row
from regard.nn.decoding.search import Hypothesis
from regard.records.alignment import WrittenReceipt


@pytest.fixture(scope="module")
def scenes():
    return Scenes.draw(60, 64, seed=0, sizes=(12, 20)).scenes


def middles(scene):
    """Row and column of the middle of each shape's box."""
    found = []
    for mask in scene.masks:
        down, across = np.nonzero(mask)
        found.append(((down.min() + down.max()) / 2, (across.min() + across.max()) / 2))
    return found


def test_a_caption_tells_the_upper_or_left_shape_first(scenes):
    for scene in scenes:
        (down, across), (other_down, other_across) = middles(scene)
        if "above" in scene.caption:
            assert other_down - down > abs(other_across - across)
        else:
            assert "beside" in scene.caption
            assert other_across - across > abs(other_down - down)


def test_it_takes_both_shapes_to_tell_how_they_lie():
    """Who sees where one of them lies, and knows all other pictures, is right in nine of ten."""
    scenes = Scenes.draw(8000, 64, seed=2, sizes=(16, 23)).scenes
    above = np.array(["above" in scene.caption for scene in scenes])
    places = (
        np.array([middles(scene) for scene in scenes]) // 4
    )  # (scenes, shapes, down and across)
    for shape in range(2):
        right = 0
        for place in np.unique(places[:, shape], axis=0):
            told = above[(places[:, shape] == place).all(1)]
            right += max(told.sum(), len(told) - told.sum())
        assert 0.8 < right / len(scenes) < 0.92


@pytest.mark.parametrize("sizes", [(4, 4), (4, 5), (4, 24), (24, 24)])
def test_shapes_of_all_allowed_sizes_find_a_place(sizes):
    Shapes(smallest=sizes[0], largest=sizes[1])
    for scene in Scenes.draw(50, 64, seed=3, sizes=sizes).scenes:
        assert scene.masks.any((1, 2)).all() and not (scene.masks[0] & scene.masks[1]).any()


def test_the_pixels_of_a_shape_have_its_colour(scenes):
    for scene in scenes:
        words = scene.caption.split()
        for mask, colour, kind in zip(scene.masks, words[1::1], words[2::1], strict=False):
            if colour in COLOURS and kind in KINDS:
                mean = scene.pixels[:, mask].mean(1)
                assert np.abs(mean - np.array(COLOURS[colour])).max() < 45


def test_no_word_follows_from_those_before_it():
    """After any beginning that more than a few captions share, at least two words may follow."""
    captions = [scene.caption.split() for scene in Scenes.draw(4000, 64, seed=1).scenes]
    for place in range(7):
        following = {}
        for words in captions:
            following.setdefault(tuple(words[:place]), []).append(words[place])
        for beginning, next_words in following.items():
            if len(next_words) >= 20:
                most = max(next_words.count(word) for word in set(next_words))
                assert most < 0.95 * len(next_words), beginning


def test_a_colour_has_the_article_that_english_gives_it(scenes):
    captions = " ".join(scene.caption for scene in scenes)
    assert "an orange" in captions and "an aqua" in captions and "a red" in captions
    assert "a aqua" not in captions and "an red" not in captions


def test_the_two_shapes_differ_in_colour_and_in_kind(scenes):
    for scene in scenes:
        words = scene.caption.split()
        assert words[1] != words[-2] and words[2] != words[-1]


def test_shapes_do_not_touch_and_their_cells_are_those_they_lie_in(scenes):
    for scene in scenes:
        assert not (scene.masks[0] & scene.masks[1]).any()
        cells = scene.cells(8)
        assert cells.shape == (2, 64) and cells.any(1).all()
        first = scene.masks[0].reshape(8, 8, 8, 8).any((1, 3))
        assert np.array_equal(cells[0].reshape(8, 8), first)


def test_the_same_seed_draws_the_same_scenes():
    once, again, other = (Scenes.draw(3, 32, seed=seed).scenes for seed in (1, 1, 2))
    assert [one.caption for one in once] == [one.caption for one in again]
    assert np.array_equal(once[0].pixels, again[0].pixels)
    assert not np.array_equal(once[0].pixels, other[0].pixels)


def test_covered_pictures_keep_their_captions():
    plain = Scenes.draw(20, 64, seed=0)
    covered = plain.covered(0.5, 8, seed=1)
    changed = [
        not np.array_equal(one.pixels, two.pixels)
        for one, two in zip(plain.scenes, covered.scenes, strict=True)
    ]
    assert 3 < sum(changed) < 17
    assert [one.caption for one in plain.scenes] == [two.caption for two in covered.scenes]


def test_single_cells_are_covered_from_hardly_any_to_nearly_all():
    """A network must know what it is to see nothing, or a receipt tells of its habits."""
    plain = Scenes.draw(60, 64, seed=0)
    covered = plain.covered(0.0, 8, seed=1, scattered=1.0)
    shares = []
    for one, two in zip(plain.scenes, covered.scenes, strict=True):
        changed = (one.pixels != two.pixels).any(0).reshape(8, 8, 8, 8).any((1, 3))
        shares.append(changed.mean())
    assert min(shares) < 0.2 and max(shares) > 0.8 and 0.35 < np.mean(shares) < 0.65
    with pytest.raises(ConfigError, match="no more than 1 together"):
        Shapes(covered=0.7, scattered=0.4)


def test_grey_stones_lie_beside_the_shapes_and_never_on_them(scenes):
    """They tell nothing, so that where there is only ground does not tell where shapes are."""
    for scene in scenes:
        beside = scene.pixels[:, ~scene.masks.any(0)].astype(int)
        assert (beside.max(0) - beside.min(0)).max() < 60  # grey, or the light ground
        stones = (beside.mean(0) < 215).mean()
        assert 0.005 < stones < 0.3


def test_a_word_looks_at_its_shape_and_a_relation_at_both(scenes):
    """Of a relation it is told how much lies on the shape that it looks at less."""
    scene = scenes[0]
    first, second = (torch.tensor(one / one.sum()) for one in scene.cells(8))
    ground = torch.tensor(~scene.cells(8).any(0)).double()
    looks = [first, first, (first + ground / ground.sum()) / 2, 0.7 * first + 0.3 * second]
    looks += [second, first, second]  # the second colour looks at the wrong shape
    wrote = Hypothesis(torch.tensor(scene.ids), 0.0, 0.0, True, torch.stack(looks))
    found = _looks(wrote, scene, 8)
    kinds = ["article", "colour", "shape", "relation", "article", "colour", "shape"]
    assert [look.kind for look in found] == kinds
    wanted = [1, 1, 0.5, 0.3, 1, 0, 1]
    assert [look.mass for look in found] == pytest.approx(wanted)
    row = _row("all", found, [])
    assert row.values[2] == pytest.approx(4.5 / 6)  # without the relation, which has two shapes
    assert _row("relations", found, []).values[2] == pytest.approx(0.3)


def test_words_count_by_whether_the_picture_decides_them():
    """What is lost is told of decided words; beside it stands the share over all words."""
    fewer = (WrittenReceipt(1.0, 0.8, 0.9, 0.1, blind=0.3), WrittenReceipt(1.0, 1.0, 0.9, 0.7, 0.3))
    receipts = [
        _Lost("shape", WrittenReceipt(1.0, 0.2, 0.9, 0.01, blind=0.3), fewer),
        _Lost("relation", WrittenReceipt(1.0, 0.996, 0.999, 0.01, blind=0.5), fewer),
        _Lost("article", WrittenReceipt(1.0, 1.0, 0.9999, 0.5, blind=0.999), fewer),
    ]
    row = _row("all", [], receipts)
    found = dict(zip(Shapes.columns, row.values, strict=True))
    assert found["words"] == 3 and found["decided by the picture"] == pytest.approx(2 / 3)
    assert found["lost"] == pytest.approx(0.402) and found["needs it"] == 1.0
    assert (found["needs it at 90 %"], found["needs it at 80 %"]) == (1.0, 0.0)
    assert found["clearly"] == 0.5 and found["needs it, of all words"] == pytest.approx(2 / 3)
    nothing = dict(zip(Shapes.columns, _row("articles", [], receipts).values, strict=True))
    assert nothing["decided by the picture"] == 0 and nothing["needs it"] is None


def test_it_finds_a_row_for_each_kind_of_word():
    found = Shapes.quick().run(0, lambda line: None)
    assert [row.name for row in found.rows][-1] == "all"
    assert found.rows[-1].values[0] is not None and len(found.chart.curves) == 2


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match="smallest and largest must be from 4 to 24"):
        Shapes(largest=40)


def test_a_start_that_does_not_learn_how_shapes_lie_is_followed_by_another():
    """Three of fifteen starts settled for one shape, which tells it in nine of ten pictures."""
    settings = replace(Shapes.quick(), epochs=6, learning_rate=1e-9)
    said = []
    found = settings.run(0, said.append)
    anew = [place for place, line in enumerate(said) if "another one" in line]
    assert len(anew) == 2 and said[anew[0] - 1].startswith("epoch 5")
    assert [point[0] for point in found.chart.curves[0].points] == [*range(1, 7)]  # of the last one
    assert not any("another" in line for line in _lines(replace(settings, starts=1)))
    with pytest.raises(ConfigError, match="starts must be at least 1"):
        Shapes(starts=0)


def _lines(settings):
    said = []
    settings.run(0, said.append)
    return said
