"""An event as a message of the log, and back: the body as it came, what came with it beside it.

Nothing of a message is taken on trust: it has the receiver's proof, and headers of a known size
and form, or it is refused with a reason (R128).

`inboxes` writes messages by `headers_of`; both readers (`group`, `log_cursor`) read by
`delivery_of`.
"""

import base64
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from svc import signature
from svc.errors import SignatureError
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
_TIME: Final = re.compile(rb"\bt=(\d{1,12})\b")
_FIRST_SECONDS: Final = 60.0  # a first attempt comes sooner; half of what the log knows ids for
_MOST_LINES: Final = 60 * 1024  # in base64; the log takes headers of 64 KiB
_MOST_TIME: Final = 253_402_300_799  # the last second that has a date
_MOST_DIGITS: Final = 20
_ACK_OLD, _ACK_NEW = 9, 11  # how many words the subject of a receipt has; the newer may have more


class Unreadable(Exception):  # noqa: N818  it says what a message is
    """A message that is put aside: why, in a word and in a sentence.

    `by`: what it was judged by and another member may have another one of: the log's key, or a
    secret that was given here.
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
    """What the messages of a stream are judged by.

    `keys` are the log's. `given` are secrets of the service's endpoint that a person has given: a
    signature that they did not make is refused. `known` are those that are stored for this origin,
    profile and mode: they vouch for what they have signed, and say nothing of the rest.
    """

    stream: str
    keys: tuple[str, ...] = field(repr=False)
    given: tuple[str, ...] = field(default=(), repr=False)
    known: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class MessageMetadata:
    """The place of a message: in the stream, in what its consumer was given, and how often.

    `stored_at` is when the log has stored it, in unix seconds.
    """

    seq: int
    number: int
    delivered: int
    pending: int


def headers_of(
    delivery: Delivery, address: LogAddress, mode: Mode, key: str, *, again: bool = False
) -> LogHeaders:
    """Returns what goes beside the body; the header lines in base64, so that bytes stay bytes.

    `again`: the log may have had it before, longer ago than it knows ids for.
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
    given = _lines(message)
    # Joined again: an older receiver may have had other rules.
    lines = join_forwarded_headers(_pairs(given), facts.id)
    end_to_end = _is_end_to_end(message.body, lines, came_at, trust)
    return Delivery(message.body, lines, now, facts, came_at, end_to_end)


def id_of(message: Message) -> str:
    """Returns the id that a message has in the log, whatever it is."""
    return message.headers.get(ID_HEADER) or read_facts(message.body).id


def count_published_again(message: Message) -> int:
    """Counts how often a message that was read may have been in the log before."""
    return 1 if _AGAIN in message.headers else 0


def group_of(message: Message) -> str:
    """Returns the group that a message is for alone; nothing of one that is for all."""
    return message.headers.get(_GROUP, "")


def put_again(message: Message, stream: str, key: str, group: str, number: int) -> LogHeaders:
    """Returns the headers of a message that is put into the log again, for one group alone."""
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
    signed = [
        match for name, value in pairs if (match := _parse_signed_at(name, value)) is not None
    ]
    try:
        created = datetime.fromisoformat(delivery.facts.created).timestamp()
    except ValueError:
        return True
    return not signed or signed[0] - created > _FIRST_SECONDS


def _parse_signed_at(name: bytes, value: bytes) -> int | None:
    match = _TIME.search(value) if name.lower() == _SIGNATURE else None
    return int(match[1]) if match is not None else None


def check_proof(message: Message, trust: Trust) -> None:
    """Raises Unreadable where no receiver of the team has put a message into this log."""
    given = message.headers.get(_PROOF)
    if given is None:
        raise Unreadable("proof_missing", f"It has no {_PROOF}: no receiver of the team put it in.")
    if not proof.is_proved(
        trust.keys, _list_proved_parts(trust.stream, message.headers, message.body), given
    ):
        why = f"Its {_PROOF} was not made with the log's key."
        raise Unreadable("proof_invalid", why, by="key")


def _list_proved_parts(stream: str, headers: LogHeaders, body: bytes) -> tuple[bytes, ...]:
    said = (headers.get(name, "") for name in (ID_HEADER, _RECEIVED, _LINES, _AGAIN, _GROUP))
    return (stream.encode(), *(one.encode("utf-8", "surrogateescape") for one in said), body)


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


def _is_end_to_end(body: bytes, lines: bytes, came_at: float, trust: Trust) -> bool:
    """Returns whether the service's own signature was checked here, as of when the event came."""
    if trust.given:
        try:
            _verify(body, lines, trust.given, came_at)
        except SignatureError as error:  # R49: what is not authentic is never forwarded
            why = f"Its signature was not made with the given secret: {error.message}"
            raise Unreadable(error.reason, why, by="secret") from None
        return True
    try:
        _verify(body, lines, trust.known, came_at)
    except SignatureError:
        return False
    return bool(trust.known)


def _pairs(lines: bytes) -> list[tuple[bytes, bytes]]:
    parts = (line.partition(b":") for line in lines.splitlines())
    return [(name, value.strip()) for name, _, value in parts]


def _verify(body: bytes, lines: bytes, secrets: Sequence[str], came_at: float) -> None:
    values = [value for name, value in _pairs(lines) if name.lower() == _SIGNATURE]
    signature.verify(body, values, secrets, int(came_at))


def read_metadata(reply: str) -> MessageMetadata | None:
    """Reads the place of a message from the subject of its receipt."""
    words = reply.split(".")
    if len(words) >= _ACK_NEW:
        words = words[:2] + words[4:]
    try:
        delivered, seq, number, _, pending = map(int, words[4:9])
    except ValueError:
        return None
    return MessageMetadata(seq, number, delivered, pending)
