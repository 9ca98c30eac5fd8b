"""`svc events listen --inspect`: the page beside a listener, imported only when it is wanted."""

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
    """The page of one listener, inside its event loop."""

    def __init__(self, session: Session, inspector: "Inspector", view: Database) -> None:
        self._session = session
        self._inspector = inspector
        self._view = view

    @property
    def url(self) -> str:
        """The page's address."""
        return self._inspector.url

    def emit(self, record: ListenerRecord) -> None:
        """Hands on what the listener tells."""
        self._inspector.emit(record)

    async def start(
        self,
        plan: ListenerPlan,
        emit: Callable[[ListenerRecord], None],
        link: "TunnelLink | LocalLink | None",
    ) -> None:
        """Serves the page from now on, and says where.

        `emit` hears of what it sends again; a tunnel (`link`) may change the endpoint.
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
        """Ends the page, without waiting for other processes (promise R78)."""
        self._view.shorten_timeout(_SECONDS_TO_END)
        await self._inspector.close()

    def _secrets_of(self, endpoint_id: str) -> Sequence[str]:
        found = StoredSecrets(self._session, self._session.state()).get(endpoint_id)
        return (found,) if found else ()


@contextmanager
def inspect(session: Session, wanted: InspectAt | None) -> Iterator[Inspection | None]:
    """Takes the port of the page, with a view of the inbox that nothing else waits for.

    Raises:
        LocalError: the port that was asked for is taken.
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
