"""Waiting until a refund or payout settles."""

from collections.abc import Callable
from dataclasses import dataclass

from svc.client.call import Call
from svc.client.client import Client
from svc.client.exchange import Deadline
from svc.client.reply import Reply
from svc.client.resources import payouts, refunds
from svc.errors import CheckFailed, NetworkError, RateLimited, ServerError, SvcError
from svc.spec import PAYOUT_FINAL, PAYOUT_STATUSES, REFUND_FINAL, REFUND_STATUSES

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 5.0
_GROWTH = 1.5
_PASSING = (NetworkError, RateLimited, ServerError)


@dataclass(frozen=True, slots=True)
class Settling:
    """How an object that settles later is read, and which of its states are known and final."""

    name: str
    retrieve: Callable[[str], Call]
    known: tuple[str, ...]
    final: tuple[str, ...]


REFUND = Settling("refund", refunds.retrieve, REFUND_STATUSES, REFUND_FINAL)
PAYOUT = Settling("payout", payouts.retrieve, PAYOUT_STATUSES, PAYOUT_FINAL)


def wait(
    client: Client,
    reply: Reply,
    settling: Settling,
    *,
    seconds: float,
    on_status: Callable[[str, bool], None] | None = None,
    say: Callable[[str], str] = "svc {}".format,
) -> Reply:
    """Reads an object again and again until its status is final; gives the last answer.

    `seconds` is the time that is left in all. `on_status` is told each new status and whether it is
    a known one; `say` writes a command line for hints. A final status may well be `failed`: that
    is for the caller to judge.

    Raises:
        CheckFailed: when no final status was reached or the object could not be read any more. The
            call that made the object was carried out all the same.
    """
    return _Watch(client, settling, Deadline(client.clock, seconds), on_status, say).run(reply)


class _Watch:
    def __init__(
        self,
        client: Client,
        settling: Settling,
        deadline: Deadline,
        on_status: Callable[[str, bool], None] | None,
        say: Callable[[str], str],
    ) -> None:
        self._client = client
        self._settling = settling
        self._deadline = deadline
        self._on_status = on_status
        self._say = say
        self._status = ""

    def run(self, reply: Reply) -> Reply:
        identifier, pause = reply.data["id"], FIRST_PAUSE
        while not self._is_final(reply):
            if self._deadline.left() <= 0:
                raise self._unsettled(identifier, "the time is up")
            self._client.clock.sleep(min(pause, self._deadline.left()))
            pause = min(pause * _GROWTH, LONGEST_PAUSE)
            reply = self._read(identifier) or reply
        return reply

    def _is_final(self, reply: Reply) -> bool:
        status = str(reply.data.get("status"))
        if status != self._status and self._on_status is not None:
            self._on_status(status, status in self._settling.known)
        self._status = status
        return status in self._settling.final

    def _read(self, identifier: str) -> Reply | None:
        left = self._deadline.left()
        if left <= 0:
            return None
        try:
            return self._client.send(self._settling.retrieve(identifier), within=left)
        except _PASSING:
            return None
        except SvcError as error:
            raise self._unsettled(identifier, error.message) from error

    def _unsettled(self, identifier: str, why: str) -> CheckFailed:
        return CheckFailed(
            f"The {self._settling.name} {identifier} was made, but is still {self._status!r}: "
            f"{why}.",
            code="not_settled",
            outcome="done",
            hint=f"Look again later: {self._say(f'get {identifier}')}",
        )
