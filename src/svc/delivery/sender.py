"""`Sender`: what a delivery works with, so that it knows neither a command line nor a terminal.

`cli.framework.delivering` makes one for a single POST: client, journal, scope, clocks, and
functions that print. The rows of a batch have none: `send.send_row` takes a client and a `RowJob`.
`send` and `ending` take it as their first argument.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from svc.base_url import BaseUrl
from svc.client.client import Client
from svc.clock import Clock
from svc.delivery.account import KeyMatcher
from svc.delivery.journal.commands import FormatCommand
from svc.delivery.journal.entry import Intent
from svc.delivery.journal.journal import Journal
from svc.delivery.journal.stored import Scope


class ServiceClock(Protocol):
    """The clock of the service, if it differs from this machine's.

    A sandbox tells its time and the ages of its keys; of another service the `Date` of a GET
    counts.
    """

    def now(self) -> float | None:
        """Returns Unix seconds by a sandbox's clock; None for any other service."""

    def refuse_expired(self, intent: Intent) -> None:
        """Raises an error if the service may have forgotten a request's key (promise R4)."""


class Sender(NamedTuple):
    """What a delivery works with.

    Attributes:
        scope: for whom and where, with the fingerprint of the key in use.
        accounts: compares other keys with it.
        served: the service's clock.
        format_command: writes the command line of a hint.
        clock: of this machine.
        warn, note: tell a person something on stderr.
        note_done: is given what a POST has made, or None if it was the object of another request.
    """

    journal: Journal
    client: Client
    scope: Scope
    base_url: BaseUrl
    accounts: KeyMatcher
    served: ServiceClock
    format_command: FormatCommand
    clock: Clock
    warn: Callable[[str], None]
    note: Callable[[str], None]
    note_done: Callable[[Any], None]
