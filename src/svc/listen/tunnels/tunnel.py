"""Keeps a tunnel up: starts its program, watches it, starts it again with backoff, ends it.

`svc events listen` (`cli.events.link`) opens one `Tunnel`, which calls back when its address
changes or leads nowhere.
"""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final, Self

from svc.clock import Clock
from svc.errors import NetworkError
from svc.listen.tunnels.program import Program
from svc.listen.tunnels.provider import Down, LogReader, Provider, Up
from svc.system import signals

_DELAYS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
_STEADY_SECONDS: Final = 60.0  # a link that held so long begins anew with the shortest delay
_SECONDS_TO_COME_UP: Final = 30.0
_SECONDS_TO_JOIN: Final = 1.0
_WORDS_MAX: Final = 300


# With an exception the tunnel has failed for good: no new attempt is made.
TunnelChange = Up | Down | Exception


class Tunnel:
    """One tunnel to a local port, watched by a thread of its own.

    `path` is the program's absolute path, `env` the whole environment; times are in seconds.
    """

    def __init__(
        self,
        provider: Provider,
        path: str,
        env: Mapping[str, str],
        clock: Clock,
        *,
        limit: float = _SECONDS_TO_COME_UP,
    ) -> None:
        self._provider = provider
        self._path = path
        self._env = env
        self._clock = clock
        self._limit = limit
        self._closing = threading.Event()
        self._first: SimpleQueue[Up | NetworkError] = SimpleQueue()
        self._been_up = False
        self._last: Down | None = None
        self._program: Program | None = None
        self._lock = threading.Lock()
        self._waiting: list[TunnelChange] = []
        self._on_change: Callable[[TunnelChange], None] = self._waiting.append
        self._thread: threading.Thread | None = None

    def start(self, port: int) -> str:
        """Starts the program and gives its public address, once that is up.

        Raises:
            NetworkError: it ended, or did not come up in time; holds its last words.
            Stopped: a signal came.
        """
        self._thread = threading.Thread(target=self._run, args=(port,), daemon=True)
        self._thread.start()
        first = signals.wait(self._await_first, None)
        assert first is not None
        if isinstance(first, NetworkError):
            raise first
        return first.url

    def _await_first(self, seconds: float) -> Up | NetworkError | None:
        with suppress(Empty):
            return self._first.get(timeout=seconds)
        return None

    def follow(self, on_change: Callable[[TunnelChange], None]) -> None:
        """Calls back with every change since the start, on the tunnel's thread."""
        with self._lock:
            waiting, self._on_change = tuple(self._waiting), on_change
            for change in waiting:
                on_change(change)

    def close(self) -> None:
        """Ends the program and the watching."""
        self._closing.set()
        program = self._program
        if program is not None:
            program.end()
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_JOIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, port: int) -> None:
        try:
            self._keep(port)
        except Exception as error:  # noqa: BLE001  a thread's error must reach the listener
            if not self._closing.is_set():
                self._fail(error)

    def _keep(self, port: int) -> None:
        failures = 0
        while not self._closing.is_set():
            begun = self._clock.monotonic()
            down = self._run_once(port)
            if self._closing.is_set():
                return
            if not self._been_up:
                error = NetworkError(
                    f"The tunnel did not come up, {down.reason}.",
                    code="tunnel_failed",
                    hint=f"Run {self._provider.program} by hand to see more, or run any tunnel "
                    "and name it: --public-url URL",
                )
                self._fail(error)
                return
            self._handle_loss(down)
            if self._clock.monotonic() - begun > _STEADY_SECONDS:
                failures = 0
            self._closing.wait(_DELAYS[min(failures, len(_DELAYS) - 1)])
            failures += 1

    def _run_once(self, port: int) -> Down:
        """Runs the program until it is of no more use."""
        program = Program([self._path, *self._provider.arguments(port)], self._env)
        self._program = program
        if self._closing.is_set():  # `close` may have missed it
            program.end()
        try:
            return self._watch(program, self._provider.reader())
        finally:
            program.end()

    def _watch(self, program: Program, reader: LogReader) -> Down:
        deadline: float | None = self._clock.monotonic() + self._limit
        address: str | None = None
        while True:
            left = None if deadline is None else max(deadline - self._clock.monotonic(), 0)
            try:
                line = program.news.get(timeout=left)
            except Empty:
                return Down(_words(f"no address within {self._limit:.0f} s", reader))
            if line is None:
                return Down(_words(f"{self._provider.program} ended{_how(program.code)}", reader))
            sign = reader.read(line)
            if isinstance(sign, Up):
                if address not in (None, sign.url):
                    # No program changes its address by itself: another one speaks in its name
                    # (promise R105).
                    moved = f"{self._provider.program} has named another address in the same run"
                    return Down(moved, lasting=True)
                address, deadline = sign.url, None
                self._handle_gain(sign)
            elif sign is not None and sign.lasting:
                return sign
            elif sign is not None:
                self._handle_loss(sign)

    def _handle_gain(self, up: Up) -> None:
        self._last = None
        if self._been_up:
            self._notify(up)
        else:
            self._been_up = True
            self._first.put(up)

    def _handle_loss(self, down: Down) -> None:
        """Tells a loss once, and again only when another reason keeps the link away."""
        if self._been_up and self._last != down:
            self._notify(down)
        self._last = down

    def _fail(self, error: Exception) -> None:
        if self._been_up:
            self._notify(error)
        else:
            known = error if isinstance(error, NetworkError) else NetworkError(str(error))
            self._first.put(known)

    def _notify(self, change: TunnelChange) -> None:
        with self._lock:
            if not self._closing.is_set():
                self._on_change(change)


def _how(code: int | None) -> str:
    if code is None:
        return ""
    return f" with code {code}" if code >= 0 else f" by signal {-code}"


def _words(what: str, reader: LogReader) -> str:
    said = reader.said.strip().rstrip(".")
    return f"{what}: {said[:_WORDS_MAX]}" if said else what
