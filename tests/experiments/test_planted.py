import numpy as np
import pytest

from regard.errors import ConfigError
from regard.experiments.planted import Planted


@pytest.fixture(scope="module")
def found():
    rows = Planted(examples=1500, epochs=6, held_out=100).run(0, lambda line: None).rows
    columns = Planted.columns
    return {row.name: dict(zip(columns, row.values, strict=True)) for row in rows}


def test_the_planted_place_has_the_largest_mean_weight(found):
    """003-09, 003-10: before the LSTM at the planted step, after it there or at the next."""
    for name, values in found.items():
        late = values["peak"] - values["planted"]
        assert late == 0 or ("after" in name and late == 1), name
        assert values["accuracy"] > 0.95


@pytest.mark.parametrize("place", ["before", "after"])
def test_one_vector_for_all_features_is_sharper(found, place):
    """003-11."""
    shared = found[f"steps, {place}, shared"]["entropy"]
    assert shared < found[f"steps, {place} the LSTM"]["entropy"]


def test_the_answer_stands_where_it_is_planted():
    config = Planted()
    by_step, by_feature = (config.draw(over, 20, 0) for over in ("steps", "features"))
    assert (by_step.values[:, 15] == by_step.answers[:, None]).all()
    assert (by_feature.values[:, :, 1] == by_feature.answers[:, None]).all()
    assert np.abs(by_step.values[:, 14].mean()) < 0.5


def test_the_chart_has_a_bar_for_every_step():
    """003-12."""
    chart = Planted.quick().run(0, lambda line: None).chart
    assert chart.kind == "bars"
    assert [len(curve.points) for curve in chart.curves] == [20, 20, 20, 20, 8, 8]
    for curve in chart.curves:
        assert sum(height for _, height in curve.points) == pytest.approx(1, abs=1e-5)


def test_a_place_outside_the_series_is_refused():
    with pytest.raises(ConfigError, match="planted_step must be from 0 to 19"):
        Planted(planted_step=20)
