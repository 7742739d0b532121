"""What tells data from other data."""

import os

from regard.data.fingerprints import state_of_data


def test_a_folder_is_known_by_the_texts_in_it(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("a.txt", "b/c.txt"):
        (tmp_path / name).write_text("old")
    states = [state_of_data(tmp_path)]
    (tmp_path / "b" / "d.txt").write_text("new")
    states.append(state_of_data(tmp_path))
    (tmp_path / "b" / "d.txt").rename(tmp_path / "b" / "e.txt")
    states.append(state_of_data(tmp_path))
    os.utime(tmp_path / "a.txt", (1, 1))
    states.append(state_of_data(tmp_path))
    (tmp_path / "a.txt").write_text("longer")
    os.utime(tmp_path / "a.txt", (1, 1))
    states.append(state_of_data(tmp_path))
    assert len(set(states)) == 5
    (tmp_path / "out.jsonl.part").write_text("rows")
    assert state_of_data(tmp_path) == states[-1], "what is no text is not read"


def test_a_file_is_known_by_size_and_time(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    before = state_of_data(path)
    os.utime(path, (1, 1))
    assert before != state_of_data(path) == state_of_data(tmp_path / "." / "a.csv")
