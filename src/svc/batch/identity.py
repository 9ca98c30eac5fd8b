"""Which list of rows a file is, and which idempotency key a row has (promise R16).

An *import* is a list of rows that belong together from run to run. Its id is made of operation,
profile, mode, address and a name: the file's full path, or what `--import` says. Not of the file's
contents, since people append rows and correct some of them between two runs.

A row's key is made of the import's id, what the row's request says and an ordinal among equal
rows. Not of the row's place in the file, since a row inserted above would move all others. So:

- a row that was carried out is never sent again, wherever it stands now;
- a corrected row is another request with another key;
- two equal rows are two requests, and stay two;
- the same file gives the same keys on another machine, or when the journal is lost; within the
  service's 24 hours nothing is done twice even then.
"""

import hashlib
import os
from dataclasses import dataclass
from typing import Final

from svc.client.journal.entry import Scope

_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LENGTH: Final = 20


@dataclass(frozen=True, slots=True)
class Import:
    """A list of rows that belong together, for one operation and one account."""

    name: str
    operation: str
    scope: Scope

    @property
    def id(self) -> str:
        """`imp_` and 20 letters and digits, the same for the same list on every machine."""
        parts = (self.operation, self.scope.profile, self.scope.mode, self.scope.base_url)
        digest = _digest("import", *parts, self.name)
        return "imp_" + "".join(_LETTERS[byte % 32] for byte in digest[:_ID_LENGTH])


def default_name(file: str, data: bytes) -> str:
    """The name of a list for which the user gives none: where it lies, or what was piped in."""
    if file == "-":
        return f"stdin:{hashlib.sha256(data).hexdigest()[:16]}"
    path = os.fsencode(os.path.realpath(file))
    return path.decode("utf-8", "backslashreplace")


def key_of(import_id: str, identity: str, ordinal: int) -> str:
    """An idempotency key in the form of a UUID (version 8, RFC 9562: made by our own rule)."""
    raw = bytearray(_digest("row", import_id, identity, str(ordinal))[:16])
    raw[6] = raw[6] & 0x0F | 0x80
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _digest(*parts: str) -> bytes:
    # Lengths go in, so that no two lists of parts are the same bytes.
    return hashlib.sha256(
        b"".join(b"%d:%s" % (len(p := part.encode()), p) for part in parts)
    ).digest()
