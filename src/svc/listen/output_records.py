"""The records of a listener: a value class for each thing that happens while it runs.

`listener`, `ingest`, `forward` and `log` emit them; `cli.events.screen` prints them as lines or
JSON, and the inspector counts them.
"""

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from typing import Any, ClassVar

from svc.listen.values import value_class
from svc.service.facts import is_success


class FieldRecord:
    """A record whose JSON form is its fields, in order; times as text, bytes as UTF-8.

    `kind` is the record's name; `state` tells two records of one name apart (up, down, replaced).
    """

    __slots__: tuple[str, ...] = ()
    kind: ClassVar[str]
    state: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        values = {each: getattr(self, each) for each in self.__slots__}
        said = {name: _convert_plain(name, value) for name, value in values.items()}
        state = {"state": self.state} if self.state else {}
        return {"record": self.kind, "time": said.pop("time"), **state, **said}


def _convert_plain(name: str, value: Any) -> Any:
    if name == "time":
        return iso(value)
    if name in ("seconds", "milliseconds"):
        return round(value, 3)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Ready(FieldRecord):
    """Deliveries are accepted from now on. `events` is empty when the endpoint is not ours.

    `inspector` is the address of the page that shows them, if there is one. `pending` events of
    earlier runs are still to be forwarded, or, with --no-resume, are left alone.
    """

    kind = "ready"

    time: float
    url: str
    targets: tuple[str, ...]
    events: tuple[str, ...]
    mode: str
    endpoint: str | None
    inspector: str | None
    pending: int = 0


@value_class
class EventReceived:
    """A verified delivery, kept in the inbox. `amount` is in minor units of `currency`.

    `duplicate`: the event came before. `out_of_order`: a later change of the same object came
    before. `wrong_mode`: a live event on a test listener or the reverse; it is not forwarded.
    `came_at` is when a receiver elsewhere took it (unix seconds), who verified it; `end_to_end`:
    so did this listener. `redelivered` counts how often it was handed out before.
    """

    time: float
    id: str
    type: str
    object_id: str
    created: str
    livemode: bool | None
    amount: int | None
    currency: str | None
    duplicate: bool
    out_of_order: bool
    wrong_mode: bool
    payload: bytes
    came_at: float | None = None
    redelivered: int = 0
    end_to_end: bool = False

    def to_dict(self) -> dict[str, Any]:
        verified: bool | str = True
        log: dict[str, Any] = {}
        if self.came_at is not None:
            verified = "end_to_end" if self.end_to_end else "by_receiver"
            log = {"came_at": iso(self.came_at), "redelivered": self.redelivered}
        return {
            "record": "event",
            "time": iso(self.time),
            "id": self.id,
            "type": self.type,
            "created": self.created,
            "livemode": self.livemode,
            "object_id": self.object_id,
            "verified": verified,
            "duplicate": self.duplicate,
            "out_of_order": self.out_of_order,
            "wrong_mode": self.wrong_mode,
            **log,
            "payload_base64": base64.b64encode(self.payload).decode(),
        }


@dataclass(frozen=True, slots=True)
class Rejected:
    """A delivery that was not accepted: why, in the verifier's word and in a sentence.

    Never carries the payload (promise R49). `size` is in bytes. `headers` are those that came,
    for the inspector alone. `cause` is a word for what is behind the reason, where more is known.
    `verified`: it was authentic, and only not kept.
    """

    time: float
    reason: str
    message: str
    size: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    cause: str = ""
    verified: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "rejected",
            "time": iso(self.time),
            "reason": self.reason,
            "cause": self.cause or self.reason,
            "message": self.message,
            "verified": self.verified,
            "size": self.size,
        }


@value_class
class Forwarded(FieldRecord):
    """One attempt to hand an event to a target; `status` is None when no answer came.

    `reply` is the beginning of the answer's body. `retry_in` is in seconds, None when this was
    the last attempt. `signed_anew`: the event's own signature would have been too old.
    """

    kind = "forward"

    time: float
    id: str
    type: str
    url: str
    status: int | None
    milliseconds: float
    attempt: int
    error: str | None
    reply: bytes
    retry_in: float | None
    signed_anew: bool = False

    @property
    def succeeded(self) -> bool:
        """True for a 2xx answer (spec: Delivery 1)."""
        return is_success(self.status)


@dataclass(frozen=True, slots=True)
class TargetAway(FieldRecord):
    """A target that cannot be reached, or does not answer, is left alone; emitted every 30 s.

    `events` is how many wait for it, `seconds` for how long it was left alone, and `reason` why.
    `next_in` (seconds) is when an event is tried there; None: as soon as its port opens.
    """

    kind = "waiting"

    time: float
    url: str
    events: int
    reason: str
    seconds: float
    next_in: float | None


@dataclass(frozen=True, slots=True)
class Left(FieldRecord):
    """An event of an earlier run that is not forwarded in this run either (`--no-resume`).

    `attempts` counts those at the target that was tried most often.
    """

    kind = "left"

    time: float
    id: str
    type: str
    object_id: str
    attempts: int


@dataclass(frozen=True, slots=True)
class TunnelUp(FieldRecord):
    """The public address leads here from now on.

    `endpoint` is the one that the service delivers to, None when it is not ours: another address
    needs another endpoint.
    """

    kind = "tunnel"
    state = "up"

    time: float
    url: str
    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class TunnelDown(FieldRecord):
    """The public address leads nowhere until the next TunnelUp."""

    kind = "tunnel"
    state = "down"

    time: float
    url: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class LogState:
    """A team's log cannot be read for a `reason`, or it can again (None)."""

    time: float
    address: str
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        state = {"record": "log", "time": iso(self.time), "state": "down" if self.reason else "up"}
        why = {"reason": self.reason} if self.reason else {}
        return {**state, "address": self.address, **why}


@dataclass(frozen=True, slots=True)
class Missed(FieldRecord):
    """A team's log dropped `events` for their age before this listener had read them."""

    kind = "missed"

    time: float
    events: int
    address: str


@dataclass(frozen=True, slots=True)
class StoreState:
    """Deliveries cannot be kept for a `reason` and are answered 503, or they can again (None)."""

    time: float
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        state = {
            "record": "store",
            "time": iso(self.time),
            "state": "down" if self.reason else "up",
        }
        return {**state, "reason": self.reason} if self.reason else state


@dataclass(frozen=True, slots=True)
class BugMet(FieldRecord):
    """A bug of svc that ended one connection or attempt; the listener goes on.

    `error` is the exception's name, `place` the function and line, `count` how often it came in
    the last minute.
    """

    kind = "bug"

    time: float
    error: str
    place: str
    count: int


@dataclass(frozen=True, slots=True)
class LogReplaced(FieldRecord):
    """A team's log is another one than this listener has read, or an older copy of it.

    This listener had read up to number `read`; the log now holds `events`, and its last number is
    `gone` below `read`. Whether unread events were lost too is not known.
    """

    kind = "log"
    state = "replaced"

    time: float
    address: str
    read: int
    events: int
    gone: int

    @property
    def message(self) -> str:
        """What has happened and what brings the events back."""
        return (
            f"The log is another one than before, or an older copy: {self.read:,} events were read "
            f"here, and it holds {self.events:,}. {max(self.gone, 1):,} or more may be gone; "
            f"on the receiver: svc events log refill --to {self.address}"
        )


@dataclass(frozen=True, slots=True)
class Summary(FieldRecord):
    """The counts of a whole run. `refused`: requests that were no deliveries (other path ...).

    `failed`: events that a target did not take for good. `pending`: events that are still to be
    forwarded, at the next start if need be. `until_reached` is None when nothing was waited for.
    """

    kind = "summary"

    time: float
    seconds: float
    received: int
    duplicates: int
    rejected: int
    refused: int
    withheld: int
    forwarded: int
    failed: int
    pending: int
    until_reached: bool | None


ListenerRecord = (
    Ready
    | EventReceived
    | Rejected
    | Forwarded
    | TargetAway
    | Left
    | TunnelUp
    | TunnelDown
    | LogState
    | Missed
    | StoreState
    | BugMet
    | LogReplaced
    | Summary
)


def name_status(status: int) -> str:
    """Writes an HTTP status with its name, if it has one: `404 Not Found`."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def iso(seconds: float) -> str:
    """Writes unix seconds as UTC with milliseconds."""
    return _format_millisecond(int(seconds * 1000))


@lru_cache(maxsize=4)  # in a burst, many records are of one
def _format_millisecond(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_format_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=2)
def _format_second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
