"""Converts an event to a message of the team's log and back, and checks who wrote the message.

The body of a message is the event's, unchanged; its headers hold the rest. A message without the
proof of one of the team's receivers, or with malformed headers, is refused with a reason (R128).

`inboxes` writes messages by `headers_of`; `group`, `log_cursor` and `svc events audit` read them by
`delivery_of`; `failed` writes one into the log again by `put_again`.
"""

import base64
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from svc import signature
from svc.errors import SignatureError
from svc.listen.forward.signing import parse_signed_at
from svc.listen.http.wire import Header
from svc.listen.log import proof
from svc.listen.log.address import LogAddress
from svc.listen.log.connection import LogHeaders, Message
from svc.listen.verify.verify import Delivery, join_forwarded_headers, read_facts
from svc.service.facts import ATTEMPT_HEADER, SIGNATURE_HEADER, Mode

ID_HEADER: Final = "Nats-Msg-Id"
_STREAM: Final = "Nats-Expected-Stream"
_RECEIVED: Final = "Svc-Received-At"
_LINES: Final = "Svc-Lines"
_PROOF: Final = "Svc-Receiver-Proof"
_GROUP: Final = "Svc-For-Group"  # what was put aside by one group is given to it alone
_AGAIN: Final = "Svc-Published-Again"  # what the log may have delivered before
_SIGNATURE: Final = SIGNATURE_HEADER.lower().encode()
_ATTEMPT: Final = ATTEMPT_HEADER.lower().encode()
_FIRST_SECONDS: Final = 60.0  # a first attempt comes sooner; half of what the log knows ids for
_MOST_LINES: Final = 60 * 1024  # in base64; the log takes headers of 64 KiB
_MOST_TIME: Final = 253_402_300_799  # the last second that has a date
_MOST_DIGITS: Final = 20
_ACK_NEW: Final = 11  # how many words the subject of a receipt has, or more; an older one has 9


class Unreadable(Exception):  # noqa: N818  it says what a message is
    """A message is not given to a target; `reason` is a word for it, `message` a sentence.

    `by` is set where another reader may accept the message: its proof was made with another "key"
    of the log, or its signature with another "secret" than those given here. Else it is None.
    """

    def __init__(
        self, reason: str, message: str, by: Literal["key", "secret"] | None = None
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.by = by


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys and secrets that the messages of a stream are checked with.

    `keys` are the log's. `given` are secrets of the service's endpoint that a person has given: a
    message without a signature of theirs is refused. `known` are secrets that are stored for this
    origin, profile and mode: without a signature of theirs a message is accepted as well, but its
    delivery is not `end_to_end`.
    """

    stream: str
    keys: tuple[str, ...] = field(repr=False)
    given: tuple[str, ...] = field(default=(), repr=False)
    known: tuple[str, ...] = field(default=(), repr=False)


def headers_of(
    delivery: Delivery, address: LogAddress, mode: Mode, key: str, *, again: bool
) -> LogHeaders:
    """Returns the headers of an event's message; the lines of its HTTP headers are in base64.

    `again`: the log may have the event already, from so long ago that it has forgotten the id.
    """
    stream = address.stream(mode)
    headers = {
        ID_HEADER: delivery.facts.id,
        _STREAM: stream,
        _RECEIVED: f"{delivery.received_at:.3f}",
        _LINES: base64.b64encode(delivery.headers).decode(),
        **({_AGAIN: "1"} if again else {}),
    }
    return {**headers, _PROOF: proof.prove(key, _list_proved_parts(stream, headers, delivery.body))}


def size_of(headers: LogHeaders, body: bytes) -> int:
    """Counts the bytes of a message as the server does."""
    lines = sum(len(name) + len(value) + 4 for name, value in headers.items())
    return len(b"NATS/1.0\r\n\r\n") + lines + len(body)


def delivery_of(message: Message, now: float, trust: Trust) -> Delivery:
    """Reads a message; `now` (unix seconds) is when it has come here.

    Raises:
        Unreadable: no receiver of this team has put it into this log, or it is malformed.
    """
    check_proof(message, trust)
    came_at = _read_received_at(message)
    facts = read_facts(message.body)
    pairs = _pairs(_lines(message))
    # Joined again: an older receiver may have had other rules.
    lines = join_forwarded_headers(pairs, facts.id)
    end_to_end = _is_end_to_end(message.body, pairs, came_at, trust)
    return Delivery(message.body, lines, now, facts, came_at, end_to_end)


def id_of(message: Message) -> str:
    """Returns the id of a message in the log; without one, that of the event in its body."""
    return message.headers.get(ID_HEADER) or read_facts(message.body).id


def count_published_again(message: Message) -> int:
    """Returns 1 if the event of a message may have been in the log before, else 0."""
    return 1 if _AGAIN in message.headers else 0


def group_of(message: Message) -> str:
    """Returns the only group that a message is for; empty if it is for all of them."""
    return message.headers.get(_GROUP, "")


def put_again(message: Message, stream: str, key: str, group: str, number: int) -> LogHeaders:
    """Returns new headers for a message that failed in a group, to publish it for that group."""
    kept = {name: message.headers.get(name, "") for name in (_RECEIVED, _LINES)}
    event_id = f"{id_of(message).partition(' ')[0]} {group} {number}"  # else it were a duplicate
    headers = {ID_HEADER: event_id, _STREAM: stream, **kept, _AGAIN: "1", _GROUP: group}
    return {**headers, _PROOF: proof.prove(key, _list_proved_parts(stream, headers, message.body))}


def is_later_attempt(delivery: Delivery) -> bool:
    """Returns whether the service may have delivered an event before, and a receiver published it.

    By the number of the attempt; where there is none, by how long after the event it was signed.
    """
    pairs = _pairs(delivery.headers)
    attempts = [value for name, value in pairs if name.lower() == _ATTEMPT]
    if attempts and attempts[0].isdigit():
        return int(attempts[0][:9]) > 1
    signed = parse_signed_at(delivery.headers)
    try:
        created = datetime.fromisoformat(delivery.facts.created).timestamp()
    except ValueError:
        return True
    return signed is None or signed - created > _FIRST_SECONDS


def check_proof(message: Message, trust: Trust) -> None:
    """Raises Unreadable unless a receiver of the team has put the message into this log."""
    given = message.headers.get(_PROOF)
    if given is None:
        raise Unreadable("proof_missing", f"It has no {_PROOF}: no receiver of the team put it in.")
    if not proof.is_proved(
        trust.keys, _list_proved_parts(trust.stream, message.headers, message.body), given
    ):
        why = f"Its {_PROOF} was not made with the log's key."
        raise Unreadable("proof_invalid", why, by="key")


def _list_proved_parts(stream: str, headers: LogHeaders, body: bytes) -> tuple[bytes, ...]:
    said = [headers.get(name, "") for name in (ID_HEADER, _RECEIVED, _LINES, _AGAIN, _GROUP)]
    return (stream.encode(), *[one.encode("utf-8", "surrogateescape") for one in said], body)


def _read_received_at(message: Message) -> float:
    text = message.headers.get(_RECEIVED, "")
    try:
        found = float(text) if len(text) <= _MOST_DIGITS else math.nan
    except ValueError:
        found = math.nan
    if not 0 <= found <= _MOST_TIME:  # not of what is no number either
        raise Unreadable("header_invalid", f"Its {_RECEIVED} is not a time.")
    return found


def _lines(message: Message) -> bytes:
    text = message.headers.get(_LINES, "")
    if len(text) <= _MOST_LINES:
        with suppress(ValueError):
            return base64.b64decode(text, validate=True)
    raise Unreadable("header_invalid", f"Its {_LINES} cannot be read.")


def _is_end_to_end(body: bytes, pairs: Sequence[Header], came_at: float, trust: Trust) -> bool:
    """Returns whether the service's own signature was checked here, as of when the event came."""
    values = [value for name, value in pairs if name.lower() == _SIGNATURE]
    try:
        signature.verify(body, values, trust.given or trust.known, int(came_at))
    except SignatureError as error:
        if not trust.given:
            return False
        why = f"Its signature was not made with the given secret: {error.message}"
        raise Unreadable(error.reason, why, by="secret") from None  # R49: it is never forwarded
    return True


def _pairs(lines: bytes) -> list[Header]:
    parts = (line.partition(b":") for line in lines.splitlines())
    return [(name, value.strip()) for name, _, value in parts]


def read_metadata(reply: str) -> tuple[int, int] | None:
    """Returns a message's number in the stream, and how often it was delivered.

    They stand in the subject that it is acknowledged by; None if that is malformed.
    """
    words = reply.split(".")
    if len(words) >= _ACK_NEW:
        words = words[:2] + words[4:]
    try:
        delivered, seq, _, _, _ = map(int, words[4:9])
    except ValueError:
        return None
    return seq, delivered
