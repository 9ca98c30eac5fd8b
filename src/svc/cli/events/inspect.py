"""`svc events listen --inspect`: the option, and the page's part in a listener's life.

What draws the page is imported only when the page is wanted.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from svc.cli.events.secrets import StoredSecrets
from svc.cli.framework.app import Verb
from svc.cli.framework.session import Session
from svc.errors import UsageError
from svc.listen.inbox.history import InboxHistory, InboxScope
from svc.listen.listener import ListenerPlan
from svc.listen.records import Record
from svc.state import Database

if TYPE_CHECKING:
    from svc.cli.events.link import SandboxWatch, TunnelLink
    from svc.listen.inspector.server import Inspector

OPTION: Final = "--inspect"
_ANY: Final = "default"
_PORT_MAX: Final = 65535
_SECONDS_TO_END: Final = 0.3


class ListenVerb(Verb):
    """A verb whose `--inspect` may stand without a port; Typer knows no such options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_with_value(args)))


@dataclass(frozen=True, slots=True)
class InspectAt:
    """Where the page is wanted; a `port` of None is the usual one or any that is free."""

    port: int | None

    @classmethod
    def parse(cls, text: str | None) -> "InspectAt | None":
        """Reads the option's value; None is an option that was not given.

        Raises:
            UsageError: it is no port.
        """
        if text is None:
            return None
        if text == _ANY:
            return cls(None)
        if not (text.isascii() and text.isdigit() and 0 < int(text) <= _PORT_MAX):
            raise UsageError(
                f"{OPTION} {text!r} is no port.",
                param=OPTION,
                hint=f"Give one from 1 to {_PORT_MAX}, or none for 4244",
            )
        return cls(int(text))


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

    def tell(self, record: Record) -> None:
        """Hands on what the listener tells."""
        self._inspector.tell(record)

    async def start(
        self,
        plan: ListenerPlan,
        tell: Callable[[Record], None],
        link: "TunnelLink | SandboxWatch | None",
    ) -> None:
        """Serves the page from now on, and says where.

        `tell` hears of what it sends again; a tunnel (`link`) may change the endpoint.
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
            seconds=plan.manner.seconds,
            own=own,
            secrets_of=self._secrets_of,
            tell=tell,
        )
        await self._inspector.start(means)

    async def close(self) -> None:
        """Ends the page, without waiting for other processes (promise R78)."""
        self._view.hurry(_SECONDS_TO_END)
        await self._inspector.close()

    def _secrets_of(self, endpoint_id: str) -> Sequence[str]:
        found = StoredSecrets.of(self._session, self._session.state()).get(endpoint_id)
        return (found,) if found else ()


@contextmanager
def inspecting(session: Session, wanted: InspectAt | None) -> Iterator[Inspection | None]:
    """Takes the port of the page, with a view of the inbox that nothing else waits for.

    Raises:
        LocalError: the port that was asked for is taken.
    """
    if wanted is None:
        yield None
        return
    from svc.listen.inspector.server import Inspector, bind_inspector

    settings = session.settings
    whose = InboxScope(settings.profile, settings.mode, session.base_url.origin)
    utc = bool(session.given.everywhere.utc)
    with (
        bind_inspector(wanted.port) as bound,
        Database.open(session.paths.state_file, clock=session.clock) as state,
    ):
        archive = InboxHistory(state, whose)
        inspector = Inspector(bound, settings.mode, archive, session.clock, utc=utc)
        yield Inspection(session, inspector, state)


def _with_value(args: Sequence[str]) -> Iterator[str]:
    """Gives a bare `--inspect` its value."""
    for index, arg in enumerate(args):
        following = args[index + 1 : index + 2]
        bare = arg == OPTION and (not following or following[0].startswith("-"))
        yield f"{OPTION}={_ANY}" if bare else arg
