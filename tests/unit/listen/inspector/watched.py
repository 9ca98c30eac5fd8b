"""A listener in a thread with its inspector, and a browser that sends what browsers send."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from support.clocks import ManualClock
from support.listening import NOW, PATH, SECRET, delivery, outcomes, plan_for, status, talk
from svc.clock import Clock
from svc.listen.forward.pump import ForwardOptions
from svc.listen.identity import claim_listener
from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.interfaces import Inbox
from svc.listen.inbox.listeners import remember
from svc.listen.inbox.search import SearchableInbox
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.inspector.history import SEARCH_SECONDS
from svc.listen.inspector.replay import Own, ReplayDeps
from svc.listen.inspector.server import Inspector
from svc.listen.listener import Listener
from svc.listen.names import Listening
from svc.listen.output_records import ListenerRecord
from svc.listen.pipeline import ListenerPlan
from svc.listen.receiver.server import bind
from svc.state import Database

ORIGIN = "https://api.example.com"


@dataclass(frozen=True)
class InspectorAnswer:
    """One answer of the inspector."""

    status: int
    headers: dict[str, str]
    body: str


@dataclass
class WatchedListener:
    """A listener, its inspector, and all that it has told."""

    plan: ListenerPlan
    state: Database
    archive: SearchableInbox
    inspector: Inspector
    bound: socket.socket
    clock: Clock
    scope: str
    others: dict[str, Sequence[str]]
    records: list[ListenerRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.port: int = self.bound.getsockname()[1]
        self._relay: Listener | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))

    async def _run(self) -> None:
        relay = self._relay = Listener(self.plan, self.make_inbox(), self.clock, self._tell)
        self._loop = asyncio.get_running_loop()
        means = ReplayDeps(
            routes=self.plan.routes,
            headers=self.plan.headers,
            seconds=self.plan.forwarding.seconds,
            own=lambda: Own(self.plan.endpoint, self.plan.secrets),
            secrets_of=lambda endpoint: self.others.get(endpoint, ()),
            emit=self._tell,
        )
        await self.inspector.start(means)
        try:
            await relay.run(self.bound)
        finally:
            await self.inspector.close()

    def make_inbox(self) -> Inbox:
        return SqliteInbox(self.state, self.scope)

    def _tell(self, record: ListenerRecord) -> None:
        self.records.append(record)
        self.inspector.emit(record)

    def start(self) -> None:
        self._thread.start()
        self.until(lambda: bool(self.records))

    def stop(self) -> None:
        if self._loop is not None and self._relay is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._relay.stop)
        self._thread.join(10)
        assert not self._thread.is_alive()

    @staticmethod
    def until(true: Callable[[], bool]) -> None:
        """Waits until something is so."""
        end = time.monotonic() + 10
        while not true():
            assert time.monotonic() < end
            time.sleep(0.005)

    @property
    def url(self) -> str:
        return self.inspector.url

    @property
    def root(self) -> str:
        """The path of the list."""
        return "/" + self.url.split("/", 3)[3]

    @property
    def page_port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    def send(self, body: bytes, **headers: Any) -> int:
        """Delivers one event."""
        return status(talk(self.port, delivery(body, **headers)))

    def settled(self, count: int) -> None:
        """Waits until so many deliveries are in the inbox and forwarded as far as they will be."""

        def so() -> bool:
            ended = outcomes(self.state)
            return len(ended) >= count and all(ended)

        self.until(so)

    def call(self, method: str, path: str, body: str = "", **headers: str) -> InspectorAnswer:
        """One request to a path of this server, with these headers and a Host."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.page_port, timeout=10)) as connection:
            connection.request(method, path, body.encode() or None, named)
            answer = connection.getresponse()
            lines = {name.lower(): value for name, value in answer.getheaders()}
            return InspectorAnswer(answer.status, lines, answer.read().decode())

    def get(self, path: str = "", **headers: str) -> InspectorAnswer:
        """One page, by its path below the token."""
        return self.call("GET", self.root + path, **headers)

    def submit(self, path: str, **fields: str) -> InspectorAnswer:
        """Sends a form as a browser does from our own page."""
        return self.call(
            "POST",
            self.root + path,
            urlencode(fields),
            Content_Type="application/x-www-form-urlencoded",
            Origin="null",
            Sec_Fetch_Site="same-origin",
        )


@contextmanager
def watching(
    folder: Path,
    *forward_to: str | int,
    clock: Clock | None = None,
    others: dict[str, Sequence[str]] | None = None,
    search_seconds: float = SEARCH_SECONDS,
    **told: Any,
) -> Iterator[WatchedListener]:
    """Runs a listener with its inspector; `told` goes into its plan."""
    clock = clock or ManualClock(NOW)
    plan = plan_for(*forward_to, **{"forwarding": ForwardOptions(retry="off"), **told})
    path = folder / "state" / "state.db"
    listening = Listening(ORIGIN, "default", plan.mode, "local", ())
    with (
        Database.open(path, clock=clock) as state,
        Database.open(path, clock=clock) as view,
        claim_listener(state, folder / "locks", listening, lambda: PATH) as claim,
        bind() as bound,
        bind() as page,
    ):
        targets = [str(target) for target in plan.routes.targets]
        remember(state, claim, bound.getsockname()[1], plan.endpoint, targets)
        archive = SearchableInbox(view, InboxScope("default", plan.mode, ORIGIN))
        inspector = Inspector(
            page, plan.mode, archive, clock, utc=True, search_seconds=search_seconds
        )
        watched = WatchedListener(
            plan, state, archive, inspector, bound, clock, claim.scope, others or {}
        )
        watched.start()
        try:
            yield watched
        finally:
            watched.stop()


__all__ = ["NOW", "PATH", "SECRET", "InspectorAnswer", "WatchedListener", "watching"]
