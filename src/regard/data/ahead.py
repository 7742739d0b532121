"""Work on a stream that goes on while the one who asks for it does something else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Generic, TypeVar, cast

__all__ = ["Behind", "ahead"]

T = TypeVar("T")
_DEPTH = 2  # items that are ready, or still to be dealt with, at most
_END = object()


def ahead(items: Iterable[T], depth: int = _DEPTH) -> Iterator[T]:
    """Pass the items on, with up to ``depth`` of them made beforehand in another thread.

    An error of the items is raised where the item would have come. Whoever stops asking waits
    for the one item that is being made.
    """
    stream = iter(items)
    with ThreadPoolExecutor(1, thread_name_prefix="regard-ahead") as pool:
        try:
            waiting = deque(pool.submit(next, stream, _END) for _ in range(depth))
            while (item := waiting.popleft().result()) is not _END:
                waiting.append(pool.submit(next, stream, _END))
                yield cast(T, item)
        finally:
            pool.shutdown(cancel_futures=True)


class Behind(Generic[T]):
    """Deals with items in another thread, in order, while the one who brings them goes on.

    ``put`` waits where ``depth`` items are still to be dealt with, and raises what went wrong
    with an earlier one; leaving the ``with`` waits for all of them.
    """

    def __init__(self, deal: Callable[[T], None], depth: int = _DEPTH) -> None:
        self._deal = deal
        self._depth = depth
        self._waiting: deque[Future[None]] = deque()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="regard-behind")

    def __enter__(self) -> Behind[T]:
        return self

    def put(self, item: T) -> None:
        """Hand over an item."""
        while len(self._waiting) >= self._depth:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(self._deal, item))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            while self._waiting and kind is None:
                self._waiting.popleft().result()
        finally:
            self._pool.shutdown(cancel_futures=True)
