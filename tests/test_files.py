"""Files are there whole or not at all, and errors name them."""

import errno
import os
import stat
import threading

import pytest

from regard.files import replacing, write_file
from support.full_disk import full_disk

LONG = "x" * 10_000


def test_a_file_is_written_with_the_rights_of_any_new_file(tmp_path):
    path = tmp_path / "a.json"
    write_file(path, "é \ud800\n")
    other = tmp_path / "b.json"
    other.touch()
    assert path.read_bytes() == "é \\ud800\n".encode()
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    write_file(path, b"new")
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_full_disk_leaves_the_old_file_and_is_told_by_its_name(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with full_disk(), pytest.raises(OSError) as failed:
        write_file(path, LONG)
    assert failed.value.filename == str(path)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.json"]


def test_what_fails_while_it_is_made_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.json"]


def test_an_error_of_another_file_keeps_that_name(tmp_path):
    with pytest.raises(FileNotFoundError) as failed, replacing(tmp_path / "a"):
        (tmp_path / "b").read_text()
    assert failed.value.filename == str(tmp_path / "b")


def test_a_link_stays_one(tmp_path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_file(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink() and (tmp_path / "real.json").read_text() == "new"


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("n" * 250 + ".json")
    write_file(path, "new")
    assert path.read_text() == "new"


def test_devices_and_pipes_are_written_to_directly(tmp_path):
    link = tmp_path / "full.json"
    link.symlink_to("/dev/full")
    with pytest.raises(OSError) as failed:
        write_file(link, LONG)
    assert failed.value.errno == errno.ENOSPC and failed.value.filename == str(link)
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_file(pipe, "through")
    reader.join()
    assert read == ["through"]
