"""Signals are noted by their handler, and raised by the places that wait (promise R133)."""

import asyncio
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from support.kills.interrupting import not_cut_off
from support.suite.patience import patient
from svc.system import loops, signals
from svc.system.signals import Stopped, watch

LONG = 30.0  # seconds that no test waits out


@pytest.fixture(autouse=True)
def unchanged() -> Iterator[None]:
    """The handlers of the suite are there again."""
    before = {number: signal.getsignal(number) for number in signals.STOPPING}
    with not_cut_off():
        yield
    for number, handler in before.items():
        signal.signal(number, handler)


def no_word(number: int) -> None:
    pytest.fail(f"cut off by {number}")


def come_soon(number: int = signal.SIGTERM) -> threading.Timer:
    """Sends the signal to this process while its main thread waits."""
    timer = threading.Timer(0.05, os.kill, (os.getpid(), number))
    timer.start()
    return timer


def stopped_in(wait: Callable[[], object], number: int = signal.SIGTERM) -> None:
    """Waits, and gets the signal meanwhile."""
    with watch(lambda _: None):
        come_soon(number)
        wait()


def test_a_handler_notes_the_signal_and_raises_nothing() -> None:
    """R133: what stands between two looks is done to its end."""
    done = []

    def work() -> None:
        with watch(no_word):
            signal.raise_signal(signal.SIGTERM)
            done.append("behind the signal")
            signals.raise_if_stopped()
            done.append("behind the look")

    with pytest.raises(Stopped) as stopped:
        work()
    assert done == ["behind the signal"]
    assert (stopped.value.number, stopped.value.exit_code) == (signal.SIGTERM, 143)


def test_a_block_that_never_looks_ends_as_the_signal_says() -> None:
    """R78: it is not swallowed, whatever was done meanwhile."""
    with pytest.raises(Stopped), watch(no_word):
        signal.raise_signal(signal.SIGINT)


def test_it_is_raised_once_so_that_what_is_tidied_up_may_wait() -> None:
    """R78: the end of what was begun is not cut short by the signal that caused it."""

    def work() -> None:
        with watch(no_word):
            try:
                signal.raise_signal(signal.SIGTERM)
                signals.raise_if_stopped()
            finally:
                signals.sleep(0.01)
                signals.raise_if_stopped()

    with pytest.raises(Stopped):
        work()


WAITS: dict[str, Callable[[socket.socket], object]] = {
    "sleep": lambda _: signals.sleep(LONG),
    "socket to be read": lambda sock: signals.wait_ready(sock, LONG),
    "socket without limit": lambda sock: signals.wait_ready(sock, None),
    "descriptor": lambda sock: signals.wait_ready(sock.fileno(), LONG),
    "event": lambda _: signals.wait(threading.Event().wait, LONG),
    "event without limit": lambda _: signals.wait(threading.Event().wait, None),
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
@pytest.mark.parametrize("number", signals.STOPPING, ids=lambda each: signal.Signals(each).name)
def test_a_signal_ends_every_kind_of_wait_at_once(
    wait: Callable[[socket.socket], object], number: int
) -> None:
    """R78: within the second, of which a busy machine needs some."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        began = time.monotonic()
        with pytest.raises(Stopped):
            stopped_in(partial(wait, ours), number)
    assert time.monotonic() - began < patient(0.75)


def test_what_comes_is_found_and_what_does_not_is_waited_for() -> None:
    """A socket is ready when it can be read or written; time is up when it is."""
    ours, theirs = socket.socketpair()
    with ours, theirs, watch(no_word):
        assert not signals.wait_ready(ours, 0.01)
        assert signals.wait_ready(ours, 0.01, write=True)
        theirs.send(b"1")
        assert signals.wait_ready(ours, LONG)
        assert not signals.wait(threading.Event().wait, 0.01)
        began = time.monotonic()
        signals.sleep(0.02)
        assert time.monotonic() - began >= 0.02


def test_a_signal_that_ends_nothing_ends_no_wait() -> None:
    """Others wake it too, a terminal that changes its size for one, and it waits on."""
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with watch(no_word):
            timer = come_soon(signal.SIGUSR1)
            began = time.monotonic()
            signals.sleep(0.2)
            assert time.monotonic() - began >= 0.2
            timer.join()  # however late it is: without its handler it would end this process
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_only_the_main_thread_is_stopped() -> None:
    """Workers are told by it; what is raised in them would end a request under way."""
    ended: list[bool] = []
    slept: list[float] = []

    def work() -> None:
        began = time.monotonic()
        signals.sleep(0.1)
        slept.append(time.monotonic() - began)
        signals.raise_if_stopped()
        ended.append(signals.wait(threading.Event().wait, 0.01))

    def stop_beside(worker: threading.Thread) -> None:
        with watch(no_word):
            worker.start()
            signal.raise_signal(signal.SIGTERM)
            signals.raise_if_stopped()

    worker = threading.Thread(target=work)
    with pytest.raises(Stopped):
        stop_beside(worker)
    worker.join()
    assert ended == [False]
    assert slept[0] >= 0.1


def test_what_is_begun_in_the_block_is_ended_before_a_signal_is_answered() -> None:
    """What is held back waits to its end, and is answered once behind it."""
    made = []

    def make() -> None:
        with watch(no_word), signals.defer_stop():
            signal.raise_signal(signal.SIGTERM)
            signals.sleep(0.01)
            made.append("whole")

    with pytest.raises(Stopped):
        make()
    assert made == ["whole"]


def test_a_signal_behind_such_a_block_is_answered_at_once() -> None:
    """Blocks inside one another hold it back until the outermost has ended, and no longer."""

    def stop() -> None:
        with watch(no_word):
            with signals.defer_stop(), signals.defer_stop():
                pass
            signal.raise_signal(signal.SIGTERM)
            signals.raise_if_stopped()
            raise AssertionError

    with pytest.raises(Stopped):
        stop()


def test_an_error_of_a_block_that_holds_back_goes_on() -> None:
    """It ends the block as it would."""
    with pytest.raises(KeyError), watch(no_word), signals.defer_stop():
        raise KeyError


def test_the_second_signal_ends_the_process() -> None:
    """R78: nothing holds that back: the system itself does it."""
    found: set[object] = set()

    def stop() -> None:
        with watch(no_word):
            signal.raise_signal(signal.SIGTERM)
            found.update(signal.getsignal(each) for each in signals.STOPPING)

    with pytest.raises(Stopped):
        stop()
    assert found == {signal.SIG_DFL}


def test_what_nohup_has_had_ignored_stays_ignored() -> None:
    """SIGHUP is not heard then."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with watch(no_word):
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("before", [True, False])
def test_an_event_loop_hears_a_signal_and_gives_the_hearing_back(before: bool) -> None:
    """A wait behind the loop is woken as one in front of it is."""
    heard: list[int] = []

    async def run() -> None:
        with loops.catch_signals(asyncio.get_running_loop(), signals.STOPPING, heard.append):
            come_soon()
            while not heard:  # noqa: ASYNC110  what is waited for comes by itself
                await asyncio.sleep(0.01)

    with watch(no_word):
        if before:
            signals.sleep(0.001)
        asyncio.run(run())
    assert heard == [signal.SIGTERM]
    with pytest.raises(Stopped):
        stopped_in(partial(signals.sleep, LONG))


def test_a_signal_in_front_of_a_loop_is_not_lost_in_it() -> None:
    """It was noted, and the loop is not begun."""

    async def run() -> None:
        with loops.catch_signals(asyncio.get_running_loop(), signals.STOPPING, lambda _: None):
            pytest.fail("it was begun")

    def begin() -> None:
        with watch(no_word):
            signal.raise_signal(signal.SIGTERM)
            asyncio.run(run())

    with pytest.raises(Stopped):
        begin()


@pytest.mark.parametrize("found", [True, False])
def test_a_signal_during_the_last_step_is_raised_at_once(found: bool) -> None:
    """R78: not by whatever waits next, which may come late or never."""

    def step(_: float) -> bool:
        signal.raise_signal(signal.SIGTERM)
        return found

    done = []

    def work() -> None:
        with watch(no_word):
            signals.wait(step, 0)
            done.append("behind it")

    with pytest.raises(Stopped):
        work()
    assert done == []


def test_windows_hands_a_signal_to_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its loop has no handlers of signals; the earlier ones are there again afterwards."""
    loop = asyncio.new_event_loop()
    got: list[int] = []

    def refuse(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(loop, "add_signal_handler", refuse)
    monkeypatch.setattr(loop, "remove_signal_handler", refuse)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with loops.catch_signals(loop, [signal.SIGTERM], got.append):
            signal.raise_signal(signal.SIGTERM)
            assert got == []
            loop.run_until_complete(asyncio.sleep(0))
            assert got == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGTERM) == before
    finally:
        loop.close()


def test_windows_waits_by_select(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no `poll`: for one socket, for a time alone, and until a signal comes."""
    monkeypatch.delattr(select, "poll")
    one, other = socket.socketpair()
    with one, other:
        assert not signals.wait_ready(one, 0.0)
        assert signals.wait_ready(one, None, write=True)
        other.send(b"x")
        assert signals.wait_ready(one, None)
        one.recv(1)
        before = time.monotonic()
        signals._wait(None, 0.01, write=False)
        assert time.monotonic() - before >= 0.01
        for wait in (partial(signals.wait_ready, one, LONG), partial(signals.sleep, LONG)):
            with pytest.raises(Stopped):
                stopped_in(wait)
