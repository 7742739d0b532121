from regard.records.experiment import Chart, Experiment, Finding, Row
from regard.views.experiment.terminal import experiment_lines

CHART = Chart("lines", "epoch", "share", ())


def lines(*findings, columns=("share", "epoch")):
    made = tuple(
        Finding(seed, tuple(Row(name, values, 2.0) for name, values in rows.items()), CHART, notes)
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
