import numpy as np
import pytest

from regard.experiments.sequences import TASKS, Rows, draw_lesson, draw_pairs
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
