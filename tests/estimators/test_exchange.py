"""A folder takes the place of another whole, whatever breaks off between the steps."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard.data.locks import hold_lock
from regard.errors import DataError, ModelError
from regard.estimators.exchange import recover_folder, replace_folder

SAVER = """
import ctypes, os, sys
from pathlib import Path
from regard.estimators.exchange import replace_folder

place, system, step, moment = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
if system == "renames":
    ctypes.CDLL = lambda *given, **named: object()
rename, calls = os.rename, []

def killed(*given):
    calls.append(given)
    if len(calls) == step and moment == "before":
        os._exit(9)
    rename(*given)
    if len(calls) == step:
        os._exit(9)

os.rename = killed
replace_folder(place, lambda fresh: (fresh / "text").write_text("new"))
"""


def write(text):
    return lambda fresh: (fresh / "text").write_text(text)


def old_folder(place):
    place.mkdir()
    write("old")(place)
    return place


@pytest.fixture(params=["exchange", "renames"])
def system(request, monkeypatch):
    """Systems that can exchange two folders in one step, and those that cannot."""
    if request.param == "renames":
        monkeypatch.setattr(ctypes, "CDLL", lambda *given, **named: object())
    elif not hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("this system cannot exchange folders")
    return request.param


def test_the_new_takes_the_place_of_the_old_and_nothing_is_left(tmp_path, system):
    for text in ("one", "two", "three"):
        replace_folder(tmp_path / "deep" / "model", write(text))
        assert (tmp_path / "deep" / "model" / "text").read_text() == text
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["model"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError, MemoryError])
def test_what_fails_while_writing_changes_nothing(tmp_path, system, failure):
    def fail(fresh):
        (fresh / "text").write_text("half")
        raise failure

    place = old_folder(tmp_path / "model")
    with pytest.raises(failure):
        replace_folder(place, fail)
    assert (place / "text").read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError])
def test_an_interrupt_between_the_renames_loses_nothing(
    tmp_path, monkeypatch, failure, step, moment
):
    """SIGINT there once deleted the old model and the new."""
    monkeypatch.setattr(ctypes, "CDLL", lambda *given, **named: object())
    place, rename, calls = old_folder(tmp_path / "model"), os.rename, []

    def broken(*given):
        calls.append(given)
        if len(calls) == step and moment == "before":
            raise failure
        rename(*given)
        if len(calls) == step:
            raise failure

    with monkeypatch.context() as patch, pytest.raises(failure):
        patch.setattr(os, "rename", broken)
        replace_folder(place, write("new"))
    assert (place / "text").read_text() == ("new" if (step, moment) == (2, "after") else "old")
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("step", [1, 2])
def test_what_a_killed_save_left_is_finished_and_told(tmp_path, step, moment):
    """Between the two renames the old model was left in a hidden folder that nothing reported."""
    place = old_folder(tmp_path / "model")
    paths = {**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])}
    command = [sys.executable, "-c", SAVER, str(place), "renames", str(step), moment]
    assert subprocess.run(command, env=paths, check=False).returncode == 9
    with pytest.warns(UserWarning, match="a save to .*model was broken off"):
        recover_folder(place)
    expected = "old" if (step, moment) == (1, "before") else "new"
    assert (place / "text").read_text() == expected
    assert list(tmp_path.iterdir()) == [place]


def test_half_a_first_save_is_removed(tmp_path):
    (tmp_path / ".model.new").mkdir()
    with pytest.warns(UserWarning, match="what it left was removed"):
        replace_folder(tmp_path / "model", write("new"))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_was_taken_away_comes_back(tmp_path):
    old_folder(tmp_path / ".model.old")
    with pytest.warns(UserWarning, match="what was there before was brought back"):
        recover_folder(tmp_path / "model")
    assert (tmp_path / "model" / "text").read_text() == "old"


def test_who_saves_at_this_moment_is_not_disturbed(tmp_path):
    place = old_folder(tmp_path / "model")
    (tmp_path / ".model.new").mkdir()
    with hold_lock(tmp_path / ".model.lock", taken="taken"):
        recover_folder(place)
        assert (tmp_path / ".model.new").exists()
        with pytest.raises(DataError, match="another process saves to"):
            replace_folder(place, write("new"))
    assert (place / "text").read_text() == "old"


def test_a_place_where_no_folder_can_be_is_named(tmp_path, monkeypatch):
    inside = tmp_path / "model" / "inside"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    for place in (Path(), Path("/"), inside, inside.parent):
        with pytest.raises(ModelError, match=r"is, or holds, the folder you are in; name another"):
            replace_folder(place, write("new"))
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ModelError, match="link is a link to nothing; remove it"):
        replace_folder(tmp_path / "link", write("new"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "model"]
