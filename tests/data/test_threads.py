"""Work that goes on in another thread: in order, bounded, and its errors are not lost."""

import threading

import pytest

from regard.data.threads import Behind, ahead


def test_items_come_in_order_and_from_another_thread():
    makers = set()

    def numbers():
        for number in range(100):
            makers.add(threading.current_thread().name)
            yield number

    assert list(ahead(numbers())) == list(range(100))
    assert threading.current_thread().name not in makers and len(makers) == 1
    assert list(ahead([])) == []


def test_no_more_items_are_made_than_may_wait():
    made = []

    def numbers():
        for number in range(50):
            made.append(number)
            yield number

    stream = ahead(numbers(), 3)
    for place in range(10):
        assert next(stream) == place
        assert len(made) <= place + 1 + 3
    stream.close()
    assert len(made) <= 14, "who stops asking stops the making"


def test_an_error_is_raised_where_the_item_would_have_come():
    def numbers():
        yield 1
        yield 2
        raise ValueError("no third")

    stream = ahead(numbers())
    assert [next(stream), next(stream)] == [1, 2]
    with pytest.raises(ValueError, match="no third"):
        next(stream)


def test_items_are_dealt_with_in_order_and_all_of_them():
    seen = []
    with Behind(seen.append) as behind:
        for number in range(100):
            behind.put(number)
    assert seen == list(range(100))


def test_no_more_items_wait_than_may():
    may_go, seen = threading.Semaphore(0), []

    def deal(item):
        may_go.acquire()
        seen.append(item)

    with Behind(deal, 2) as behind:
        behind.put(0)
        behind.put(1)
        threading.Thread(target=may_go.release).start()
        behind.put(2)  # has to wait for the first
        assert seen == [0]
        may_go.release(5)
    assert seen == [0, 1, 2]


def test_what_goes_wrong_reaches_the_one_who_brings():
    def deal(item):
        if item == 1:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"), Behind(deal) as behind:
        for number in range(100):
            behind.put(number)
    with pytest.raises(OSError, match="the disk is full"), Behind(deal) as behind:
        behind.put(1)


def test_an_error_of_the_one_who_brings_drops_what_waits():
    with pytest.raises(KeyboardInterrupt), Behind(print) as behind:
        behind.put("")
        raise KeyboardInterrupt
