from regard.experiments.pooling import COMPARED, Pooling


def test_attention_finds_the_word_that_decides():
    """001-06: all four train; the weight of the mean is shared out evenly."""
    config = Pooling(length=16, examples=1500, held_out=200, epochs=10)
    rows = config.run(0, lambda line: None).rows
    found = {row.name: row.values for row in rows}
    assert tuple(found) == COMPARED
    assert found["attention"][0] > 0.9
    assert abs(found["mean"][2] - 3 / 16) < 0.02
    assert found["attention"][2] > 2 * found["mean"][2]
