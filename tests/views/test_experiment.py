import sys
from xml.etree import ElementTree

import pytest

from regard.errors import ConfigError, MissingExtra
from regard.records.experiment import Chart, Curve, Experiment, Finding, ResultRow
from regard.views.experiment import experiment_lines, mean_curve, render_plot, write_plot

STEPS = tuple((float(step), 0.1 * step) for step in range(5))
CHARTS = {
    "lines": Chart("lines", "epoch", "share", (Curve("a", STEPS), Curve("b", STEPS)), level=0.3),
    "logarithmic": Chart("lines", "apart", "norm", (Curve("a", STEPS[1:]),), logarithmic=True),
    "bars": Chart("bars", "step", "weight", tuple(Curve(name, STEPS) for name in "abc")),
    "map": Chart("map", "x", "y", (Curve("word", ((0.0, 1.0),)), Curve("$<&", ((1.0, 0.0),)))),
}
every_chart = pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)


def experiment(chart, seeds=1):
    return Experiment(
        "tried", "A title", (), (), tuple(Finding(seed, (), chart) for seed in range(seeds))
    )


@every_chart
@pytest.mark.parametrize("seeds", [1, 3])
def test_every_chart_is_drawn_with_its_names(chart, seeds):
    """003-12 among them: a bar for each step."""
    drawn = render_plot(experiment(chart, seeds)).decode()
    ElementTree.fromstring(drawn)
    texts = "".join(ElementTree.fromstring(drawn).itertext())
    for name in ("A title", chart.across, chart.down, *(curve.name for curve in chart.curves)):
        assert name in texts
    assert len(drawn) < 100_000


@every_chart
def test_the_same_numbers_give_the_same_bytes(chart):
    assert render_plot(experiment(chart)) == render_plot(experiment(chart))


def test_a_curve_that_ended_earlier_counts_with_its_last_value():
    long, short = Curve("a", ((1, 0.0), (2, 2.0), (3, 4.0))), Curve("a", ((1, 1.0), (2, 3.0)))
    assert mean_curve([long, short]) == [(1, 0.5), (2, 2.5), (3, 3.5)]


def test_a_png_is_one(tmp_path):
    write_plot(experiment(CHARTS["lines"]), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_another_format_is_refused():
    with pytest.raises(ConfigError, match="use svg or png"):
        render_plot(experiment(CHARTS["lines"]), "gif")


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"regard\[plots\]"):
        render_plot(experiment(CHARTS["lines"]))


CHART = Chart("lines", "epoch", "share", ())


def lines(*findings, columns=("share", "epoch")):
    made = tuple(
        Finding(
            seed, tuple(ResultRow(name, values, 2.0) for name, values in rows.items()), CHART, notes
        )
        for seed, (rows, notes) in enumerate(findings)
    )
    return experiment_lines(Experiment("tried", "title", columns, (), made))


def test_one_seed_gives_plain_numbers_in_columns_of_one_width():
    head, rule, first, second = lines(({"a": (1.0, 12), "long name": (0.25, None)}, ()))
    assert first == "| a         | 1.0000 |    12 |     2.0 |"
    assert second == "| long name | 0.2500 |     – |     2.0 |"
    assert len({len(line) for line in (head, rule, first, second)}) == 1
    assert rule.startswith("|-----------|-------:|")


def test_several_seeds_give_means_and_deviations():
    *_, row = lines(({"a": (0.5, 3)}, ()), ({"a": (0.7, 4)}, ()))
    assert "0.6000 ± 0.1414" in row and "3.5 ± 0.7" in row


def test_seeds_without_a_number_are_told():
    *_, row = lines(({"a": (0.5, 3)}, ()), ({"a": (0.7, None)}, ()))
    assert "3 (1 of 2 seeds)" in row


def test_tiny_numbers_are_written_by_powers():
    *_, row = lines(({"a": (1.5e-18, 1)}, ()))
    assert "1.5e-18" in row


def test_notes_follow_under_their_seed():
    table = lines(({"a": (0.5, 3)}, ("near: far",)), ({"a": (0.5, 3)}, ("near: off",)))
    assert table[-6:] == ["", "seed 0:", "near: far", "", "seed 1:", "near: off"]
    assert lines(({"a": (0.5, 3)}, ("near: far",)))[-2:] == ["", "near: far"]
