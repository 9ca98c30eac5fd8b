"""The receiver's proof: which messages of a log came through a receiver of its team (R128).

A client that may publish to a log could put any event into it. A receiver signs what it has
verified with the log's key, which receivers and readers have and the servers do not; a reader
refuses everything without that proof.

`messages` adds and checks it; `svc events log create` makes the key.
"""

import hmac
import re
from collections.abc import Iterable
from itertools import chain
from secrets import token_urlsafe
from typing import Final

from svc.signature import compute_mac

PREFIX: Final = "logkey_"
KEY: Final = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
_DOMAIN: Final = b"svc-receiver-proof-1"
_FINGERPRINT: Final = b"svc-log-key-1"
_KEY_BYTES: Final = 32
_LENGTH_BYTES: Final = 8


def make_key() -> str:
    """Makes the key of a log: 32 random bytes."""
    return PREFIX + token_urlsafe(_KEY_BYTES)


def fingerprint(key: str) -> str:
    """The fingerprint of a log's key: it shows at once that a member has another key."""
    return hmac.digest(key.encode(), _FINGERPRINT, "sha256").hex()[:16]


def prove(key: str, parts: Iterable[bytes]) -> str:
    """Computes a message's proof: HMAC-SHA256 over its parts, each after its length, in hex."""
    return compute_mac(key, _join(parts))


def is_proved(keys: Iterable[str], parts: Iterable[bytes], proof: str) -> bool:
    """Returns whether one of the keys has made the proof; compares in constant time."""
    joined, given = _join(parts), proof.encode()
    return any(hmac.compare_digest(compute_mac(key, joined).encode(), given) for key in keys)


def _join(parts: Iterable[bytes]) -> bytes:
    lengths = [(len(part).to_bytes(_LENGTH_BYTES, "big"), part) for part in parts]
    return b"".join([_DOMAIN, *chain.from_iterable(lengths)])
