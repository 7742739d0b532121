"""Questions that arrive one by one are answered many at a time.

While a batch is being answered, the questions that arrive wait and become the next batch: the
busier the server, the larger its batches. Who asks alone is answered at once. Where many were
just answered, many ask again: the next batch waits a few milliseconds for them, since one of a
single question costs almost as much as one of eight.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Busy", "Gatherer"]

Q = TypeVar("Q")
A = TypeVar("A")
PAUSE = 0.001  # seconds in which those who were just answered ask again, if they do
PAUSES = 5


class Busy(Exception):
    """So much is waiting that a further question would wait too long."""


@dataclass(eq=False, slots=True)
class _Waiting(Generic[Q, A]):
    questions: Sequence[Q]
    size: int
    answers: asyncio.Future[Sequence[A]]


class Gatherer(Generic[Q, A]):
    """One thread that answers questions in batches, and a queue in front of it."""

    def __init__(
        self,
        answer: Callable[[Sequence[Q]], Sequence[A]],
        *,
        size: Callable[[Q], int],
        most_waiting: int,
        most_together: int = 256,
        most_size: int = 1_000_000,
    ) -> None:
        """``answer`` gets at most so many questions, of so much ``size`` together, unless one has
        more; beyond ``most_waiting`` requests the next one is refused."""
        self._answer, self._size = answer, size
        self._most_waiting = most_waiting
        self._most_together, self._most_size = most_together, most_size
        self._queue: deque[_Waiting[Q, A]] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._worker: asyncio.Task[None] | None = None
        self._answered = 0  # requests of the batch before

    @property
    def waiting(self) -> int:
        """How many requests wait, without those that are being answered."""
        return len(self._queue)

    async def ask(self, questions: Sequence[Q]) -> Sequence[A]:
        """Return the answers to the questions of one request; ``Busy`` where too many wait."""
        if len(self._queue) >= self._most_waiting:
            raise Busy
        size = sum(map(self._size, questions))
        asked = _Waiting[Q, A](questions, size, asyncio.get_running_loop().create_future())
        self._queue.append(asked)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await asked.answers

    async def close(self) -> None:
        """Answer what is waiting, then let go of the thread."""
        if self._worker is not None:
            await self._worker
        self._thread.shutdown()

    async def _work(self) -> None:
        while self._queue:
            await self._wait_for_others()
            batch = self._take()
            if batch:
                await self._give(batch)
                self._answered = len(batch)

    async def _wait_for_others(self) -> None:
        """Let as many join as were answered before, while they keep coming."""
        await asyncio.sleep(0)  # what is in the socket already
        for _ in range(PAUSES):
            waiting = len(self._queue)
            if waiting >= self._answered:
                return
            await asyncio.sleep(PAUSE)
            if len(self._queue) == waiting:
                return

    def _take(self) -> list[_Waiting[Q, A]]:
        """The requests of the next batch, without those that nobody waits for any more."""
        taken: list[_Waiting[Q, A]] = []
        count = size = 0
        while self._queue:
            following = self._queue[0]
            if following.answers.done():
                self._queue.popleft()
                continue
            count, size = count + len(following.questions), size + following.size
            if taken and (count > self._most_together or size > self._most_size):
                break
            taken.append(self._queue.popleft())
        return taken

    async def _give(self, batch: Sequence[_Waiting[Q, A]]) -> None:
        questions = [question for one in batch for question in one.questions]
        loop = asyncio.get_running_loop()
        try:
            answers = await loop.run_in_executor(self._thread, self._answer, questions)
        except Exception as problem:
            if len(batch) == 1:
                if not batch[0].answers.done():
                    batch[0].answers.set_exception(problem)
                return
            # A question that cannot be answered spoils its own request alone.
            for one in batch:
                await self._give([one])
            return
        start = 0
        for one in batch:
            end = start + len(one.questions)
            if not one.answers.done():
                one.answers.set_result(answers[start:end])
            start = end
