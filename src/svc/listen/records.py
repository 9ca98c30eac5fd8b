"""What happens while listening, as values; whoever shows them decides how."""

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from svc.listen.values import value_class


@dataclass(frozen=True, slots=True)
class Ready:
    """Deliveries are accepted from now on. `events` is empty when the endpoint is not ours.

    `inspector` is the address of the page that shows them, if there is one.
    """

    time: float
    url: str
    targets: tuple[str, ...]
    events: tuple[str, ...]
    mode: str
    endpoint: str | None
    inspector: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "ready",
            "time": iso(self.time),
            "url": self.url,
            "targets": list(self.targets),
            "events": list(self.events),
            "mode": self.mode,
            "endpoint": self.endpoint,
            "inspector": self.inspector,
        }


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
        return {
            "record": "event",
            "time": iso(self.time),
            "id": self.id,
            "type": self.type,
            "created": self.created,
            "livemode": self.livemode,
            "object_id": self.object_id,
            "verified": self._verified,
            "duplicate": self.duplicate,
            "out_of_order": self.out_of_order,
            "wrong_mode": self.wrong_mode,
            **self._from_log(),
            "payload_base64": base64.b64encode(self.payload).decode(),
        }

    @property
    def _verified(self) -> bool | str:
        if self.came_at is None:
            return True
        return "end_to_end" if self.end_to_end else "by_receiver"

    def _from_log(self) -> dict[str, Any]:
        if self.came_at is None:
            return {}
        return {"came_at": iso(self.came_at), "redelivered": self.redelivered}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A delivery that was not accepted: why, in the verifier's word and in a sentence.

    Never carries the payload (promise R49). `size` is in bytes. `headers` are those that came,
    for the inspector alone. `cause` is a word for what is behind the reason, where more is known.
    """

    time: float
    reason: str
    message: str
    size: int
    headers: tuple[tuple[bytes, bytes], ...] = ()
    cause: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "rejected",
            "time": iso(self.time),
            "reason": self.reason,
            "cause": self.cause or self.reason,
            "message": self.message,
            "verified": False,
            "size": self.size,
        }


@value_class
class Forwarded:
    """One attempt to hand an event to a target; `status` is None when no answer came.

    `reply` is the beginning of the answer's body. `retry_in` is in seconds, None when this was
    the last attempt.
    """

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

    @property
    def succeeded(self) -> bool:
        """True for a 2xx answer (spec: Delivery 1)."""
        return is_success(self.status)

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "forward",
            "time": iso(self.time),
            "id": self.id,
            "type": self.type,
            "url": self.url,
            "status": self.status,
            "milliseconds": round(self.milliseconds, 3),
            "attempt": self.attempt,
            "error": self.error,
            "reply": self.reply.decode("utf-8", "replace"),
            "retry_in": self.retry_in,
        }


@dataclass(frozen=True, slots=True)
class Left:
    """An event that an earlier run kept and did not forward, and that is left so in this one.

    `attempts` are those at the target that was tried most often.
    """

    time: float
    id: str
    type: str
    object_id: str
    attempts: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "left",
            "time": iso(self.time),
            "id": self.id,
            "type": self.type,
            "object_id": self.object_id,
            "attempts": self.attempts,
        }


@dataclass(frozen=True, slots=True)
class TunnelUp:
    """The public address leads here from now on.

    `endpoint` is the one that the service delivers to, None when it is not ours: another address
    needs another endpoint.
    """

    time: float
    url: str
    endpoint: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "tunnel",
            "time": iso(self.time),
            "state": "up",
            "url": self.url,
            "endpoint": self.endpoint,
        }


@dataclass(frozen=True, slots=True)
class TunnelDown:
    """The public address leads nowhere until the next TunnelUp."""

    time: float
    reason: str
    url: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "tunnel",
            "time": iso(self.time),
            "state": "down",
            "url": self.url,
            "reason": self.reason,
        }


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
class Missed:
    """So many events of a log were dropped for their age before this listener came back."""

    time: float
    events: int
    address: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "missed",
            "time": iso(self.time),
            "events": self.events,
            "address": self.address,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """What happened in all. `refused`: requests that were no deliveries (other path, host ...).

    `failed`: events that a target did not take for good. `pending`: events that are still to be
    forwarded, at the next start if need be. `until_reached` is None when nothing was waited for.
    """

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

    def to_dict(self) -> dict[str, Any]:
        return {
            "record": "summary",
            "time": iso(self.time),
            "seconds": round(self.seconds, 3),
            "received": self.received,
            "duplicates": self.duplicates,
            "rejected": self.rejected,
            "refused": self.refused,
            "withheld": self.withheld,
            "forwarded": self.forwarded,
            "failed": self.failed,
            "pending": self.pending,
            "until_reached": self.until_reached,
        }


Record = (
    Ready
    | EventReceived
    | Rejected
    | Forwarded
    | Left
    | TunnelUp
    | TunnelDown
    | LogState
    | Missed
    | Summary
)


def is_success(status: int | None) -> bool:
    """True for a 2xx answer (spec: Delivery 1)."""
    return status is not None and 200 <= status < 300  # noqa: PLR2004  what 2xx means


def iso(seconds: float) -> str:
    """Writes unix seconds as UTC with milliseconds."""
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1000):03d}Z"


@lru_cache(maxsize=2)
def _second(whole: int) -> str:
    return f"{datetime.fromtimestamp(whole, UTC):%Y-%m-%dT%H:%M:%S}"
