"""`svc events listen --inspect`: runs the inspector's local web page beside a listener.

The page shows what deliveries came and what became of them, and can send an event again. `run` and
`from_log` enter `inspect`, `loop` starts the page; the page itself is `svc.listen.inspector`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from svc.cli.events.options import InspectAt
from svc.cli.events.secrets import StoredSecrets
from svc.cli.framework.session import Session
from svc.listen.inbox.history import InboxScope
from svc.listen.output_records import ListenerRecord
from svc.listen.plan import ListenerPlan
from svc.state import Database

if TYPE_CHECKING:
    from svc.cli.events.link import EndpointLink
    from svc.listen.inspector.server import Inspector


@contextmanager
def inspect(session: Session, wanted: InspectAt | None) -> Iterator["Inspector | None"]:
    """Binds the port of the page and opens a database connection for it alone.

    Yields None if no page is wanted.

    Raises:
        LocalError: the requested port is taken.
    """
    if wanted is None:
        yield None
        return
    from svc.listen.inspector.history import DeliveryList
    from svc.listen.inspector.server import Inspector, bind_inspector

    settings = session.settings
    whose = InboxScope(settings.profile, settings.mode, session.base_url.origin)
    utc = bool(session.given.everywhere.utc)
    with (
        bind_inspector(wanted.port) as bound,
        Database.open(session.paths.state_file, clock=session.clock) as state,
    ):
        catalogue = DeliveryList(state, whose, session.clock)
        yield Inspector(bound, settings.mode, catalogue, session.clock, utc=utc)


async def start_inspector(
    inspector: "Inspector",
    session: Session,
    plan: ListenerPlan,
    emit: Callable[[ListenerRecord], None],
    link: "EndpointLink | None",
) -> None:
    """Starts the page in the listener's event loop, and prints its address.

    `emit` is called with the records of events that the page sends again. With a `link` the
    endpoint and its secrets may change while the page is open.
    """
    from svc.listen.inspector.replay import Replayer

    def own() -> tuple[str | None, tuple[str, ...]]:
        if link is None:
            return plan.endpoint, plan.secrets
        return link.endpoint.id, link.endpoint.secrets

    def secrets_of(endpoint_id: str) -> Sequence[str]:
        found = StoredSecrets(session, session.state()).get(endpoint_id)
        return (found,) if found else ()

    session.out.note(f"Inspector {inspector.url}")
    again = Replayer(inspector.catalogue, session.clock, plan, own, secrets_of, emit)
    await inspector.start(again)
