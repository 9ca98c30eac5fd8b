"""Builds the request for a target, with the received bytes unchanged (R52), and attempts' records.

A listener's pumps, `svc events replay`, `svc events examine` and the inspector send by a
`TargetSender`; a command target has a sender of its own (`svc.listen.running`) with the same
methods.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from svc.errors import UsageError
from svc.listen.forward.signing import HeaderSigner
from svc.listen.http.connection import ForwardLane, TargetConnection, TargetReply
from svc.listen.http.dial import Connect, open_connection
from svc.listen.output_records import Forwarded
from svc.listen.routes import AnyTarget
from svc.listen.targets import AS_USUAL, Target, TargetTrust
from svc.listen.values import value_class
from svc.service.facts import REDELIVERED_HEADER

FORWARD_SECONDS: Final = 8.0  # promise R51
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_OURS: Final = frozenset(("content-length", "transfer-encoding", "connection", "expect", "upgrade"))
_SIGNED: Final = "svc-"

HeaderText = tuple[str, str]


def parse_header(text: str) -> HeaderText:
    """Reads `Name: value` as given with `--header`.

    Raises:
        UsageError: it is malformed, frames the message, or would replace what was signed.
    """
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise UsageError(f"Malformed header {text!r}.", hint="Write it as 'Name: value'.")
    if name.lower() in _OURS or name.lower().startswith(_SIGNED):
        raise UsageError(f"The header {name} cannot be set.", hint="It belongs to the delivery.")
    return name, value


@value_class
class TargetRequest:
    """The bytes of one request; `signed_anew`: a header says that the signature is a new one."""

    data: bytes
    signed_anew: bool = False


class ForwardSender(Protocol):
    """Builds requests for one target and opens links to it, as `TargetSender` does.

    `seconds` is the limit for one attempt, None where that is the same for all targets.
    """

    @property
    def target(self) -> AnyTarget: ...

    @property
    def link(self) -> Callable[[], ForwardLane]: ...

    @property
    def seconds(self) -> float | None: ...

    def request(self, headers: bytes, body: bytes, redelivered: int = 0) -> TargetRequest: ...


class TargetSender:
    """Builds requests for one target.

    `sign` may replace the signature of a delivery; without `sign` it is sent as it came.

    Attributes:
        link: gives a connection to the target, opened with the first request.
    """

    seconds = None

    def __init__(
        self,
        target: Target,
        extra: Sequence[HeaderText] = (),
        connect: Connect = open_connection,
        sign: HeaderSigner | None = None,
        trust: TargetTrust = AS_USUAL,
    ) -> None:
        self.target = target
        self.link = partial(TargetConnection, target, trust.context(target), connect)
        self._sign = sign
        self._replaced = {name.lower().encode() for name, _ in extra}
        host = [] if b"host" in self._replaced else [("Host", target.authority)]
        lines = [f"{name}: {value}\r\n" for name, value in (*host, *extra)]
        self._start = f"POST {target.path} HTTP/1.1\r\n{''.join(lines)}".encode("latin-1")

    def request(self, headers: bytes, body: bytes, redelivered: int = 0) -> TargetRequest:
        """Returns what to send: the sender's own header lines and the body, as received.

        An event that a target may have had already says so.
        """
        signed_anew = False
        if self._sign is not None:
            headers, signed_anew = self._sign(headers, body)
        if redelivered:
            headers += b"%s: %d\r\n" % (REDELIVERED_HEADER.encode(), redelivered)
        if self._replaced:
            lines = headers.splitlines(keepends=True)
            kept = [line for line in lines if line.split(b":")[0].lower() not in self._replaced]
            headers = b"".join(kept)
        data = b"%s%sContent-Length: %d\r\n\r\n%s" % (self._start, headers, len(body), body)
        return TargetRequest(data, signed_anew)


def build_record(
    reply: TargetReply,
    target: AnyTarget,
    event: tuple[str, str],
    now: float,
    attempt: int,
    retry_in: float | None = None,
    *,
    signed_anew: bool = False,
) -> Forwarded:
    """Returns an attempt that ended at `now` (Unix seconds) as a record; `event` is id and type."""
    head = (now, *event, str(target), reply.status, reply.milliseconds, attempt)
    return Forwarded(*head, reply.error, reply.body, retry_in, signed_anew)
