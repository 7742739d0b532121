from regard.experiments.depth import Depth


def test_deeper_networks_are_narrower_and_as_large():
    """003-07: a row for each depth, at equal parameters."""
    found = Depth.quick().run(0, lambda line: None)
    sizes = [row.values[1:] for row in found.rows]
    widths, counts = zip(*sizes, strict=True)
    assert [row.name for row in found.rows] == ["1 layer", "2 layers", "3 layers"]
    assert list(widths) == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert max(counts) - min(counts) < 0.1 * min(counts)
