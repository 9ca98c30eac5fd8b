"""Formats the records of a listener as JSON: a line each, or all of them in one document.

`printer` uses `JsonRecords` for `-o ndjson` and `json`, `replay` for replays.
"""

import json
from binascii import b2a_base64
from collections.abc import Callable
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _text
from typing import Final

from svc.cli.events.options import EventPart
from svc.json_text import parse_any
from svc.listen.output_records import EventReceived, Forwarded, ListenerRecord, iso
from svc.redaction import redact
from svc.render.writer import Writer

_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode
_WORDS: Final = {True: "true", False: "false", None: "null"}


def as_ndjson(record: ListenerRecord) -> str:
    """Writes one record as one line of JSON; ASCII only, so that nothing in it acts on a terminal.

    Secrets are masked, except in events, whose bytes stay whole. Events and forwards, which come in
    thousands, have a template that gives the same line as their `to_dict`.
    """
    if isinstance(record, EventReceived):
        if record.came_at is not None or record.redelivered:  # from a log: there are less of them
            return _ENCODE(record.to_dict()) + "\n"
        return (
            f'{{"record":"event","time":"{iso(record.time)}","id":{_text(record.id)},'
            f'"type":{_text(record.type)},"created":{_text(record.created)},'
            f'"livemode":{_WORDS[record.livemode]},"object_id":{_text(record.object_id)},'
            f'"verified":true,"duplicate":{_WORDS[record.duplicate]},'
            f'"out_of_order":{_WORDS[record.out_of_order]},"wrong_mode":{_WORDS[record.wrong_mode]},'
            f'"payload_base64":"{b2a_base64(record.payload, newline=False).decode()}"}}\n'
        )
    if isinstance(record, Forwarded):
        return (
            f'{{"record":"forward","time":"{iso(record.time)}","id":{_mask_text(record.id)},'
            f'"type":{_mask_usual(record.type)},"url":{_mask_usual(record.url)},'
            f'"status":{"null" if record.status is None else record.status},'
            f'"milliseconds":{round(record.milliseconds, 3)!r},"attempt":{record.attempt},'
            f'"error":{"null" if record.error is None else _mask_text(record.error)},'
            f'"reply":{_mask_text(record.reply.decode("utf-8", "replace"))},'
            f'"retry_in":{"null" if record.retry_in is None else repr(record.retry_in)},'
            f'"signed_anew":{_WORDS[record.signed_anew]}}}\n'
        )
    return redact(_ENCODE(record.to_dict()) + "\n")


def _mask_text(text: str) -> str:
    return _text(redact(text))


_mask_usual: Final = lru_cache(maxsize=64)(_mask_text)


class JsonRecords:
    """Prints records as NDJSON lines, or with `array` as the elements of one JSON array.

    The array is written record by record; `close` ends it, and with `always` writes an empty one
    where no record came. `soon` has a function called a little later: what came until then is
    written together.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        array: bool,
        always: bool = False,
        shown: EventPart = "summary",
        soon: Callable[[Callable[[], None]], None] = lambda write: write(),
    ) -> None:
        """`shown` is as for people: `payload` adds the parsed object, `none` leaves events out."""
        self._writer = writer
        self._shown = shown
        self._array = array
        self._always = always
        self._soon = soon
        self._begun = False
        self._lines: list[str] = []

    def show(self, record: ListenerRecord) -> None:
        """Prints one record; where it is written at once, an OSError of the stream passes up."""
        if self._shown == "none" and (
            isinstance(record, EventReceived)
            or (isinstance(record, Forwarded) and record.succeeded)
        ):
            return
        line = as_ndjson(record)
        if self._shown == "payload" and isinstance(record, EventReceived):
            # Null for bytes that are no JSON, which may be signed too.
            line = f'{line.rstrip()[:-1]},"payload":{_ENCODE(parse_any(record.payload))}}}\n'
        if self._array:
            line = (",\n" if self._begun else "[\n") + line.rstrip("\n")
            self._begun = True
        self._lines.append(line)
        if len(self._lines) == 1:
            self._soon(self._write)

    def close(self) -> None:
        """Ends the document, if there is one."""
        if self._begun:
            self._begun = False
            self._lines.append("\n]\n")
        elif self._array and self._always:
            self._lines.append("[]\n")
        self._write()

    def _write(self) -> None:
        lines, self._lines = self._lines, []
        self._writer.write("".join(lines))
        self._writer.flush()
