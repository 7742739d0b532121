"""A search tries settings, judges all by the same documents, and goes on where it was."""

import itertools
from dataclasses import replace

import pytest

from regard import Document
from regard.errors import ConfigError, DataError, MissingExtra
from regard.scale.search import SPACE, OneOf, Range, SettingsSearch, Start, read_space
from regard.views.search import search_lines
from support.reviews import SETTINGS, reviews

pytest.importorskip("optuna", reason="needs the extra search")

KEPT = [f"{name}={value}" for name, value in SETTINGS.items() if "rate" not in name]
KEPT = [one for one in KEPT if "hidden" not in one and "epochs" not in one]
START = Start(changes=KEPT, wide="off")  # quicker without n-grams
SMALL = {
    "network.hidden_size": Range(4, 12),
    "training.learning_rate": Range(0.002, 0.05),
    "training.epochs": OneOf((2,)),
}
DOCUMENTS = [Document(*both) for both in zip(*reviews(60), strict=True)]


def searched(folder, **changes):
    given = {"folder": folder, "space": SMALL, "trials": 3, "start": START, **changes}
    return SettingsSearch(DOCUMENTS, **given).run()


def told(found):
    """All but the time it took."""
    return [(one.number, one.settings, one.end, one.scores, one.epochs) for one in found.trials]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return searched(tmp_path_factory.mktemp("search") / "a")


def test_each_trial_is_scored_on_the_same_documents_held_out(found):
    assert [one.number for one in found.trials] == [1, 2, 3]
    assert all(one.end == "done" for one in found.trials)
    assert (found.training_documents, found.held_out_documents) == (54, 6)
    assert found.best == min(found.trials, key=lambda one: one.scores["loss"])
    for one in found.trials:
        assert 4 <= one.settings["network.hidden_size"] <= 12
        assert 0.002 <= one.settings["training.learning_rate"] <= 0.05
        assert one.settings["training.epochs"] == one.epochs
        assert one.scores.keys() == {"loss", "accuracy", "macro_f1"}


def test_a_search_that_is_cut_short_ends_where_another_does(found, tmp_path):
    """Its time is up in the second epoch of the second trial; then it goes on."""
    ticks = itertools.count()
    first = searched(tmp_path / "b", seconds=16, clock=lambda: next(ticks))
    assert told(first) == told(found)[:1]
    assert (tmp_path / "b" / "work" / "trial-2" / "checkpoint" / "state.safetensors").exists()
    assert told(searched(tmp_path / "b")) == told(found)
    assert not any((tmp_path / "b" / "work").iterdir())


def test_more_trials_go_on_after_those_that_are_there(found, tmp_path):
    assert len(searched(tmp_path / "c", trials=2).trials) == 2
    assert told(searched(tmp_path / "c", trials=3)) == told(found)


def test_the_usual_settings_are_tried_first(tmp_path):
    small = ["network.embedding_size=8", "network.attention_size=4", "training.learning_rate=0.01"]
    space = {"network.hidden_size": Range(8, 60), "training.epochs": Range(1, 8)}
    (only,) = searched(
        tmp_path, space=space, trials=1, start=Start(changes=small, wide="off")
    ).trials
    assert only.settings == {"network.hidden_size": 50, "training.epochs": 8}


def test_a_trial_that_fails_is_told_and_the_others_go_on(tmp_path):
    space = {"training.learning_rate": OneOf((0.05, 1e30)), "training.epochs": OneOf((3,))}
    start = replace(START, changes=[*KEPT, "training.clip=none"])
    found = searched(tmp_path, space=space, trials=4, start=start)
    assert {one.end for one in found.trials} == {"done", "failed"}
    assert all("the loss became" in one.reason for one in found.trials if one.end == "failed")
    assert found.best.settings["training.learning_rate"] == 0.05


def test_a_hopeless_trial_is_given_up(tmp_path):
    """Of two learning rates one learns nothing: once enough are known, such end early."""
    space = {"training.learning_rate": OneOf((0.05, 1e-7)), "training.epochs": OneOf((3,))}
    found = searched(tmp_path, space=space, trials=9)
    given_up = [one for one in found.trials if one.end == "given up"]
    assert given_up and all(one.epochs == 2 for one in given_up)
    assert {one.settings["training.learning_rate"] for one in given_up} == {1e-7}
    assert found.ranked[-1].end == "given up" and found.best.end == "done"


def test_what_is_wrong_is_said_before_anything_is_trained(tmp_path):
    def refusal(**changes):
        with pytest.raises(ConfigError) as problem:
            searched(tmp_path / "none", **changes)
        assert not (tmp_path / "none").exists()
        return str(problem.value)

    assert "has no setting 'hidden'" in refusal(space={"network.hidden": Range(1, 2)})
    assert "knows no part 'net'" in refusal(space={"net.hidden_size": Range(1, 2)})
    assert "must not be negative" in refusal(space={"network.penalty": Range(-0.5, 1.5)})
    assert "a whole number" in refusal(space={"network.hidden_size": Range(1, 2.5)})
    assert "judged by the same" in refusal(space={"training.seed": Range(1, 3)})
    assert "use --by" in refusal(space={"training.focal": Range(0.0, 2.0)})
    assert "choose one" in refusal(space={"training.batch_size": Range(4, 8)})
    assert "--by cannot be 'acuracy'; did you mean" in refusal(by="acuracy")
    with pytest.raises(ConfigError, match="a range goes up"):
        Range(3, 3)
    with pytest.raises(ConfigError, match="give a list or a reader"):
        SettingsSearch(iter(DOCUMENTS), folder=tmp_path)


def test_another_search_is_not_gone_on_with(found, tmp_path):
    searched(tmp_path, trials=1)
    with pytest.raises(ConfigError, match="begun with score loss, now it is accuracy"):
        searched(tmp_path, by="accuracy")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "trials.sqlite").write_text("something else")
    with pytest.raises(DataError, match="is no file of a search"):
        searched(tmp_path / "d")


def test_few_documents_are_held_out_once_each_as_in_a_training(tmp_path):
    """The curve by which trials are given up is that of the first fold, after a kill too."""
    documents = [Document(*both) for both in zip(*reviews(200), strict=True)]
    given = {"trials": 2, "start": replace(START, changes=[*KEPT, "training.batch_size=32"])}
    given["space"] = {**SMALL, "training.epochs": OneOf((1,))}
    ticks = itertools.count()

    def search(folder, **changes):
        whole = {"folder": folder, **given, **changes}
        return SettingsSearch(documents, **whole).run()

    found = search(tmp_path / "a")
    assert (found.training_documents, found.held_out_documents, found.folds) == (200, 200, 4)
    assert [one.end for one in found.trials] == ["done", "done"]
    assert "on 200 documents held out, each in one of 4 folds. They" in search_lines(found)[-1]
    first = search(tmp_path / "b", seconds=40, clock=lambda: next(ticks))
    assert told(first) == told(found)[:1]
    assert told(search(tmp_path / "b")) == told(found)


def test_a_damaged_file_of_trials_is_one_line(tmp_path):
    searched(tmp_path, trials=1)
    path = tmp_path / "trials.sqlite"
    whole = path.read_bytes()
    for damaged in (whole[:5000], whole[:4096] + b"\xff" * (len(whole) - 4096)):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"trials.sqlite cannot be read or written: \w+"):
            searched(tmp_path, trials=1)


def test_nothing_held_out_is_an_error(tmp_path):
    with pytest.raises(DataError, match="nothing was held out"):
        searched(tmp_path, start=replace(START, validation=0.0))


def test_without_optuna_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"regard\[search\]"):
        searched(tmp_path)


def test_a_file_says_what_to_try(tmp_path):
    path = tmp_path / "search.toml"
    path.write_text(
        "[network]\nhidden_size = [25, 150]\nscore = ['context', 'dot']\nlayers = ['1', '2']\n"
        "cell = 'gru'\n[training]\nepochs = [2, 4, 8]\nclip = ['none', 1.0]\n"
    )
    assert read_space(path) == {
        "network.hidden_size": Range(25, 150),
        "network.score": OneOf(("context", "dot")),
        "network.layers": OneOf(("1", "2")),
        "network.cell": OneOf(("gru",)),
        "training.epochs": OneOf((2, 4, 8)),
        "training.clip": OneOf(("none", 1.0)),
    }
    for text, said in {
        "epochs = [1, 2]": "outside of a table",
        "[training]\nepochs = []": "takes a list",
        "[training]\nepochs = [[1, 2]]": "takes a list",
        "": "names no setting",
        "[": "is no TOML",
    }.items():
        path.write_text(text)
        with pytest.raises(ConfigError, match=said):
            read_space(path)


def test_wide_ranges_are_tried_by_factors():
    assert SPACE["training.learning_rate"].by_factors and Range(1, 10).by_factors
    assert not Range(0.0, 0.5).by_factors and not SPACE["network.hidden_size"].by_factors
