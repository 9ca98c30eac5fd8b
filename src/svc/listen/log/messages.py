"""An event as a message of the log, and back: the body as it came, what came with it beside it."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from svc import signature
from svc.errors import SignatureError
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogHeaders, Message
from svc.listen.verify.verify import Delivery, passed_on, read_facts
from svc.service.facts import SIGNATURE_HEADER, Mode

ID_HEADER: Final = "Nats-Msg-Id"
_STREAM: Final = "Nats-Expected-Stream"
_RECEIVED: Final = "Svc-Received-At"
_LINES: Final = "Svc-Lines"
_SIGNATURE: Final = SIGNATURE_HEADER.lower().encode()
_ACK_OLD, _ACK_NEW = 9, 11  # how many words the subject of a receipt has; the newer may have more


@dataclass(frozen=True, slots=True)
class Ticket:
    """The place of a message: in the stream, in what its consumer was given, and how often."""

    seq: int
    number: int
    delivered: int
    pending: int


def headers_of(delivery: Delivery, address: LogAddress, mode: Mode) -> LogHeaders:
    """Gives what goes beside the body; the header lines in base64, so that bytes stay bytes."""
    return {
        ID_HEADER: delivery.facts.id,
        _STREAM: address.stream(mode),
        _RECEIVED: f"{delivery.received_at:.3f}",
        _LINES: base64.b64encode(delivery.headers).decode(),
    }


def size_of(headers: LogHeaders, body: bytes) -> int:
    """Counts the bytes of a message as the server does."""
    lines = sum(len(name) + len(value) + 4 for name, value in headers.items())
    return len(b"NATS/1.0\r\n\r\n") + lines + len(body)


def delivery_of(message: Message, now: float, secrets: Sequence[str]) -> Delivery:
    """Reads a message; `now` (unix seconds) is when it has come here.

    With `secrets` of the service's endpoint its signature is checked again, as of when it came.
    """
    facts = read_facts(message.body)
    try:
        given = base64.b64decode(message.headers.get(_LINES, ""), validate=True)
    except ValueError:
        given = b""
    lines = passed_on(_pairs(given), facts.id)  # again: others than receivers may publish too
    came_at = _number(message, now)
    end_to_end = bool(secrets) and _is_signed(message.body, lines, secrets, came_at)
    return Delivery(message.body, lines, now, facts, came_at, end_to_end)


def _pairs(lines: bytes) -> list[tuple[bytes, bytes]]:
    parts = (line.partition(b":") for line in lines.splitlines())
    return [(name, value.strip()) for name, _, value in parts]


def _is_signed(body: bytes, lines: bytes, secrets: Sequence[str], came_at: float) -> bool:
    values = [value for name, value in _pairs(lines) if name.lower() == _SIGNATURE]
    try:
        signature.verify(body, values, secrets, int(came_at))
    except SignatureError:
        return False
    return True


def ticket_of(reply: str) -> Ticket | None:
    """Reads the place of a message from the subject of its receipt."""
    words = reply.split(".")
    if len(words) >= _ACK_NEW:
        words = words[:2] + words[4:]
    if len(words) < _ACK_OLD:
        return None
    delivered, seq, number, _, pending = words[4:9]
    return Ticket(int(seq), int(number), int(delivered), int(pending))


def _number(message: Message, otherwise: float) -> float:
    try:
        return float(message.headers.get(_RECEIVED, ""))
    except ValueError:
        return otherwise
