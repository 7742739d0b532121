"""Features on disk: found again by content, whole or not at all, shared by several runs."""

import numpy as np
import pytest

from regard.data.features import FeatureCache

SHAPE = (4, 2, 2)


def some(*names):
    return {
        name: np.random.default_rng(len(name)).normal(size=SHAPE).astype(np.float16)
        for name in names
    }


def test_what_was_added_is_found_again_by_another_run(tmp_path):
    first = FeatureCache(tmp_path / "net", SHAPE)
    given = some("a", "bb", "ccc")
    first.add({name: given[name] for name in ("a", "bb")})
    second = FeatureCache(tmp_path / "net", SHAPE)
    second.add({"ccc": given["ccc"]})
    third = FeatureCache(tmp_path / "net", SHAPE)
    assert len(third) == 3 and "a" in third and "d" not in third
    found = third.read(["ccc", "a", "nothing"])
    assert found.keys() == {"ccc", "a"}
    assert all(np.array_equal(found[name], given[name]) for name in found)


@pytest.mark.parametrize("damage", [0, 5, 200])
def test_a_file_that_was_cut_off_is_as_if_it_were_not_there(tmp_path, damage):
    cache = FeatureCache(tmp_path, SHAPE)
    cache.add(some("a"))
    cache.add(some("bb"))
    path = sorted(tmp_path.iterdir())[0]
    path.write_bytes(path.read_bytes()[:damage] if damage < 100 else b"\xff" * damage)
    left = FeatureCache(tmp_path, SHAPE)
    assert len(left) == 1
    assert len(cache.read(["a", "bb"])) == 1


def test_features_of_another_shape_are_not_taken(tmp_path):
    FeatureCache(tmp_path, SHAPE).add(some("a"))
    assert len(FeatureCache(tmp_path, (4, 3, 3))) == 0


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    cache = FeatureCache(tmp_path, SHAPE)

    def fail(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        cache.add(some("a"))
    assert list(tmp_path.iterdir()) == [] and "a" not in cache
