"""What a model takes to answer: time a document and memory, measured here and now."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import torch

from ..data.sentence_store import read_anew
from ..records.comparison import Footprint

__all__ = ["SAMPLE", "bytes_on_disk", "measure_footprint", "reordered"]

T = TypeVar("T")

SAMPLE = " ".join(
    [
        "We went to see it on a rainy evening, and nobody in the room expected very much.",
        "The first half hour is slow, and the music is louder than what people say.",
        "Then the story finds its way, and the two sisters begin to talk like people who know "
        "each other.",
        "Some of the jokes are old, one of them is very good, and the end is better than that.",
        "I would not pay for it twice, but I am glad that I have seen it once.",
    ]
    * 3
)
"""The text that is read where none is given: about 250 words of a review."""

ORDERS = 24  # texts that are made of one
ALONE = 15  # documents that are answered one by one
LONGEST = 2.0  # seconds after which no further round is begun
ROUNDS = 5


def measure_footprint(
    load: Callable[[], T], answer: Callable[[T, list[str]], object], texts: Sequence[str]
) -> Footprint:
    """Load a model and let it answer texts, together and one by one.

    Vectors of sentences that are kept on disk do not count: each is read anew. The memory is what
    both added to the process, and on a GPU what they took there; whoever asks lets go of other
    models first.
    """
    asked = list(texts)
    before = _settled_memory()
    model = load()
    with read_anew():
        answer(model, asked)  # also the first call, which is slow
        peak = _peak_memory(before)
        together = _timed(lambda: answer(model, asked))
        single = [
            _timed(lambda text=text: answer(model, [text]))  # type: ignore[misc]
            for text in asked[:ALONE]
        ]
    return Footprint(
        documents=len(asked),
        words=statistics.fmean(len(text.split()) for text in asked),
        milliseconds=1000 * statistics.median(single),
        documents_per_second=len(asked) / together,
        peak_bytes=peak,
        device="cuda" if torch.cuda.is_available() and torch.cuda.memory_allocated() else "cpu",
        threads=torch.get_num_threads(),
    )


def reordered(text: str, count: int = ORDERS) -> list[str]:
    """Return the text and others of its words in other orders, so that nothing is met again."""
    words, draw = text.split(), random.Random(0)
    return [text, *(" ".join(draw.sample(words, len(words))) for _ in range(count - 1))]


def bytes_on_disk(folder: Path) -> int:
    """Return how large all files of a folder are."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _timed(work: Callable[[], object]) -> float:
    """The seconds that some work takes at its quickest, of a few rounds: others slow it down."""
    took: list[float] = []
    while len(took) < ROUNDS and sum(took) < LONGEST:
        began = time.perf_counter()
        work()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        took.append(time.perf_counter() - began)
    return min(took)


_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _settled_memory() -> int | None:
    """The memory of this process with nothing in it that is not in use; its peak begins anew."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    try:
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        _RESET.write_text("5")
        return _status("VmRSS")
    except OSError:  # not a Linux, or one that does not let us
        return None


def _peak_memory(before: int | None) -> int | None:
    if before is None:
        return None
    on_gpu = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    return max(_status("VmHWM") - before, 0) + on_gpu


def _status(name: str) -> int:
    """A line of what the system says of this process, in bytes."""
    lines = _STATUS.read_text().splitlines()
    found = next(line for line in lines if line.startswith(f"{name}:"))
    return 1024 * int(found.split()[1])
