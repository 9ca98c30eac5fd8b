"""Lists, finds, retries and drops the events that a group's jobs have put aside.

An event is put aside when a healthy target refuses it, when its message cannot be trusted, or when
no job has taken it in three days. The log then notes its number in another stream, the list; the
event itself stays in the log.

`svc events log failed` calls it.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final

from svc.errors import CheckFailed, LocalError, NotFound
from svc.json_text import parse_any
from svc.listen.log.connection import LogConnection, Message, decode, read_stream
from svc.listen.log.errors import LogMissing
from svc.listen.log.messages import Trust, Unreadable, check_proof, id_of, put_again
from svc.listen.log.streams import GROUP_PREFIX, message_at
from svc.listen.verify.verify import read_facts
from svc.service.facts import Mode

_GIVEN_UP: Final = "no job has taken it in three days"


@dataclass(frozen=True, slots=True)
class SetAside:
    """One event that a group has put aside, by its number in the list; `seq` is that in the log.

    `event` and `type` are None where the log has dropped the event for its age by now.
    """

    number: int
    event: str | None
    type: str | None
    group: str
    reason: str
    deliveries: int
    time: str
    seq: int

    def as_data(self) -> dict[str, Any]:
        """The same as `-o json` shows it."""
        return {"object": "failed_event", **asdict(self)}


async def list_failed(connection: LogConnection, mode: Mode, group: str | None) -> list[SetAside]:
    """Returns the events that groups have put aside, oldest first; raises AuthError."""
    return [one async for one in _read_noted(connection, mode) if group in (None, one.group)]


async def find_failed(connection: LogConnection, mode: Mode, which: str) -> SetAside:
    """Returns one entry by its number or its event's id, the newest of an id; raises NotFound."""
    ours = [
        one async for one in _read_noted(connection, mode) if which in (str(one.number), one.event)
    ]
    if not ours:
        raise NotFound(
            f"Nothing that was put aside is {which}.",
            code="log_failed_missing",
            param="EVENT",
            hint=f"svc events log failed list --from {connection.address}",
        )
    return ours[-1]


async def message_of(connection: LogConnection, mode: Mode, one: SetAside) -> Message:
    """Returns the message of the event; raises NotFound: the log has dropped it for its age."""
    message = await message_at(connection, mode, one.seq)
    if message is None:
        raise NotFound(
            f"Event {one.seq} of the log was dropped for its age.", code="log_event_gone"
        )
    return message


async def retry(connection: LogConnection, mode: Mode, trust: Trust, one: SetAside) -> None:
    """Publishes an event again for its group alone, and removes it from the list.

    Raises:
        NotFound: the log has dropped it for its age.
        AuthError: the user may not publish.
        CheckFailed: no receiver had put it into the log: it would get its proof here (R128).
    """
    message = await message_of(connection, mode, one)
    try:
        check_proof(message, trust)
    except Unreadable as error:
        raise CheckFailed(
            f"It is given to no reader. {error.message}",
            code="log_failed_unproved",
            param="EVENT",
            hint=f"svc events log failed drop {one.number} --from {connection.address}",
        ) from None
    address = connection.address
    headers = put_again(message, trust.stream, trust.keys[0], one.group, one.number)
    kind = read_facts(message.body).type
    answer = await connection.request(address.subject(mode, kind), message.body, headers)
    decode(answer)
    await drop(connection, mode, one)


async def drop(connection: LogConnection, mode: Mode, one: SetAside) -> None:
    """Removes an event from the list; it stays in the log; raises AuthError."""
    stream = connection.address.name_failed_stream(mode)
    done = await connection.api(f"STREAM.MSG.DELETE.{stream}", {"seq": one.number})
    if not done.get("success"):
        raise LocalError("The log did not take it off the list.", code="log_failed_kept")


async def _read_noted(connection: LogConnection, mode: Mode) -> AsyncIterator[SetAside]:
    stream = connection.address.name_failed_stream(mode)
    with suppress(LogMissing):
        async for one in read_stream(connection, stream, {"seq": 1}, ">"):
            note = _note_of(one.message.body)
            if note is not None:
                message = await message_at(connection, mode, note["stream_seq"])
                yield SetAside(
                    one.seq,
                    None if message is None else id_of(message).partition(" ")[0],
                    None if message is None else read_facts(message.body).type,
                    str(note["consumer"]).removeprefix(GROUP_PREFIX),
                    str(note.get("reason") or _GIVEN_UP),
                    int(note.get("deliveries", 0)),
                    str(note.get("timestamp", "")),
                    note["stream_seq"],
                )


def _note_of(body: bytes) -> dict[str, Any] | None:
    note = parse_any(body)
    known = isinstance(note, dict) and str(note.get("consumer", "")).startswith(GROUP_PREFIX)
    return note if known and isinstance(note.get("stream_seq"), int) else None
