"""The values that pass between the client and its wire: request, answer, failure, deadline.

Named tuples here and in the neighbouring modules: every command makes these classes at its start,
and a frozen dataclass takes ten times as long (0.5 ms each).

An *exchange* is one HTTP request with its answer. `client`, `sandbox` and `probe` pass a
`WireRequest` to a `Wire` and get a `RawReply` or a `Failure`; `wire.sockets` implements `Wire`,
tests pass others.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeAlias

from svc.clock import Clock
from svc.service.facts import is_success

if TYPE_CHECKING:
    from typing import BinaryIO
    from zlib import _Decompress


class Deadline:
    """A moment on the monotonic clock, at which waiting for an answer ends."""

    __slots__ = ("_at", "_clock")

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._at = clock.monotonic() + seconds

    def seconds_left(self) -> float:
        """Seconds that remain; zero or less once it has passed."""
        return self._at - self._clock.monotonic()

    def within(self, seconds: float) -> "Deadline":
        """Returns a deadline in `seconds` from now, but not after this one."""
        return Deadline(self._clock, min(seconds, self.seconds_left()))


Headers: TypeAlias = tuple[tuple[str, str], ...]


class WireRequest(NamedTuple):
    """One complete request; its headers contain the API key, so its repr hides them.

    Attributes:
        answer_max: the maximum size of the answer in bytes; None for the default of the wire.
        file: the file to which the body of a 2xx is written, instead of the reply's body.
    """

    method: str
    target: str
    headers: Headers
    body: bytes = b""
    answer_max: int | None = None
    file: "BinaryIO | None" = None

    def __repr__(self) -> str:
        return f"WireRequest({self.method} {self.target})"


class RawReply(NamedTuple):
    """An unclassified answer: header names in lower case, the body without gzip and chunks.

    Attributes:
        complete: False if the body has no length and ended with the connection, or if the rest of
            an error's overlong body was not read.
    """

    status: int
    headers: Headers
    body: bytes
    complete: bool = True


class Trouble(Enum):
    """The reason why an attempt has no answer."""

    NO_ADDRESS = "the host name could not be resolved"
    NO_CONNECTION = "no connection could be made"
    CERTIFICATE = "the server's certificate is not valid"
    NO_TLS = "the TLS handshake failed"
    STRANGER = "what answers there gets no key"
    NO_PROXY = "the proxy cannot be reached"
    PROXY = "the proxy refused the connection"
    PROXY_LOGIN = "the proxy wants a user and a password"
    CLOSED = "the connection was closed before an answer came"
    TIMEOUT = "no answer came in time"
    TRUNCATED = "the answer was cut off"
    GARBLED = "the answer is not valid HTTP"
    TOO_LARGE = "the answer is larger than this program reads"


class Failure(NamedTuple):
    """An attempt without an answer.

    Attributes:
        sent: whether any byte of the request may have been sent (promise R10).
        detail: the system's message on one line; may be empty.
    """

    trouble: Trouble
    sent: bool
    detail: str = ""


class Wire(Protocol):
    """Carries one request at a time."""

    def exchange(
        self, request: WireRequest, *, deadline: Deadline, connect_seconds: float
    ) -> RawReply | Failure:
        """Sends a request and reads its answer; an error of the network is a `Failure`."""

    def close(self) -> None:
        """Closes the kept connection."""


class WireOwner:
    """The base of clients that own a wire and close it at the end of a `with` block."""

    _wire: Wire

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._wire.close()


# Called with each attempt's number and the status of the attempt before, to show progress.
OnAttempt: TypeAlias = Callable[[int, int | None], None]
# A block in which the answer to a method and a path is waited for.
ShowProgress: TypeAlias = Callable[[str, str], AbstractContextManager[OnAttempt]]


def show_no_progress(_method: str, _path: str) -> AbstractContextManager[OnAttempt]:
    """Waits without showing progress."""
    return nullcontext(lambda _number, _status: None)


def header(headers: Headers, name: str) -> str | None:
    """The value of a header; several of one name are joined by commas."""
    wanted = name.lower()
    values = [value for key, value in headers if key == wanted]
    return ", ".join(values) if values else None


MIB = 1024 * 1024
BODY_MAX = 16 * MIB
# An error's first megabyte says all that it has to say; the status has said the rest.
ERROR_BODY_MAX = MIB
_GZIP = 31  # zlib's word for: gzip header, largest window


class WireBroken(Exception):  # noqa: N818  it describes a connection
    """An exchange went wrong on the wire; becomes a `Failure` and never leaves this package."""

    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(detail)
        self.trouble = trouble
        self.detail = detail


class Collector:
    """Collects a body piece by piece, up to `most` bytes."""

    def __init__(
        self,
        status: int,
        headers: Headers,
        most: int = BODY_MAX,
        file: "BinaryIO | None" = None,
    ) -> None:
        """The body of a 2xx is written to `file` where one is given."""
        self._strict = is_success(status)
        self._file = file if self._strict else None
        self._most = most
        self._left = most if self._strict else ERROR_BODY_MAX
        if self._strict and int(header(headers, "content-length") or 0) > most:
            raise self._too_large()
        self._parts: list[bytes] = []
        self._gunzip = self._decoder(header(headers, "content-encoding") or "identity")
        self.full = False

    def add(self, data: bytes) -> None:
        """Adds the next piece; raises WireBroken: a 2xx is too large, or its gzip is invalid."""
        plain = data if self._gunzip is None else self._inflate(self._gunzip, data)
        if len(plain) > self._left:
            if self._strict:
                raise self._too_large()
            self.full = True
        kept = plain[: self._left]
        self._left -= len(kept)
        if self._file is None:
            self._parts.append(kept)
        else:
            self._file.write(kept)

    def finish(self) -> bytes:
        """Returns the complete body; raises WireBroken: the gzip data of a 2xx ends early."""
        begun = self._left < self._most
        if self._strict and begun and self._gunzip is not None and not self._gunzip.eof:
            raise WireBroken(Trouble.TRUNCATED, "the compressed body ends early")
        return b"".join(self._parts)

    def _too_large(self) -> WireBroken:
        return WireBroken(Trouble.TOO_LARGE, f"over {self._most // MIB} MiB")

    def _decoder(self, encoding: str) -> "_Decompress | None":
        name = encoding.strip().lower()
        if name in ("gzip", "x-gzip"):
            from zlib import decompressobj

            return decompressobj(_GZIP)
        if name not in ("", "identity"):
            if self._strict:
                raise WireBroken(
                    Trouble.GARBLED, f"encoded as {name[:20]!r}, which was not asked for"
                )
            self._left = 0
        return None

    def _inflate(self, gunzip: "_Decompress", data: bytes) -> bytes:
        from zlib import error

        try:
            plain = gunzip.decompress(data, self._left + 1)
        except error as problem:
            if self._strict:
                raise WireBroken(Trouble.GARBLED, str(problem)) from None
            self.full = True
            return b""
        if gunzip.unused_data and self._strict:
            raise WireBroken(Trouble.GARBLED, "data follows the compressed body")
        return plain
