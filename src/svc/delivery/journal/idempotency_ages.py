"""The age of idempotency keys by the sandbox's clock, which a user can advance (promise R4).

The journal has the age of a key by this machine's clock. A sandbox counts its 24 hours by its own
clock. If a user has advanced that by a day, the sandbox has forgotten a key that was sent a minute
ago, and would carry the request out a second time.

`cli.framework.control` reads it before a request is sent again at a sandbox, and for `svc batch`.
`clock_of` also gives the sandbox's time that is stored with a sending.
"""

from datetime import datetime
from typing import Any, Final, NamedTuple

from svc.client.retry import KEY_SAFE_SECONDS
from svc.client.sandbox import SandboxClient, control_call
from svc.clock import utc
from svc.delivery.journal.entry import Intent
from svc.delivery.journal.refusals import FORGOTTEN, KEY_SPENT, FormatCommand
from svc.errors import SvcError, UsageError
from svc.redaction import one_line

_LOGGED: Final = {"limit": "1000"}  # all that a sandbox remembers


class IdempotencyAges(NamedTuple):
    """The idempotency keys of a sandbox; times are in Unix seconds by its clock.

    Attributes:
        now: the present time.
        first_seen: when each remembered key was received for the first time.
    """

    now: float
    first_seen: dict[str, float]

    def age(self, intent: Intent) -> float:
        """Seconds since a request was sent, by the sandbox's clock (promise R101).

        The journal stores the sandbox's time of a sending. Without it the age counts from the first
        arrival that the sandbox remembers, and without that from the first sending by this
        machine's clock.
        """
        if intent.server_time is not None:
            return self.now - intent.server_time
        key = intent.stored.idempotency_key
        return self.now - self.first_seen.get(key, intent.first_sent_at)

    def refusal(self, intent: Intent, format_command: FormatCommand) -> SvcError | None:
        """Returns the error if a request must not be sent again.

        None while the key is younger than 23 hours (`KEY_SAFE_SECONDS`).
        """
        if self.age(intent) < KEY_SAFE_SECONDS:
            return None
        if intent.state == "done":
            return KEY_SPENT.about(intent)
        return FORGOTTEN.about(intent, format_command, now=utc(self.now))


def clock_of(control: SandboxClient) -> float:
    """Reads a sandbox's clock (Unix seconds); raises as `idempotency_ages`."""
    return state_of(control)[0]


def state_of(control: SandboxClient) -> tuple[float, str | None]:
    """Reads a sandbox's clock and the id of its state; raises as `idempotency_ages`."""
    reply = control.health()
    world = reply.data.get("world")
    return _seconds(reply.data.get("now")), world if isinstance(world, str) else None


def idempotency_ages(control: SandboxClient) -> IdempotencyAges:
    """Reads the idempotency keys of a sandbox.

    Raises:
        UsageError: the service is not a sandbox.
        SvcError: the service does not answer.
    """
    now = clock_of(control)
    logged = control.send(control_call("GET", "requests", params=_LOGGED)).data.get("data", [])
    # Newest first, so that of several with one key the oldest stays.
    return IdempotencyAges(
        now, {entry["idempotency_key"]: _seconds(entry["created"]) for entry in logged}
    )


def _seconds(text: Any) -> float:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        raise UsageError(
            f"The sandbox's answer holds no time ({one_line(str(text))}).",
            code="not_a_sandbox",
        ) from None
