"""What passes between the sender and the wire, as values.

Named tuples here and in the neighbouring modules: every command makes these classes at its start,
and a frozen dataclass takes ten times as long (0.5 ms each).
"""

from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from svc.client.deadline import Deadline

Headers: TypeAlias = tuple[tuple[str, str], ...]


class WireRequest(NamedTuple):
    """One request, whole: its headers hold the API key, so they are never shown.

    Attributes:
        answer_max: bytes that its answer may have; None for what the wire takes.
    """

    method: str
    target: str
    headers: Headers
    body: bytes = b""
    answer_max: int | None = None

    def __repr__(self) -> str:
        return f"WireRequest({self.method} {self.target})"


class RawReply(NamedTuple):
    """An answer as it came: header names in lower case, the body decoded of gzip and chunks.

    Attributes:
        complete: false where the body ended with the connection and nothing tells its length, or
            where the rest of an error's overlong body was left unread.
    """

    status: int
    headers: Headers
    body: bytes
    complete: bool = True


class Trouble(Enum):
    """Why an attempt brought no answer."""

    NO_ADDRESS = "the host name could not be resolved"
    NO_CONNECTION = "no connection could be made"
    CERTIFICATE = "the server's certificate is not valid"
    NO_TLS = "the TLS handshake failed"
    STRANGER = "whatever answers there gets no key"
    PROXY = "the proxy refused the connection"
    CLOSED = "the connection was closed before an answer came"
    TIMEOUT = "no answer came in time"
    TRUNCATED = "the answer was cut off"
    GARBLED = "the answer is not valid HTTP"
    TOO_LARGE = "the answer is larger than this program reads"


class Failure(NamedTuple):
    """An attempt without an answer.

    Attributes:
        sent: whether any byte of the request may have left (promise R10).
        detail: the system's words, one line, may be empty.
    """

    trouble: Trouble
    sent: bool
    detail: str = ""


class Wire(Protocol):
    """Carries one request at a time."""

    def exchange(
        self, request: WireRequest, *, deadline: Deadline, connect_seconds: float
    ) -> RawReply | Failure:
        """Sends a request and reads its answer; never raises for what a network may do."""

    def close(self) -> None:
        """Closes what is kept open."""


def header(headers: Headers, name: str) -> str | None:
    """The value of a header; several of one name are joined by commas."""
    wanted = name.lower()
    values = [value for key, value in headers if key == wanted]
    return ", ".join(values) if values else None
