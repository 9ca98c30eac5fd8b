"""Signs and verifies webhook deliveries over their raw bytes (spec: Events, Signature).

The sandbox, `svc events sign` and forwards that are signed anew build the header by `sign` and
`header_value`. The listener, `svc events verify` and a team's log check it by a `Verifier`: body,
header and secrets in, the time of signing out, or a SignatureError with the reason.

The layout of the header and the signed string are our choice: `t=<unix seconds>,
v1=<hex>[,v1=<hex>]`, HMAC-SHA256 over `<t>.<raw body>` with the whole secret as the key.
"""

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from svc.errors import SignatureError
from svc.service.facts import (
    SECRET_PREFIX,
    SIGNATURE_HEADER_MAX,
    SIGNATURE_TOLERANCE_SECONDS,
    SIGNATURES_MAX,
    WEBHOOK_BODY_MAX,
)

_HEX_DIGITS = frozenset(b"0123456789abcdefABCDEF")
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_PRINTABLE = frozenset(range(0x20, 0x7F)) | {0x09}
_MAC_LENGTH = 64
_TIMESTAMP_DIGITS_MAX = 12  # 13 digits are milliseconds
_USUAL = re.compile(rb"t=([0-9]{1,12}),v1=([0-9A-Fa-f]{64})")


@dataclass(frozen=True, slots=True)
class Verified:
    """A delivery that is authentic: when it was signed (unix seconds) and with which secret."""

    timestamp: int
    secret_index: int


def sign(body: bytes, secret: str, timestamp: int) -> str:
    """Computes the lower-case hex signature of one body at one time (unix seconds)."""
    return compute_mac(secret, b"%d.%s" % (timestamp, body))


def compute_mac(key: str, data: bytes) -> str:
    """Computes HMAC-SHA256 in lower-case hex."""
    mac = _prepare(key).copy()
    mac.update(data)
    return mac.hexdigest()


@lru_cache
def _prepare(key: str) -> hmac.HMAC:
    """Makes a key ready, to be copied: to make it ready for each body costs more than the body."""
    return hmac.new(key.encode(), digestmod="sha256")


def header_value(body: bytes, secrets: Sequence[str], timestamp: int) -> str:
    """Builds the `Svc-Signature` value; during rotation the new secret comes first."""
    macs = ",".join(f"v1={sign(body, secret, timestamp)}" for secret in secrets)
    return f"t={timestamp},{macs}"


class Verifier:
    """Checks deliveries by the secrets of one endpoint, which are checked once for all of them."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """Takes one secret, or two while one is being replaced.

        Raises:
            SignatureError: reason `secret_invalid`: there is none, or one cannot be (promise R48).
        """
        for secret in secrets:
            check_secret(secret)
        if not secrets:
            raise SignatureError("secret_invalid", "No signing secret was given.")
        self._secrets = tuple(secrets)

    def verify(self, body: bytes, headers: Sequence[bytes | str], now: int) -> Verified:
        """Checks one delivery over its raw bytes.

        `headers` are all values of `Svc-Signature` that came; `now` is in unix seconds. The match
        is looked at before the age, so that a forged delivery is never called merely old (promise
        R47).

        Raises:
            SignatureError: with the reason; nothing else, whatever the input (promise R46).
        """
        if len(body) > WEBHOOK_BODY_MAX:
            raise SignatureError("body_too_large", f"The body is over {WEBHOOK_BODY_MAX} bytes.")
        digits, macs = _parse_usual(headers) or _parse(_single(headers))
        index = self._match(b"%s.%s" % (digits, body), macs)
        return Verified(_check_age(int(digits), now), index)

    def _match(self, signed: bytes, macs: list[bytes]) -> int:
        found = -1
        for index, secret in enumerate(self._secrets):
            expected = compute_mac(secret, signed).encode()
            for mac in macs:
                if hmac.compare_digest(expected, mac.lower()) and found < 0:
                    found = index
        if found < 0:
            raise SignatureError(
                "signature_mismatch", "No signature fits: another secret, or the body was altered."
            )
        return found


def verify(
    body: bytes, headers: Sequence[bytes | str], secrets: Sequence[str], now: int
) -> Verified:
    """Checks one delivery by these secrets; see `Verifier`.

    Raises:
        SignatureError: a secret cannot be one (promise R48), or as `Verifier.verify`.
    """
    return _verifier_of(tuple(secrets)).verify(body, headers, now)


_verifier_of = lru_cache(Verifier)


def check_secret(secret: str) -> None:
    """Refuses what cannot be a signing secret: empty, padded, or another kind of key.

    Raises:
        SignatureError: reason `secret_invalid` (promise R48).
    """
    good = secret.startswith(SECRET_PREFIX) and len(secret) > len(SECRET_PREFIX)
    if not good or not all("!" <= char <= "~" for char in secret):
        message = f"The signing secret is not one: it must begin with {SECRET_PREFIX}"
        raise SignatureError("secret_invalid", message + " and hold no spaces or line ends.")


def _parse_usual(headers: Sequence[bytes | str]) -> tuple[bytes, list[bytes]] | None:
    """Reads a header of one time and one signature, as nearly all are; None if it is another."""
    if len(headers) != 1 or not isinstance(headers[0], bytes):
        return None
    usual = _USUAL.fullmatch(headers[0])
    return None if usual is None else (usual[1], [usual[2]])


def _single(headers: Sequence[bytes | str]) -> bytes:
    raw = [h.encode("latin-1", "replace") if isinstance(h, str) else h for h in headers]
    if not any(raw):
        raise SignatureError("signature_missing", "There is no Svc-Signature header.")
    if len(raw) > 1:
        raise _build_malformed("the header stands more than once")
    if len(raw[0]) > SIGNATURE_HEADER_MAX:
        raise _build_malformed(f"the header is over {SIGNATURE_HEADER_MAX} bytes")
    if not _PRINTABLE.issuperset(raw[0]):
        raise _build_malformed("it holds more than printable ASCII and tabs")
    return raw[0]


def _parse(header: bytes) -> tuple[bytes, list[bytes]]:
    times: list[bytes] = []
    macs: list[bytes] = []
    for element in header.split(b","):
        name, equals, value = element.strip(b" \t").partition(b"=")
        if not equals or not _NAME_BYTES.issuperset(name) or not name:
            raise _build_malformed("it is not a list of name=value")
        if name == b"t":
            times.append(value)
        elif name == b"v1":
            macs.append(value)
    if len(times) != 1 or not (times[0].isdigit() and len(times[0]) <= _TIMESTAMP_DIGITS_MAX):
        raise _build_malformed("it needs exactly one t, in unix seconds")
    if not macs:
        raise SignatureError("signature_no_v1", "The Svc-Signature header holds no v1 signature.")
    known = [mac for mac in macs if _is_mac(mac)]  # another may be of a later scheme (R111)
    if len(macs) > SIGNATURES_MAX or not known:
        raise _build_malformed(
            f"it needs 1 to {SIGNATURES_MAX} v1 values of {_MAC_LENGTH} hex digits"
        )
    return times[0], known


def _is_mac(value: bytes) -> bool:
    return len(value) == _MAC_LENGTH and _HEX_DIGITS.issuperset(value)


def _build_malformed(why: str) -> SignatureError:
    return SignatureError("signature_malformed", f"The Svc-Signature header is malformed: {why}.")


def _check_age(timestamp: int, now: int) -> int:
    age = now - timestamp
    limit = SIGNATURE_TOLERANCE_SECONDS
    if age > limit:
        raise SignatureError(
            "timestamp_too_old", f"It was signed {age} s ago; the limit is {limit} s."
        )
    if -age > limit:
        raise SignatureError(
            "timestamp_in_future", f"It was signed {-age} s in the future; the limit is {limit} s."
        )
    return timestamp
