"""Waits until an object has a wanted or another final status, by reading it again and again.

`cli.framework.sending` calls `wait` for `--wait` and `--until`: the first answer in, the last out.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from svc import service
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
    """The known statuses of an object, those that end a wait, and the wanted ones among these."""

    name: str
    known: tuple[str, ...]
    final: tuple[str, ...]
    wanted: tuple[str, ...]


def find_settling(kind: str, until: tuple[str, ...] = ()) -> Settling:
    """The statuses for waiting for a kind of object, such as `refund`.

    The wanted statuses are `until`, or else the final ones that mean no failure.
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
    """Polls an object until its status is final; returns the last answer.

    `seconds` is the total time limit. `on_status` is called with each new status and whether it is
    a known one; `hint` is the advice if the time is up. A final status may be `failed`: the caller
    decides what that means.

    Raises:
        CheckFailed: no final status was reached in time, or the object could not be read any more.
            The call that created the object was carried out all the same.
    """
    deadline, identifier = Deadline(client.clock, seconds), reply.data["id"]
    status, pause = "", FIRST_PAUSE

    def build_unsettled(why: str, advice: str | None = hint) -> CheckFailed:
        return CheckFailed(
            f"The {settling.name} {identifier} {why}.",
            code="not_settled",
            outcome="done",
            hint=advice,
        )

    while True:
        before, status = status, str(reply.data.get("status"))
        if status != before:
            on_status(status, status in settling.known)
        if status in settling.final:
            return reply
        if deadline.seconds_left() <= 0:
            raise build_unsettled(f"is still {status!r}: the time is up")
        client.clock.sleep(min(pause, deadline.seconds_left()))
        pause = min(pause * _GROWTH, LONGEST_PAUSE)
        try:
            with suppress(*_PASSING):
                if (left := deadline.seconds_left()) > 0:
                    reply = client.send(retrieval(settling.name, identifier), within=left)
        except SvcError as error:
            why = f"was {status!r}, and cannot be read any more: {error.message.rstrip('.')}"
            raise build_unsettled(why, error.hint) from error
