import pytest

from regard.experiments.order import READINGS, Order


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
