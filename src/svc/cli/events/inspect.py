"""`svc events listen --inspect`: runs the inspector's local web page beside a listener.

The page shows what deliveries came and what became of them, and can send an event again. `run` and
`from_log` enter `inspect`, `loop` starts the page; the page itself is `svc.listen.inspector`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from svc.cli.events.options import InspectAt
from svc.cli.events.secrets import StoredSecrets
from svc.cli.framework.session import Session
from svc.listen.inbox.history import InboxScope
from svc.listen.output_records import ListenerRecord
from svc.listen.pipeline import ListenerPlan
from svc.state import Database

if TYPE_CHECKING:
    from svc.cli.events.link import LocalLink, TunnelLink
    from svc.listen.inspector.server import Inspector

_SECONDS_TO_END: Final = 0.3


class Inspection:
    """The inspector's page for one listener; it runs in the listener's event loop."""

    def __init__(self, session: Session, inspector: "Inspector", view: Database) -> None:
        self._session = session
        self._inspector = inspector
        self._view = view

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._inspector.url

    def emit(self, record: ListenerRecord) -> None:
        """Passes a record of the listener to the page."""
        self._inspector.emit(record)

    async def start(
        self,
        plan: ListenerPlan,
        emit: Callable[[ListenerRecord], None],
        link: "TunnelLink | LocalLink | None",
    ) -> None:
        """Starts the page and prints its address.

        `emit` is called with the records of events that the page sends again. With a tunnel
        (`link`) the endpoint and its secrets may change while the page is open.
        """
        from svc.listen.inspector.replay import Own, ReplayDeps

        def own() -> Own:
            if link is None:
                return Own(plan.endpoint, plan.secrets)
            return Own(link.endpoint.id, link.endpoint.secrets)

        self._session.out.note(f"Inspector {self.url}")
        means = ReplayDeps(
            routes=plan.routes,
            headers=plan.headers,
            seconds=plan.forwarding.seconds,
            own=own,
            secrets_of=self._secrets_of,
            emit=emit,
            trust=plan.trust,
        )
        await self._inspector.start(means)

    async def close(self) -> None:
        """Stops the page without waiting for other processes (promise R78)."""
        self._view.shorten_timeout(_SECONDS_TO_END)
        await self._inspector.close()

    def _secrets_of(self, endpoint_id: str) -> Sequence[str]:
        found = StoredSecrets(self._session, self._session.state()).get(endpoint_id)
        return (found,) if found else ()


@contextmanager
def inspect(session: Session, wanted: InspectAt | None) -> Iterator[Inspection | None]:
    """Binds the port of the page and opens a database connection for it alone.

    Yields None if no page is wanted.

    Raises:
        LocalError: the requested port is taken.
    """
    if wanted is None:
        yield None
        return
    from svc.listen.inbox.search import SearchableInbox
    from svc.listen.inspector.server import Inspector, bind_inspector

    settings = session.settings
    whose = InboxScope(settings.profile, settings.mode, session.base_url.origin)
    utc = bool(session.given.everywhere.utc)
    with (
        bind_inspector(wanted.port) as bound,
        Database.open(session.paths.state_file, clock=session.clock) as state,
    ):
        archive = SearchableInbox(state, whose)
        inspector = Inspector(bound, settings.mode, archive, session.clock, utc=utc)
        yield Inspection(session, inspector, state)
