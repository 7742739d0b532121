"""What a server counts, as Prometheus reads it; with several workers, all of them together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

__all__ = ["FOLDER_VARIABLE", "Metrics"]

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where the client library lets workers leave their numbers."""
SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Requests, how long they took, how many were answered together, how many wait."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "regard_requests", "Requests answered.", ["path", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "regard_request_seconds",
            "Seconds until the answer was sent.",
            ["path"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._together = Histogram(
            "regard_batch_texts",
            "Texts that a model answered together.",
            ["endpoint"],
            buckets=SIZES,
            registry=self._registry,
        )
        self._waiting = Gauge(
            "regard_waiting_requests",
            "Requests that wait for a model.",
            ["endpoint"],
            multiprocess_mode="livesum",
            registry=self._registry,
        )
        self._labels = Counter(
            "regard_labels",
            "Texts by the label given.",
            ["model", "label"],
            registry=self._registry,
        )

    def note(self, path: str, status: int, seconds: float) -> None:
        """Count a request that has ended."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def note_labels(self, model: str, labels: Iterable[str]) -> None:
        """Count the labels that were given: their shares drift when the texts do."""
        for label in labels:
            self._labels.labels(model, label).inc()

    def watch(
        self, endpoint: str, answer: Callable[[Sequence[Any]], Sequence[Any]]
    ) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Return ``answer`` such that the sizes of its batches are counted."""
        together = self._together.labels(endpoint)

        def watched(questions: Sequence[Any]) -> Sequence[Any]:
            together.observe(len(questions))
            return answer(questions)

        return watched

    def expose(self, waiting: dict[str, int]) -> bytes:
        """Return all numbers in Prometheus' text format."""
        for endpoint, count in waiting.items():
            self._waiting.labels(endpoint).set(count)
        if FOLDER_VARIABLE not in os.environ:
            return generate_latest(self._registry)
        every = CollectorRegistry()
        MultiProcessCollector(every)
        return generate_latest(every)
