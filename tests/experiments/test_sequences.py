import numpy as np
import pytest

from regard.errors import ConfigError
from regard.experiments.sequences import (
    READINGS,
    TASKS,
    Depth,
    Length,
    Order,
    Rows,
    draw_lesson,
    draw_pairs,
)
from regard.text.units import END, RESERVED


def read(pairs):
    batch = pairs.batch(np.arange(len(pairs)))
    return [
        (source.tolist(), target.tolist())
        for source, target in zip(batch.source.by_document.rows(), batch.target.rows(), strict=True)
    ]


@pytest.mark.parametrize(
    ("task", "done"),
    [("copy", list), ("reverse", lambda row: row[::-1]), ("sort", sorted)],
)
def test_the_target_is_what_the_task_says(task, done):
    lesson = draw_lesson(task, Rows(6, 1, 7), training=50, held_out=20, seed=0)
    for source, target in read(lesson.training) + read(lesson.held_out):
        assert target == [*done(source), END]
        assert 1 <= len(source) <= 7
        assert all(len(RESERVED) <= id < lesson.id_count for id in source)


def test_no_held_out_row_is_trained_on():
    lesson = draw_lesson("copy", Rows(3, 1, 4), training=60, held_out=30, seed=0)
    trained = {tuple(source) for source, _ in read(lesson.training)}
    assert not trained & {tuple(source) for source, _ in read(lesson.held_out)}


def test_pairs_of_one_length_have_it():
    assert {len(source) for source, _ in read(draw_pairs("copy", Rows(9, 5, 5), count=9, seed=0))}
    assert set(TASKS) == {"copy", "reverse", "sort"}


def test_deeper_networks_are_narrower_and_as_large():
    """003-07: a row for each depth, at equal parameters."""
    found = Depth.quick().run(0, lambda line: None)
    sizes = [row.values[1:] for row in found.rows]
    widths, counts = zip(*sizes, strict=True)
    assert [row.name for row in found.rows] == ["1 layer", "2 layers", "3 layers"]
    assert list(widths) == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert max(counts) - min(counts) < 0.1 * min(counts)


@pytest.mark.slow
def test_attention_does_not_mind_the_length_of_a_row():
    """002-04, 003-01: without it, all but short rows are lost."""
    small = Length(longest=12, every=4, examples=6000, epochs=10)
    by_length = small.run(0, lambda line: None).rows
    with_attention, without = zip(*(row.values for row in by_length), strict=True)
    assert min(with_attention) > 0.9
    assert without[-1] < 0.2 < without[0]


def test_every_length_is_asked_about():
    """002-04: a row of the table for each, and both networks beside one another."""
    found = Length.quick().run(0, lambda line: None)
    assert [row.name for row in found.rows] == ["3 symbols", "6 symbols"]
    assert [curve.name for curve in found.chart.curves] == ["with attention", "without"]
    assert all(len(curve.points) == 2 for curve in found.chart.curves)


def test_a_step_over_all_lengths_is_refused():
    with pytest.raises(ConfigError, match="every must be from 1 to the longest"):
        Length(longest=5, every=6)


def test_the_readings_differ_in_how_the_source_is_read_alone():
    """002-05, 003-02: without attention, and in one direction."""
    plain, backwards, twice = READINGS.values()
    assert (backwards.reverse_source, twice.repeat_source) == (True, 2)
    assert not plain.reverse_source and plain.repeat_source == 1
    assert {one.decoder for one in READINGS.values()} == {"sutskever"}
    assert {one.directions for one in READINGS.values()} == {1}


@pytest.mark.slow
def test_a_row_read_backwards_is_learnt_in_fewer_epochs():
    """002-05, 003-02."""
    plain, backwards, _ = Order().run(0, lambda line: None).rows
    assert backwards.values[1] < plain.values[1]
