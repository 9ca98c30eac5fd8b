"""Signs a late delivery anew, since a target refuses a signature older than five minutes.

`listener` passes a `LateSigner` to the senders of a listener; a listener that reads from a log
signs every delivery by `sign_anew` (`cli.events.from_log`), and so do replays
(`cli.events.replay`, the inspector), unless the original signature is asked for.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from svc.clock import Clock
from svc.service.facts import ORIGINAL_SIGNATURE_HEADER, SIGNATURE_HEADER
from svc.signature import header_value

LATE_SECONDS: Final = 240  # a minute before targets call it too old (promise R123)
_NAME: Final = SIGNATURE_HEADER.lower().encode() + b":"
_SIGNED_AT: Final = re.compile(rb"[^\r\n]*?\bt=([0-9]{1,12})")

# Takes header lines and a body; gives the lines to send, and whether they say that they are new.
HeaderSigner = Callable[[bytes, bytes], tuple[bytes, bool]]


def sign_anew(headers: bytes, body: bytes, secrets: Sequence[str], now: float) -> bytes:
    """Returns the header lines with a signature of `now` (unix seconds) in place of the old one."""
    kept = [line for line in headers.splitlines(keepends=True) if not _is_signature(line)]
    value = header_value(body, secrets, int(now))
    return b"".join([*kept, f"{SIGNATURE_HEADER}: {value}\r\n".encode()])


def parse_signed_at(headers: bytes) -> int | None:
    """Returns when header lines were signed, in unix seconds; None where they do not say."""
    start = (b"\n" + headers.lower()).find(b"\n" + _NAME)
    found = _SIGNED_AT.match(headers, start + len(_NAME)) if start >= 0 else None
    return None if found is None else int(found[1])


class LateSigner:
    """Signs deliveries anew whose signature is over four minutes off; a header has the first one.

    Where the clock was put back, that is in the future.

    Attributes:
        secrets: those of the endpoint as it is now; a target that knows any of them accepts it.
    """

    def __init__(self, secrets: Sequence[str], clock: Clock) -> None:
        self.secrets = tuple(secrets)
        self._clock = clock

    def __call__(self, headers: bytes, body: bytes) -> tuple[bytes, bool]:
        signed, now = parse_signed_at(headers), self._clock.now()
        if signed is None or abs(now - signed) <= LATE_SECONDS:
            return headers, False
        lines = headers.splitlines()
        first = [line.partition(b":")[2].strip() for line in lines if _is_signature(line)]
        fresh = sign_anew(headers, body, self.secrets, now)
        return b"%s%s: %s\r\n" % (fresh, ORIGINAL_SIGNATURE_HEADER.encode(), first[0]), True


def _is_signature(line: bytes) -> bool:
    return line.lower().startswith(_NAME)
