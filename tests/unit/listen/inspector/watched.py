"""A listener in a thread with its inspector, and a browser that sends what browsers send."""

import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from support.clocks import ManualClock
from support.listening import NOW, PATH, RunningListener, outcomes, plan_for
from support.suite.pages import hold_page
from svc.clock import Clock
from svc.listen.forward.pump import ForwardOptions
from svc.listen.identity import claim_listener
from svc.listen.inbox.history import InboxScope
from svc.listen.inbox.interfaces import Inbox
from svc.listen.inbox.listeners import remember
from svc.listen.inbox.sqlite import SqliteInbox
from svc.listen.inspector.app import Inspector
from svc.listen.inspector.history import SEARCH_SECONDS, DeliveryList
from svc.listen.inspector.replay import Replayer
from svc.listen.names import Listening
from svc.listen.output_records import ListenerRecord
from svc.listen.plan import ListenerPlan
from svc.listen.receiver.server import bind

ORIGIN = "https://api.example.com"


@dataclass(frozen=True)
class InspectorAnswer:
    """One answer of the inspector."""

    status: int
    headers: dict[str, str]
    body: str


class WatchedListener(RunningListener):
    """A listener with its inspector."""

    def __init__(
        self,
        folder: Path,
        plan: ListenerPlan,
        clock: Clock,
        others: dict[str, Sequence[str]],
        search_seconds: float,
    ) -> None:
        super().__init__(folder / "state" / "state.db", plan, clock)
        self.clock, self.others = clock, others
        listening = Listening(ORIGIN, "default", plan.mode, "local", ())
        claim = self._open.enter_context(
            claim_listener(self.state, folder / "locks", listening, lambda: PATH)
        )
        self.scope = claim.scope
        targets = [str(target) for target in plan.routes.targets]
        remember(self.state, claim, self.port, plan.endpoint, targets)
        whose = InboxScope("default", plan.mode, ORIGIN)
        self.archive = DeliveryList(self.open_state(), whose, clock, search_seconds)
        page = self._open.enter_context(bind())
        self.inspector = Inspector(page, plan.mode, self.archive, clock, utc=True)

    async def _run(self) -> None:
        again = Replayer(
            self.archive,
            self.clock,
            self._plan,
            own=lambda: (self._plan.endpoint, self._plan.secrets),
            secrets_of=lambda endpoint: self.others.get(endpoint, ()),
            emit=self.tell,
        )
        await self.inspector.start(again)
        try:
            await super()._run()
        finally:
            await self.inspector.close()

    def make_inbox(self) -> Inbox:
        return SqliteInbox(self.state, self.scope)

    def tell(self, record: ListenerRecord) -> None:
        super().tell(record)
        self.inspector.emit(record)

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

    def settled(self, count: int) -> None:
        """Waits until so many deliveries are in the inbox and forwarded as far as they will be."""

        def so() -> bool:
            ended = outcomes(self.state)
            return len(ended) >= count and all(ended)

        self.until(so)

    def call(self, method: str, path: str, body: str = "", **headers: str) -> InspectorAnswer:
        """One request to a path of this server, with these headers and a Host."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.page_port, timeout=60)) as connection:
            connection.request(method, path, body.encode() or None, named)
            answer = connection.getresponse()
            lines = {name.lower(): value for name, value in answer.getheaders()}
            page = answer.read().decode()
            hold_page(page, "listen/inspector")
            return InspectorAnswer(answer.status, lines, page)

    def get(self, path: str = "", **headers: str) -> InspectorAnswer:
        """One page, by its path below the token."""
        return self.call("GET", self.root + path, **headers)

    def visitor(self) -> socket.socket:
        """A connection to the page that says nothing yet."""
        return socket.create_connection(("127.0.0.1", self.page_port), 60)

    @contextmanager
    def watcher(self) -> Iterator[Iterator[dict[str, int]]]:
        """Watches as an open page does, from its first news on; gives those that follow."""
        with self.visitor() as peer, peer.makefile("rb") as stream:
            head = f"GET {self.root}changes HTTP/1.1\r\nHost: 127.0.0.1:{self.page_port}\r\n\r\n"
            peer.sendall(head.encode())
            assert b"text/event-stream; charset=utf-8\r\n" in b"".join(
                iter(stream.readline, b"\r\n")
            )
            said = (json.loads(line[6:]) for line in stream if line.startswith(b"data: "))
            assert next(said) == {"received": 0, "rejected": 0}
            yield said

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
    plan = plan_for(*forward_to, **{"forwarding": ForwardOptions(retry="off"), **told})
    watched = WatchedListener(folder, plan, clock or ManualClock(NOW), others or {}, search_seconds)
    watched.start()
    try:
        yield watched
    finally:
        watched.stop()
