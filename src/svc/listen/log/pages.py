"""Reading a log in pages, without anything that the log keeps for its reader.

A page is asked for by its first number; nothing in such a request can have the log send to
another subject, make a consumer or change anything. The numbers of its messages show whether all
have come.

`log_cursor` reads page after page; `status`, `failed`, `svc events audit` and `svc events log
refill` read whole streams.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from svc.listen.log.connection import LogConnection, Message
from svc.listen.log.errors import LogDown

PAGE: Final = 256
_PAGE_BYTES: Final = 8 * 1024 * 1024  # more than the largest event, and little enough for memory
_SEQ: Final = "Nats-Sequence"
_END: Final = "204"
_NONE: Final = "404"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message, its number in the stream and its subject there."""

    seq: int
    subject: str
    message: Message


async def read_page(
    connection: LogConnection, stream: str, start: Mapping[str, Any], subject: str
) -> list[StoredMessage]:
    """Returns what a stream has of a subject from a `start` (`seq` or `start_time`) on, in order.

    Raises:
        LogDown: a message was lost on the way, or nothing came in time.
        AuthError: the user may not read.
    """
    asked = {**start, "batch": PAGE, "max_bytes": _PAGE_BYTES, "next_by_subj": subject}
    *messages, end = await connection.gather(f"DIRECT.GET.{stream}", asked, most=PAGE + 1)
    page = [
        StoredMessage(int(one.headers.get(_SEQ, "0")), one.headers.get("Nats-Subject", ""), one)
        for one in messages
    ]
    if end.status == _NONE:
        return page
    before = [0, *(one.seq for one in page)]
    said = [int(one.headers.get("Nats-Last-Sequence", "-1")) for one in (*messages, end)]
    if end.status != _END or said[1:] != before[1:]:
        raise LogDown("The log: a message was lost on the way.")
    return page


async def read_stream(
    connection: LogConnection, stream: str, start: Mapping[str, Any], subject: str
) -> AsyncIterator[StoredMessage]:
    """Returns all that a stream has of a subject from a `start` on; raises as `read_page` does."""
    while page := await read_page(connection, stream, start, subject):
        for one in page:
            yield one
        start = {"seq": page[-1].seq + 1}
