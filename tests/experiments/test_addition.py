from dataclasses import replace

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.experiments.addition import SYSTEMS, Addition, draw_sums
from regard.text.units import END, RESERVED

SIGNS = "0123456789+"


def read(pairs):
    """The sums as they are written."""
    batch = pairs.batch(np.arange(len(pairs)))

    def text(ids):
        return "".join(SIGNS[id - len(RESERVED)] for id in ids if id != END)

    sources = [text(row.tolist()) for row in batch.source.by_document.rows()]
    return list(zip(sources, [text(row.tolist()) for row in batch.target.rows()], strict=True))


@pytest.fixture(scope="module")
def sides():
    lesson = draw_sums(Addition(), seed=0)
    return read(lesson.training), read(lesson.held_out)


def test_there_are_as_many_sums_as_promised_and_all_are_right(sides):
    """003-04: 45,000 to learn from, 5,000 held out, of numbers of one to three digits."""
    training, held_out = sides
    assert (len(training), len(held_out)) == (45_000, 5_000)
    for source, target in training + held_out:
        left, right = source.split("+")
        assert int(left) + int(right) == int(target)
        assert max(len(left), len(right)) <= 3


def test_no_pair_of_numbers_is_on_both_sides_nor_twice_on_one(sides):
    """003-04: 12+7 and 7+12 count as one."""
    training, held_out = (
        [tuple(sorted(map(int, source.split("+")))) for source, _ in side] for side in sides
    )
    assert len(set(training) | set(held_out)) == 50_000


def test_the_seed_decides_the_sums():
    small = Addition(digits=2, examples=100, held_out=10)
    first, again, other = (read(draw_sums(small, seed).held_out) for seed in (1, 1, 2))
    assert first == again != other


def test_the_systems_differ_in_what_the_decoder_is_told_alone():
    """003-04."""
    attention, passed, alone = SYSTEMS.values()
    assert attention.decoder == "luong"
    assert (passed.decoder, passed.bridge) == ("sutskever", attention.bridge)
    assert (alone.decoder, alone.bridge) == ("cho", "none")
    same = ("hidden_size", "embedding_size", "cell", "layers", "directions", "dropout")
    for name in same:
        assert len({getattr(system, name) for system in SYSTEMS.values()}) == 1


def test_the_curves_of_the_three_systems_are_drawn_together():
    """003-04: one command, learning curves in one chart."""
    found = Addition.quick().run(0, lambda line: None)
    assert [curve.name for curve in found.chart.curves] == list(SYSTEMS)
    assert [len(curve.points) for curve in found.chart.curves] == [2, 2, 2]
    assert [row.values[1] for row in found.rows] == [2, 2, 2]


def test_a_system_over_the_target_is_not_trained_on():
    easy = replace(Addition.quick(), target=-1.0)
    assert [row.values[1:] for row in easy.run(0, lambda line: None).rows] == [(1, 1)] * 3


def test_the_digits_can_be_read_from_the_last_one():
    """With 128 units by default, as in the Keras example."""
    plain, backwards = [], []
    Addition.quick().run(0, plain.append)
    replace(Addition.quick(), reverse_source=True).run(0, backwards.append)
    assert len(plain) == len(backwards) and plain != backwards  # the losses differ
    assert Addition().hidden_size == 128


@pytest.mark.slow
def test_attention_learns_to_add_before_epoch_thirty(monkeypatch):
    """003-04: over 0.98 of the held-out sums are right in every digit."""
    monkeypatch.setattr("regard.experiments.addition.SYSTEMS", {"attention": SYSTEMS["attention"]})
    (found,) = Addition().run(0, lambda line: None).rows
    exact, _, first = found.values
    assert exact > 0.98 and first < 30
    assert found.seconds < 300


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"digits": 0}, "digits must be from 1 to 9"),
        ({"digits": 1}, "half at most can be drawn"),
        ({"held_out": 50_000}, "held_out must lie between"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Addition(**wrong)
