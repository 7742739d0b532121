"""Work on a stream that goes on while the one who asks for it does something else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event, Semaphore, Thread
from typing import Generic, TypeVar, cast

__all__ = ["Behind", "ahead"]

T = TypeVar("T")
_DEPTH = 2  # items that are ready, or still to be dealt with, at most
_MOMENT = 0.2  # seconds
_END = object()


def ahead(items: Iterable[T], depth: int = _DEPTH) -> Iterator[T]:
    """Pass the items on, with up to ``depth`` of them made beforehand in another thread.

    An error of the items is raised where the item would have come. Whoever stops asking waits a
    moment for the item that is being made, and no longer: it may come from a pipe that is silent.
    """
    maker = _Maker(items, depth)
    maker.start()
    try:
        while (item := maker.take()) is not _END:
            yield cast(T, item)
    finally:
        maker.stop()


class _Maker(Thread):
    """Makes items until it is told to stop, or none is left."""

    def __init__(self, items: Iterable[object], depth: int) -> None:
        # A thread of the background, for which the end of the program does not wait.
        super().__init__(name="regard-ahead", daemon=True)
        self._items = items
        self._room = Semaphore(depth)
        self._made: SimpleQueue[object] = SimpleQueue()
        self._stopped = Event()
        self._problem: BaseException | None = None

    def run(self) -> None:
        """Make the items one by one, each once there is room for it."""
        try:
            stream = iter(self._items)
            while self._has_room() and (item := next(stream, _END)) is not _END:
                self._made.put(item)
        except BaseException as problem:  # whatever it is, it belongs to the one who asks
            self._problem = problem
        self._made.put(_END)

    def take(self) -> object:
        """Return the next item, ``_END`` after the last, or raise what went wrong."""
        item = self._made.get()
        self._room.release()
        if item is _END and self._problem is not None:
            raise self._problem
        return item

    def stop(self) -> None:
        """Make no more items."""
        self._stopped.set()
        self._room.release()
        self.join(_MOMENT)

    def _has_room(self) -> bool:
        self._room.acquire()
        return not self._stopped.is_set()


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

    def __exit__(self, kind: object, *problem: object) -> None:
        try:
            while self._waiting and kind is None:
                self._waiting.popleft().result()
        finally:
            self._pool.shutdown(cancel_futures=True)
