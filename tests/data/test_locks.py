"""A lock is one process's at a time, and free again however that one ends."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import regard
from regard import DataError
from regard.data.locks import hold_lock

HOLDER = """
import sys
from pathlib import Path
from regard.data.locks import hold_lock
with hold_lock(Path(sys.argv[1]), taken="taken"):
    print("held", flush=True)
    sys.stdin.read()
"""


def start_holder(path):
    """Start a process that holds the lock until it is told to end or killed."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])},
    )
    assert child.stdout.readline() == "held\n"
    return child


def test_one_holds_it_and_the_other_is_told(tmp_path):
    path = tmp_path / "new folder" / "lock"
    with hold_lock(path, taken="taken"):
        with pytest.raises(DataError, match=r"^it is taken$"), hold_lock(path, taken="it is taken"):
            pass
        assert path.exists(), "whoever is refused takes nothing away"
    with hold_lock(path, taken="taken"):
        pass
    assert not path.exists()


def test_an_error_inside_frees_it(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(ZeroDivisionError), hold_lock(path, taken="taken"):
        raise ZeroDivisionError
    assert not path.exists()


def test_another_process_holds_it_until_it_is_killed(tmp_path):
    path = tmp_path / "lock"
    with start_holder(path) as child:
        with pytest.raises(DataError, match="taken"), hold_lock(path, taken="taken"):
            pass
        child.kill()
    assert path.exists(), "a killed process clears nothing away"
    with hold_lock(path, taken="taken"):
        pass


def test_a_lock_file_that_is_removed_meanwhile_is_not_held_twice(tmp_path):
    """Whoever opened the file before its holder removed it must not hold a file without a name."""
    path = tmp_path / "lock"
    with hold_lock(path, taken="taken"):
        path.unlink()
        with hold_lock(path, taken="taken"):
            assert path.exists()


@pytest.mark.parametrize("held", [False, True])
def test_ctrl_c_while_it_is_made_leaves_nothing_behind(tmp_path, monkeypatch, held):
    """Issue 18.6: it comes when the file is there, and its number is not known yet."""
    path = tmp_path / "lock"
    opened = os.open

    def interrupted(*arguments):
        monkeypatch.setattr(os, "open", opened)
        opened(*arguments)
        raise KeyboardInterrupt

    with contextlib.ExitStack() as stack:
        if held:
            stack.enter_context(hold_lock(path, taken="taken"))
        monkeypatch.setattr(os, "open", interrupted)
        with pytest.raises(KeyboardInterrupt), hold_lock(path, taken="taken"):
            pass
        assert path.exists() == held
    assert not path.exists()


@pytest.mark.parametrize("kept", ["", "a", "a/b"])
def test_folders_that_were_made_go_where_nothing_is_in_them(tmp_path, kept):
    with hold_lock(tmp_path / "a" / "b" / "c" / "lock", taken="taken"):
        (tmp_path / kept / "model").touch()
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert (
        left
        == {
            "": ["model"],
            "a": ["a", "a/model"],
            "a/b": ["a", "a/b", "a/b/model"],
        }[kept]
    )
