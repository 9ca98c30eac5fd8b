"""What one attempt means for its request, as values."""

from enum import Enum
from typing import Any, NamedTuple

from svc.client.exchange import RawReply, Trouble


class Refusal(NamedTuple):
    """The fields of an error body, of either shape (assumptions: Error codes)."""

    message: str
    type: str | None = None
    code: str | None = None
    param: str | None = None
    request_id: str | None = None


class Meaning(Enum):
    """What an attempt means for the request."""

    DONE = "done"
    REFUSED = "a definite 4xx"
    LIMITED = "429"
    BUSY = "409: the same key is in use by a request that still runs"
    FAILING = "500, 502, 503 or 504"
    BROKEN = "another 5xx"
    REPEATED = "a 5xx that the service stored and replays"
    REDIRECT = "3xx"
    UNREADABLE = "a 2xx whose body is not what was asked for"
    FOREIGN = "a 2xx that answers another request"
    OVERSIZED = "a body over the limit"
    UNREACHED = "not sent; worth another try"
    UNTRUSTED = "not sent; another try would end the same"
    LOST = "sent, no answer"


class Finding(NamedTuple):
    """One attempt, understood.

    Attributes:
        detail: one line for people: why this is not DONE.
        trouble: of an attempt without an answer, what happened.
        data: the parsed body of a DONE attempt.
        text: the body of a DONE attempt as sent.
        slices: of a DONE list, the exact text of each entry.
        retry_after: seconds that the service asks to wait, already checked (promise R8).
    """

    meaning: Meaning
    detail: str = ""
    trouble: Trouble | None = None
    raw: RawReply | None = None
    data: Any = None
    text: str = ""
    slices: tuple[str, ...] = ()
    refusal: Refusal | None = None
    retry_after: float | None = None
    request_id: str | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status, where an answer came."""
        return None if self.raw is None else self.raw.status
