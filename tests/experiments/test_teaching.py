from dataclasses import replace

import numpy as np
import pytest

from regard.experiments.sequences import Rows, draw_lesson
from regard.experiments.teaching import (
    Milestone,
    build,
    effective_count,
    first_over,
    right,
    study,
    written,
)
from regard.models.seq2seq import PRESETS
from regard.training.config import TrainingConfig

NETWORK = replace(PRESETS["addition"], hidden_size=32, embedding_size=16)


@pytest.fixture(scope="module")
def learnt():
    lesson = draw_lesson("copy", Rows(6, 1, 4), training=600, held_out=50, seed=0)
    model = build(NETWORK, lesson, 0)
    config = TrainingConfig(epochs=8, batch_size=32, learning_rate=0.01)
    return model, lesson, study(model, lesson, config, lambda line: None)


def test_copying_is_learnt_and_every_epoch_is_told(learnt):
    """002-01."""
    _, _, history = learnt
    assert [one.epoch for one in history] == list(range(1, 9))
    assert history[-1].exact >= 0.99 and history[-1].loss < history[0].loss


def test_right_is_what_is_written_without_a_mistake(learnt):
    model, lesson, history = learnt
    found = right(model, lesson.held_out)
    batch = lesson.held_out.batch(np.arange(len(lesson.held_out)))
    for hypothesis, target, said in zip(
        written(model, lesson.held_out), batch.target.rows(), found, strict=True
    ):
        assert said == (hypothesis.ids.tolist() == target.tolist())
    assert found.mean() == history[-1].exact


def test_a_step_of_a_copier_looks_at_few_items(learnt):
    """004-06: exp(entropy) goes to one."""
    model, lesson, _ = learnt
    untrained = effective_count(build(NETWORK, lesson, 0), lesson.held_out)
    assert 1 <= effective_count(model, lesson.held_out) < 1.5 < untrained


def test_without_attention_nothing_is_looked_at(learnt):
    _, lesson, _ = learnt
    model = build(replace(NETWORK, decoder="sutskever"), lesson, 0)
    assert effective_count(model, lesson.held_out) is None


def test_the_first_epoch_over_a_target_must_pass_it():
    history = [Milestone(1, 1.0, 0.5), Milestone(2, 0.5, 0.9), Milestone(3, 0.5, 0.8)]
    assert first_over(history, 0.5) == 2
    assert first_over(history, 0.9) is None
