"""Folders of texts: only files are read, and whatever may hide a text is named."""

import os
import socket

import pytest

from regard.data.columns import Columns
from regard.data.fingerprints import state_of_data
from regard.data.readers import read_documents
from regard.errors import DataError


@pytest.fixture
def folder(tmp_path):
    """A folder for each of two labels with one text in each."""
    for name in ("neg", "pos"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(f"{name} text")
    return tmp_path


def read(folder, **columns):
    reader = read_documents(folder, Columns(**columns), on_bad_row="skip")
    return [(document.text, document.label) for document in reader], reader


TEXTS = [("neg text", "neg"), ("pos text", "pos")]


def pipe(path):
    os.mkfifo(path)


def listening(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def dangling(path):
    path.symlink_to("nowhere")


def looped(path):
    path.symlink_to(path)


def device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (pipe, "a pipe, not a file"),
        (listening, "a socket, not a file"),
        (device, "a device, not a file"),
        (dangling, "cannot be read: No such file or directory"),
        (looped, "cannot be read: Too many levels of symbolic links"),
    ],
)
def test_what_is_no_file_is_named_and_never_waited_for(folder, monkeypatch, make, reason):
    monkeypatch.chdir(folder)
    place = folder / "pos" / "b.txt"
    make(place.relative_to(folder) if make is listening else place)
    found, reader = read(folder)
    assert found == TEXTS
    assert [str(row) for row in reader.skipped] == [f"{place}: {reason}"]
    assert dict(reader.counts.skipped) == {"unreadable file": 1}
    with pytest.raises(DataError, match=reason):
        list(read_documents(folder))


def test_what_is_no_file_and_not_called_a_text_is_passed_over(folder):
    pipe(folder / "pos" / "notes")
    dangling(folder / "pos" / "notes.md")
    found, reader = read(folder)
    assert found == TEXTS and reader.counts.ignored == 2 and not reader.skipped


def test_a_folder_that_cannot_be_read_is_a_bad_row_with_its_name(folder):
    """A link to itself in the place of a folder: such a one not even root can read."""
    looped(folder / "unclear")
    found, reader = read(folder)
    assert found == TEXTS
    assert str(reader.skipped[0]).startswith(f"{folder / 'unclear'}: cannot be read: Too many")
    with pytest.raises(DataError, match="unclear: cannot be read"):
        list(read_documents(folder))


@pytest.mark.parametrize("name", ["pos", "pos/deep"])
def test_a_forbidden_folder_is_a_bad_row_with_its_name(folder, monkeypatch, name):
    """Permissions do not bind root, so the system's answer is given in its place."""
    (folder / "pos" / "deep").mkdir()
    scan = os.scandir

    def scandir(path):
        if str(path) == str(folder / name):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    _, reader = read(folder)
    assert str(reader.skipped[0]) == f"{folder / name}: cannot be read: Permission denied"
    with pytest.raises(DataError, match=f"{name}: cannot be read: Permission denied"):
        list(read_documents(folder))


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_folder_without_permission_is_a_bad_row(folder):
    (folder / "pos").chmod(0)
    _, reader = read(folder)
    (folder / "pos").chmod(0o700)
    assert "Permission denied" in str(reader.skipped[0])


def test_a_folder_that_is_gone_is_an_error(tmp_path):
    (tmp_path / "a").mkdir()
    reader = read_documents(tmp_path / "a")
    (tmp_path / "a").rmdir()
    with pytest.raises(DataError, match=r"cannot read .*a: No such file"):
        list(reader)


def test_linked_folders_are_read_and_loops_are_named(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "b.txt").write_text("linked")
    (folder / "other").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(folder)
    found, reader = read(folder)
    assert found == [TEXTS[0], ("linked", "other"), TEXTS[1]]
    assert [str(row) for row in reader.skipped] == [
        f"{folder / 'other' / 'back'}: a link back to a folder that it lies in"
    ]


def test_the_state_of_a_folder_tells_of_what_cannot_be_read(folder):
    before = state_of_data(folder)
    dangling(folder / "pos" / "b.txt")
    assert state_of_data(folder) != before


def test_a_damaged_text_costs_itself_alone(folder):
    (folder / "pos" / "b.txt.gz").write_bytes(b"\x1f\x8b\x08 no gzip at all")
    found, reader = read(folder)
    assert found == TEXTS
    assert str(reader.skipped[0]).startswith(f"{folder / 'pos' / 'b.txt.gz'}: is damaged after")


def test_a_text_without_an_end_costs_itself_alone(folder, monkeypatch):
    monkeypatch.setattr("regard.data.formats.folders.LONGEST_ROW", 1 << 20)
    (folder / "pos" / "b.txt").write_text("line\n" * 300_000)
    found, reader = read(folder)
    assert found == TEXTS and "longer than 1 MiB" in str(reader.skipped[0])


def test_names_are_in_order_through_all_levels(tmp_path):
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "a-b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name)
    found, _ = read(tmp_path, label=None)
    expected = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.txt"))
    assert [text for text, _ in found] == [str(path) for path in expected]


def test_folders_may_be_very_deep(tmp_path):
    """Deeper than Python's own stack, so it is taken away again before pytest would try."""
    deep = tmp_path
    while len(deep.parts) < 1300:
        deep = deep / "d"
        os.mkdir(deep)
    (deep / "a.txt").write_text("deep")
    try:
        assert read(tmp_path, label=None)[0] == [("deep", None)]
    finally:
        (deep / "a.txt").unlink()
        while deep != tmp_path:
            deep.rmdir()
            deep = deep.parent
