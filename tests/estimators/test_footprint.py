"""What a model takes: the measures against work of a known size."""

import sys
import time

import numpy as np
import pytest

from regard.data.sentence_store import StoredSentences
from regard.estimators.footprint import SAMPLE, bytes_on_disk, measure_footprint, reordered

SIZE = 64 << 20


def answer_in(seconds):
    def answer(model, texts):
        until = time.perf_counter() + seconds * len(texts)
        while time.perf_counter() < until:
            pass

    return answer


def test_time_is_that_of_a_document():
    found = measure_footprint(lambda: None, answer_in(0.002), ["one two", "three four"])
    assert found.words == 2 and found.documents == 2
    assert 2 <= found.milliseconds < 20
    assert 50 < found.documents_per_second <= 500


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux alone")
def test_memory_is_what_loading_and_answering_add():
    def answer(model, texts):
        return np.ones(SIZE // 8).sum()

    # Given back to the system before anything is loaded, so it hides nothing.
    np.ones(3 * SIZE // 8).sum()
    found = measure_footprint(lambda: np.ones(SIZE // 8), answer, ["one"])
    assert found.peak_bytes == pytest.approx(2 * SIZE, rel=0.1)
    small = measure_footprint(lambda: None, lambda model, texts: None, ["one"])
    assert small.peak_bytes < SIZE // 16


def test_a_text_in_other_orders_has_the_same_words():
    texts = reordered(SAMPLE)
    assert texts[0] == SAMPLE and len(set(texts)) == 24
    assert {tuple(sorted(text.split())) for text in texts} == {tuple(sorted(SAMPLE.split()))}
    assert reordered("word", 2) == ["word", "word"]


def test_a_folder_is_as_large_as_all_its_files(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "one").write_bytes(b"123")
    (tmp_path / "inner" / "two").write_bytes(b"4567")
    assert bytes_on_disk(tmp_path) == 7


def test_sentences_that_are_kept_on_disk_are_read_anew(tmp_path):
    """Else a network that has seen the texts before looks as quick as reading a file."""
    store, key = StoredSentences(tmp_path, 2), b"k" * 16
    store.add([key], np.ones((1, 2), np.float32))
    found = []
    measure_footprint(lambda: store, lambda kept, texts: found.append(kept.find([key])), ["a b"])
    assert found and not any(known.any() for _, known in found)
