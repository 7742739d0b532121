import json

import pytest

from regard.records.evaluation import Evaluation
from support.evaluations import complete, evaluated

NAMES = [f"class {number}" for number in range(20)]


@pytest.mark.parametrize("several", [False, True], ids=["single", "multi"])
def test_an_evaluation_comes_back_from_json_unchanged(several):
    evaluation = complete(evaluated(NAMES[:4], several=several))
    assert Evaluation.from_json(evaluation.to_json()) == evaluation
    assert evaluation.mistakes[0].explanation is not None


def test_the_scores_stand_at_the_top_level_of_the_json():
    evaluation = evaluated()
    found = json.loads(evaluation.to_json(indent=2))
    for name in ("accuracy", "macro_f1", "micro_f1", "log_loss", "expected_calibration_error"):
        assert found[name] == getattr(evaluation, name)
    assert found["accuracy_interval"].keys() == {"low", "high"}


def test_texts_that_are_cut_say_how_much_is_missing():
    evaluation = evaluated()
    texts = {mistake.index: "x" * (90 + place) for place, mistake in enumerate(evaluation.mistakes)}
    cut = evaluation.with_texts(texts, limit=91).mistakes
    assert [mistake.characters_left_out for mistake in cut[:3]] == [0, 0, 1]
    assert all(len(m.text) + m.characters_left_out == len(texts[m.index]) for m in cut)


def test_a_threshold_keeps_as_many_documents_as_it_can():
    evaluation = evaluated(count=500, noise=3.0)
    point = evaluation.threshold_for(0.9)
    assert point is not None and point.accuracy >= 0.9
    better = [part for part in evaluation.coverage if part.coverage > point.coverage]
    assert better and all(part.accuracy < 0.9 for part in better)
    assert evaluation.threshold_for(1.1) is None


def test_mix_ups_are_the_matrix_without_its_diagonal():
    evaluation = evaluated(NAMES, count=400, noise=2.5)
    found = evaluation.mix_ups()
    assert [pair.count for pair in found] == sorted((pair.count for pair in found), reverse=True)
    wrong = round((1 - evaluation.accuracy) * evaluation.document_count)
    assert sum(pair.count for pair in found) == wrong
    first = found[0]
    true, predicted = NAMES.index(first.true), NAMES.index(first.predicted)
    assert evaluation.confusion[true][predicted] == first.count
    assert first.share == first.count / sum(evaluation.confusion[true])
