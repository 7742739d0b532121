"""A search as lines: the best first, and what was given up or failed is said."""

from regard.records.search import Search, Trial
from regard.views.search import search_lines, trial_line

TRIALS = (
    Trial(1, {"network.cell": "gru", "training.clip": None}, "done", {"loss": 0.5}, 4, 3.2),
    Trial(2, {"network.cell": "lstm", "training.clip": 1.0}, "failed", {}, 0, 0.0, "too\nlarge"),
    Trial(3, {"network.cell": "gru", "training.clip": 0.25}, "given up", {"loss": 0.1}, 2, 1.0),
    Trial(4, {"network.cell": "gru", "training.clip": 2.0}, "done", {"loss": 0.25}, 5, 4.0),
)
FOUND = Search("loss", TRIALS, 90, 10)


def test_the_table_has_the_best_first():
    lines = search_lines(FOUND)
    assert lines[0].split() == ["trial", "cell", "clip", "loss", "passes", "seconds"]
    assert [line.split()[0] for line in lines[1:5]] == ["4", "1", "3", "2"]
    assert lines[2].split() == ["1", "gru", "none", "0.5", "4", "3"]
    assert lines[3].startswith("3 (given up)") and lines[4].startswith("2 (failed)")
    assert lines[6:] == [
        "- trial 4 has the best loss on 10 documents held out. They chose it among 4 trials, so "
        "its scores flatter: measure on others",
        "- 1 trial was given up: at the same epoch most others were better",
        "- trial 2 failed: too large",
    ]


def test_no_two_columns_have_the_same_name():
    """How many epochs are allowed is tried out; how many there were is another number."""
    tried = Trial(1, {"training.epochs": 8}, "done", {"loss": 0.5}, 4, 3.2)
    heads = search_lines(Search("loss", (tried,), 90, 10))[0].split()
    assert heads == ["trial", "epochs", "loss", "passes", "seconds"]


def test_a_trial_is_told_in_a_line():
    assert trial_line(TRIALS[3], 9) == "trial 4 of 9: loss 0.2500 (cell gru, clip 2)"
    assert "given up after 2 epochs, loss 0.1000" in trial_line(TRIALS[2], 9)
    assert "failed, too large (cell lstm, clip 1)" in trial_line(TRIALS[1], 9)


def test_the_best_is_the_lowest_loss_or_the_highest_of_others():
    assert FOUND.best == TRIALS[3]
    scored = [
        Trial(n, {}, "done", {"accuracy": share}, 1, 1.0) for n, share in enumerate((0.5, 0.9, 0.9))
    ]
    assert Search("accuracy", tuple(scored), 9, 9).best.number == 1  # the first of equals
    assert Search("loss", TRIALS[1:3], 9, 9).best is None
    assert "give it more time" in search_lines(Search("loss", TRIALS[1:3], 9, 9))[4]
    assert Search.from_json(FOUND.to_json()) == FOUND
