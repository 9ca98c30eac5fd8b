"""Waiting until an object has the status that is wanted, or settles otherwise."""

from collections.abc import Callable
from dataclasses import dataclass

from svc import service
from svc.client.call import Call
from svc.client.client import Client
from svc.client.exchange import Deadline
from svc.client.operations import retrieval
from svc.client.reply import Reply
from svc.errors import CheckFailed, NetworkError, RateLimited, ServerError, SvcError

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 5.0
_GROWTH = 1.5
_PASSING = (NetworkError, RateLimited, ServerError)


@dataclass(frozen=True, slots=True)
class Settling:
    """Which states of an object are known, which end a wait, and which of those are wanted."""

    name: str
    known: tuple[str, ...]
    final: tuple[str, ...]
    wanted: tuple[str, ...]


def find_settling(kind: str, until: tuple[str, ...] = ()) -> Settling:
    """How objects of a name, such as `refund`, settle.

    Wanted are the states of `until`, or without them the final ones that mean no failure.
    """
    noun = service.noun(kind)
    if noun is None:
        raise KeyError(kind)
    good = tuple(word for word in noun.final if word not in noun.failures)
    return Settling(kind, noun.statuses, (*until, *noun.final), until or good)


def wait(
    client: Client,
    reply: Reply,
    settling: Settling,
    *,
    seconds: float,
    on_status: Callable[[str, bool], None] = lambda _status, _known: None,
    hint: str | None = None,
) -> Reply:
    """Reads an object again and again until its status is final; gives the last answer.

    `seconds` is the time that is left in all. `on_status` is told each new status and whether it is
    a known one; `hint` says what to do where it does not settle in time. A final status may well
    be `failed`: that is for the caller to judge.

    Raises:
        CheckFailed: when no final status was reached or the object could not be read any more. A
            call that made the object was carried out all the same.
    """
    deadline, identifier = Deadline(client.clock, seconds), reply.data["id"]
    status, pause = "", FIRST_PAUSE

    def build_unsettled(why: str) -> CheckFailed:
        return CheckFailed(
            f"The {settling.name} {identifier} is still {status!r}: {why}.",
            code="not_settled",
            outcome="done",
            hint=hint,
        )

    while True:
        before, status = status, str(reply.data.get("status"))
        if status != before:
            on_status(status, status in settling.known)
        if status in settling.final:
            return reply
        if deadline.seconds_left() <= 0:
            raise build_unsettled("the time is up")
        client.clock.sleep(min(pause, deadline.seconds_left()))
        pause = min(pause * _GROWTH, LONGEST_PAUSE)
        try:
            reply = (
                _read(client, retrieval(settling.name, identifier), deadline.seconds_left())
                or reply
            )
        except SvcError as error:
            raise build_unsettled(error.message) from error


def _read(client: Client, call: Call, seconds: float) -> Reply | None:
    """Reads once more; None where there is no time for it, or where the trouble may pass."""
    try:
        return client.send(call, within=seconds) if seconds > 0 else None
    except _PASSING:
        return None
