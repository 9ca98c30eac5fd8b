"""Calls the sandbox's controls, its HTTP interface beside the API, such as its clock and faults.

No call here is written to the journal or retried. The verbs of `svc sandbox` call `ask` and
`call_and_show`, the listener's `endpoint` makes a `sandbox_client`. `delivering` and `svc batch`
ask for the sandbox's clock and the age of its idempotency keys before a request is sent again.
Commands that take a time, such as `--since 2d`, parse it with `moments`, by the sandbox's clock.

The journal has the age of a key by this machine's clock. A sandbox counts its 24 hours by its own
clock. If a user has advanced that by a day, the sandbox has forgotten a key that was sent a minute
ago, and would carry the request out a second time (promise R4).
"""

import shlex
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from svc.cli.framework.session import Session
from svc.client.call import Body, Call, Method, QueryParams
from svc.client.exchange import Deadline, ShowProgress, show_no_progress
from svc.client.reply import Reply
from svc.client.retry import KEY_SAFE_SECONDS
from svc.client.sandbox import SandboxClient, control_call, in_mode
from svc.clock import utc
from svc.delivery.journal.entry import Intent
from svc.delivery.journal.refusals import FORGOTTEN, KEY_SPENT, FormatCommand
from svc.errors import SvcError, UsageError
from svc.redaction import one_line
from svc.service.facts import SANDBOX_KEYS

if TYPE_CHECKING:
    from svc.cli.framework.inputs.times import Moments

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


_SECRET_MARK: Final = "_secret_"  # noqa: S105  the middle of every client secret


def open_control(session: Session, *, unlimited: bool = False) -> "SandboxClient":
    """Makes a client of the controls of the sandbox in the settings; use it in a `with` block.

    With `unlimited` a call waits as long as it takes, unless --max-time was given; its caller shows
    the progress.

    Raises:
        UsageError: the settings point at another machine.
        NetworkError: no sandbox runs there.
    """
    session.require_own_sandbox()
    settings = session.settings
    seconds = settings.control_timeout if unlimited else settings.max_time
    return sandbox_client(
        session,
        deadline=Deadline(session.clock, seconds),
        on_reply=session.note_reply,
        show_progress=show_no_progress if unlimited else None,
    )


def sandbox_client(
    session: Session,
    *,
    deadline: Deadline | None = None,
    on_reply: Callable[[Reply], None] = lambda _: None,
    show_progress: ShowProgress | None = None,
) -> SandboxClient:
    """Makes a client of the controls at the address of the settings, whatever answers there.

    Raises:
        UsageError: the settings point at another machine, or by plain HTTP elsewhere with a key
            that is no sandbox's: nothing at all is sent then (promise R21).
    """
    if session.base_url.is_clear:
        _ = session.key
    return SandboxClient(
        session.base_url,
        deadline=deadline,
        clock=session.clock,
        ca_bundle=session.settings.ca_bundle,
        on_reply=on_reply,
        show_progress=show_progress or session.show_progress(sandbox=True),
        on_version=session.note_sandbox,
    )


def client_secret(session: Session, control: "SandboxClient", order: str) -> str:
    """Returns the client secret that opens an order's checkout page.

    `order` is an id, or already a client secret, which is returned as it is.

    Raises:
        ApiError: there is no such order.
    """
    if _SECRET_MARK in order:
        return order
    call = in_mode(control_call("GET", "orders", order, "checkout_url"), session.settings.mode)
    return str(control.send(call).data["client_secret"])


def ask(session: Session, call: Call, *, unlimited: bool = False) -> Reply:
    """Uses one control in the mode of the settings.

    Raises:
        UsageError: what answers is not a sandbox.
        ApiError: the sandbox refused the call.
        NetworkError, OutcomeUnknown: the sandbox gave no answer.
    """
    with open_control(session, unlimited=unlimited) as control:
        return control.send(in_mode(call, session.settings.mode))


def call_and_show(
    session: Session,
    method: Method,
    *steps: str,
    body: Body | None = None,
    params: QueryParams = (),
) -> None:
    """Uses one control, as `control_call` names it, and prints what it answers."""
    reply = ask(session, control_call(method, *steps, body=body, params=params))
    show(session, reply, kind=_KINDS.get("/".join(steps), ""))


def call_and_show_page(session: Session, name: str, **query: Any) -> None:
    """Reads one page of a list, and prints it with the command for the next one."""
    given = {key: value for key, value in query.items() if value is not None}
    reply = ask(session, control_call("GET", name, params=given))
    following = _next_page(f"sandbox {name}", given, reply.data)
    show(session, reply, next_command=following, kind=_KINDS[name])


# What a list of the controls holds, for a CSV without rows.
_KINDS: Final = {
    "deliveries": "delivery",
    "emails": "email",
    "events": "event",
    "requests": "logged_request",
    "webhook_endpoints": "webhook_endpoint",
}


def show(
    session: Session, reply: Reply, *, next_command: str | None = None, kind: str = ""
) -> None:
    """Prints an answer; `kind` is as in `Output.answer`."""
    session.out.answer(reply.text, reply.data, next_command=next_command, kind=kind)


def _next_page(command: str, query: Mapping[str, Any], page: Any) -> str | None:
    if not page.get("has_more") or not page.get("data"):
        return None
    following = {**query, "starting_after": page["data"][-1]["id"]}
    options = ((f"--{name.replace('_', '-')}", str(value)) for name, value in following.items())
    return shlex.join(["svc", *command.split(), *(word for pair in options for word in pair)])


_SECONDS: Final = 3.0
_FRESH_SECONDS: Final = 1.0
_Found = TypeVar("_Found")


def refuse_expired_key(session: Session, intent: Intent, format_command: FormatCommand) -> None:
    """Asks a sandbox on this machine how old a request's key is by its clock.

    A request that cannot have been carried out is not asked about: its 24 hours begin anew.

    Raises:
        OutcomeUnknown, Conflict: the key is too old to be sent again; nothing was sent.
    """
    if not (intent.is_unresolved or intent.state == "done"):
        return
    ages = idempotency_ages_here(session)
    if ages is None or ages.age(intent) < KEY_SAFE_SECONDS:
        return
    if intent.state == "done":
        raise KEY_SPENT.about(intent)
    raise FORGOTTEN.about(intent, format_command, now=utc(ages.now))


def idempotency_ages_here(session: Session) -> IdempotencyAges | None:
    """Reads a sandbox's ages of idempotency keys; None where the service is not a sandbox."""
    return _ask_sandbox(session, idempotency_ages) if session.base_url.may_be_sandbox else None


def sandbox_state(session: Session) -> tuple[float, str | None] | None:
    """Reads a sandbox's time (Unix seconds) and the id that its state has until the next reset.

    None where the service is not a sandbox.
    """
    return _ask_sandbox(session, state_of) if is_sandbox(session) else None


class ServedClock:
    """A sandbox's clock, whose time is asked for again when a second has passed.

    A clock that is turned within that second makes a request look older than it is, never younger.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_sandbox = is_sandbox(session)
        self._said: float | None = None
        self._asked_at = float("-inf")

    def now(self) -> float | None:
        """Unix seconds on the sandbox's clock; None of any other service."""
        if not self._is_sandbox:
            return None
        now = self._session.clock.monotonic()
        if now - self._asked_at >= _FRESH_SECONDS:
            self._asked_at = now
            self._said = _ask_sandbox(self._session, clock_of)
            self._is_sandbox = self._said is not None
        return self._said


def read_sandbox_clock(session: Session) -> float | None:
    """Reads a sandbox's time (Unix seconds); None where key or settings name no sandbox."""
    return _ask_sandbox(session, clock_of) if is_sandbox(session) else None


def sandbox_clock(session: Session) -> float | None:
    """Reads the time of whatever sandbox answers at a local address; needs no key."""
    address = session.settings.address
    may_be_sandbox = address is not None and address.may_be_sandbox
    return _ask_sandbox(session, clock_of) if may_be_sandbox else None


def moments(session: Session, *, ahead: bool = False, local: bool = False) -> "Moments":
    """Returns the parser of typed times, by a sandbox's clock or else this machine's.

    `local` uses this machine's clock alone, for records that lie on this machine; `ahead` is for
    times in the future. The clock is asked only where a duration or a word such as `yesterday`
    needs it.
    """
    from svc.cli.framework.inputs.times import Moments

    def now() -> float:
        said = None if local else sandbox_clock(session)
        return session.clock.now() if said is None else said

    return Moments(now, utc=bool(session.given.everywhere.utc), ahead=ahead)


def is_sandbox(session: Session) -> bool:
    """Whether the key or the settings say that the address is a sandbox's; no request is sent."""
    from svc.keys.resolve import ROLLED_SOURCE

    if not session.base_url.may_be_sandbox:
        return False
    if session.settings.sandbox:
        return True
    key = session.key
    return key.secret in SANDBOX_KEYS.values() or key.source == ROLLED_SOURCE


def _ask_sandbox(session: Session, ask: Callable[[SandboxClient], _Found]) -> _Found | None:
    if not session.expected():
        return None
    limit = Deadline(session.clock, _SECONDS)
    with sandbox_client(session, deadline=limit, show_progress=show_no_progress) as control:
        try:
            session.require_own_sandbox()
            return ask(control)
        except (SvcError, LookupError, TypeError, ValueError):
            return None  # whatever it is, it has no clock that can be turned, or tells no time
