"""Vectors on disk: found again, bounded, and never wrong after a crash."""

import numpy as np
import pytest

from regard.data.locks import hold_lock
from regard.data.sentence_store import StoredSentences, cache_folder, read_anew

SIZE = 3
RECORD = 16 + 4 + 4 * SIZE


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def vectors(*numbers: int) -> np.ndarray:
    return np.array([[n, n + 0.5, -n] for n in numbers], np.float32)


def filled(folder, *numbers: int, most_bytes: int = 1 << 20) -> StoredSentences:
    store = StoredSentences(folder, SIZE, most_bytes=most_bytes)
    for number in numbers:
        store.add([key(number)], vectors(number))
    return store


def test_reading_anew_neither_finds_nor_keeps_anything(tmp_path):
    store = filled(tmp_path, 1)
    with read_anew():
        assert not store.find([key(1)])[1].any()
        store.add([key(2)], vectors(2))
    assert store.find([key(1), key(2)])[1].tolist() == [True, False]


def test_what_was_added_is_found_by_this_and_by_the_next_process(tmp_path):
    store = filled(tmp_path, 1, 2)
    for one in (store, StoredSentences(tmp_path, SIZE)):
        found, known = one.find([key(2), key(9), key(1)])
        assert known.tolist() == [True, False, True]
        np.testing.assert_array_equal(found[[0, 2]], vectors(2, 1))
        assert not found[1].any()


def test_names_that_end_in_zeros_are_kept_whole(tmp_path):
    name = b"\x01" + bytes(15)
    store = StoredSentences(tmp_path, SIZE)
    store.add([name], vectors(4))
    assert store.find([name])[1].all()
    assert StoredSentences(tmp_path, SIZE).find([name])[1].all()


@pytest.mark.parametrize("left", [1, 17, RECORD - 1])
def test_a_crash_in_the_middle_of_a_record_loses_that_record_alone(tmp_path, left):
    filled(tmp_path, 1, 2)
    path = tmp_path / "new.rows"
    path.write_bytes(path.read_bytes()[: RECORD + left])
    store = StoredSentences(tmp_path, SIZE)
    assert store.find([key(1), key(2)])[1].tolist() == [True, False]
    store.add([key(3)], vectors(3))
    found, known = StoredSentences(tmp_path, SIZE).find([key(1), key(3)])
    assert known.all()
    np.testing.assert_array_equal(found, vectors(1, 3))


def test_a_damaged_record_counts_as_missing(tmp_path):
    filled(tmp_path, 1, 2)
    path = tmp_path / "new.rows"
    raw = bytearray(path.read_bytes())
    raw[RECORD - 1] ^= 1
    path.write_bytes(raw)
    assert StoredSentences(tmp_path, SIZE).find([key(1), key(2)])[1].tolist() == [False, True]


def test_it_never_grows_beyond_its_bound_and_keeps_the_latest(tmp_path):
    bound = 10 * RECORD
    store = filled(tmp_path, *range(40), most_bytes=bound)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= bound
    assert store.find([key(39), key(38)])[1].all()
    assert not store.find([key(0)])[1].any()
    store.add([key(number) for number in range(100, 130)], vectors(*range(100, 130)))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= bound


def test_while_another_process_writes_nothing_is_lost_and_nothing_waits(tmp_path):
    store = filled(tmp_path, 1)
    with hold_lock(tmp_path / "lock", taken="in use"):
        store.add([key(2)], vectors(2))
    assert store.find([key(1), key(2)])[1].tolist() == [True, False]


def test_the_place_of_the_cache_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "here"))
    assert cache_folder() == tmp_path / "here"
