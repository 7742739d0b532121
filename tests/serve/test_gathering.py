"""Questions of many requests are answered together, each request by itself."""

import asyncio
import threading

import pytest

from regard.serve.gathering import Busy, Gatherer


def gatherer(answer, **bounds):
    return Gatherer(answer, size=len, **{"most_waiting": 100, **bounds})


def test_what_arrives_together_is_answered_together():
    batches = []

    def answer(questions):
        batches.append(list(questions))
        return [question.upper() for question in questions]

    async def ask():
        asked = gatherer(answer)
        found = await asyncio.gather(asked.ask(["a"]), asked.ask(["b", "c"]), asked.ask(["d"]))
        await asked.close()
        return found

    assert asyncio.run(ask()) == [["A"], ["B", "C"], ["D"]]
    assert batches == [["a", "b", "c", "d"]]


def test_those_who_ask_again_are_answered_together_again():
    """The first to come back does not start a batch of its own."""
    batches = []

    def answer(questions):
        batches.append(len(questions))
        return questions

    async def ask():
        asked = gatherer(answer)

        async def client(number):
            for _ in range(6):
                await asked.ask(["x"])
                for _ in range(number):  # each takes longer than the one before to come back
                    await asyncio.sleep(0)

        await asyncio.gather(*map(client, range(8)))
        await asked.close()

    asyncio.run(ask())
    assert sum(batches) == 48
    assert len(batches) <= 8  # without waiting, those of one alone would be as many as the others


@pytest.mark.parametrize("bounds", [{"most_together": 2}, {"most_size": 4}])
def test_batches_are_bounded(bounds):
    batches = []

    def answer(questions):
        batches.append(len(questions))
        return questions

    async def ask():
        asked = gatherer(answer, **bounds)
        found = await asyncio.gather(*(asked.ask(["xx"]) for _ in range(5)))
        # A request that is larger than a batch is answered all the same.
        await asked.ask(["a long one", "and another", "and one more"])
        return found

    assert asyncio.run(ask()) == [["xx"]] * 5
    assert batches == [2, 2, 1, 3]


def test_a_question_that_fails_spoils_its_own_request_alone():
    def answer(questions):
        if "bad" in questions:
            raise ValueError("bad")
        return questions

    async def ask():
        asked = gatherer(answer)
        return await asyncio.gather(
            asked.ask(["one"]), asked.ask(["bad"]), asked.ask(["two"]), return_exceptions=True
        )

    one, bad, two = asyncio.run(ask())
    assert (one, two) == (["one"], ["two"])
    assert isinstance(bad, ValueError)


def test_a_full_queue_refuses_at_once_and_recovers():
    go = threading.Event()

    def answer(questions):
        go.wait(10)
        return questions

    async def ask():
        asked = gatherer(answer, most_waiting=2)
        first = asyncio.create_task(asked.ask(["first"]))
        while asked.waiting or not first:  # until it is being answered
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(asked.ask([str(n)])) for n in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await asked.ask(["too many"])
        go.set()
        assert await first == ["first"]
        assert [await one for one in waiting] == [["0"], ["1"]]
        return await asked.ask(["again"])

    assert asyncio.run(ask()) == ["again"]


def test_what_nobody_waits_for_is_not_answered():
    go, batches = threading.Event(), []

    def answer(questions):
        batches.append(list(questions))
        go.wait(10)
        return questions

    async def ask():
        asked = gatherer(answer)
        first = asyncio.create_task(asked.ask(["first"]))
        while not batches:
            await asyncio.sleep(0.001)
        left = asyncio.create_task(asked.ask(["left"]))
        await asyncio.sleep(0)
        left.cancel()
        stayed = asyncio.create_task(asked.ask(["stayed"]))
        await asyncio.sleep(0)
        go.set()
        await first
        return await stayed

    assert asyncio.run(ask()) == ["stayed"]
    assert batches == [["first"], ["stayed"]]


def test_closing_answers_what_waits():
    async def ask():
        asked = gatherer(lambda questions: questions)
        waiting = [asyncio.create_task(asked.ask([str(n)])) for n in range(3)]
        await asyncio.sleep(0)
        await asked.close()
        return [await one for one in waiting]

    assert asyncio.run(ask()) == [["0"], ["1"], ["2"]]
