"""Ctrl-C waits for a good moment, and is never lost."""

import gc
import signal
import threading

import pytest

from regard.training.interrupts import Interrupts


def press():
    signal.raise_signal(signal.SIGINT)


def test_it_is_raised_where_it_is_asked_for_and_once():
    with Interrupts() as interrupts:
        press()
        assert interrupts.pending and not interrupts.heeded
        with pytest.raises(KeyboardInterrupt):
            interrupts.heed()
        interrupts.heed()
        assert interrupts.heeded and not interrupts.pending


def test_one_that_falls_into_a_finalizer_is_not_lost():
    """Issue 18.9: Python drops what is raised there."""

    class Late:
        def __del__(self):
            press()

    with Interrupts() as interrupts:
        Late()
        gc.collect()
        with pytest.raises(KeyboardInterrupt):
            interrupts.heed()


def test_pressed_twice_it_is_raised_at_once():
    with Interrupts():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_released_it_is_raised_at_once():
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.released():
            press()
        press()
        with pytest.raises(KeyboardInterrupt), interrupts.released():
            pytest.fail("what was pressed before is raised before")


def test_items_end_where_it_was_pressed():
    with Interrupts() as interrupts:
        items = interrupts.heeding([1, 2, 3])
        assert next(items) == 1
        press()
        with pytest.raises(KeyboardInterrupt):
            next(items)


def test_afterwards_all_is_as_it_was():
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_program_stays():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *given: seen.append(given))
    try:
        with Interrupts() as interrupts:
            press()
        assert len(seen) == 1 and not interrupts.pending
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_nothing_is_installed():
    found = []

    def work():
        with Interrupts():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
