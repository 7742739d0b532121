import pytest

from regard.errors import ConfigError
from regard.experiments.length import Length


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
