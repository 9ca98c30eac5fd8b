"""Why a delivery is not authentic, in a sentence that helps (peers get "no signatures found")."""

import base64
import binascii
import hmac
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from svc.errors import SignatureError
from svc.spec import SECRET_PREFIX

_LARGEST: Final = 64 * 1024  # a guess is not worth more work than that
_TIME: Final = re.compile(rb"(?:^|,)[ \t]*t=([0-9]{1,12})(?=[ \t]*(?:,|$))")
_MAC: Final = re.compile(rb"(?:^|,)[ \t]*v1=([0-9a-fA-F]{64})(?=[ \t]*(?:,|$))")


def diagnose(
    error: SignatureError, body: bytes, headers: Sequence[bytes], secrets: Sequence[str]
) -> str:
    """Says what is wrong; for a signature that does not fit, tries the usual causes.

    Takes what was given to `signature.verify`, and its error. The payload is never quoted.
    """
    if error.reason != "signature_mismatch" or len(body) > _LARGEST or len(headers) != 1:
        return error.message
    stamp, macs = _TIME.search(headers[0]), _MAC.findall(headers[0])
    if stamp is None:
        return error.message

    def fits(key: bytes, candidate: bytes) -> bool:
        expected = hmac.new(key, stamp[1] + b"." + candidate, "sha256").hexdigest().encode()
        return any(hmac.compare_digest(expected, mac.lower()) for mac in macs)

    for secret in secrets:
        cause = _cause(secret, body, fits)
        if cause:
            return f"No signature fits: {cause}."
    return error.message


def _cause(secret: str, body: bytes, fits: Callable[[bytes, bytes], bool]) -> str:
    for altered, how in _bodies(body):
        if altered != body and fits(secret.encode(), altered):
            return f"the body was altered on the way ({how}); verify and pass on the raw bytes"
    for key, how in _keys(secret):
        if fits(key, body):
            return f"the sender signed with {how}"
    return ""


def _bodies(body: bytes) -> Iterator[tuple[bytes, str]]:
    yield body + b"\n", "its last line feed was taken off"
    yield body.rstrip(b"\r\n"), "a line feed was added at its end"
    yield body.replace(b"\r\n", b"\n"), "its line ends were turned into CRLF"
    yield body.replace(b"\n", b"\r\n"), "its CRLF line ends were turned into LF"
    yield from _texts(body)


def _texts(body: bytes) -> Iterator[tuple[bytes, str]]:
    try:
        text = body.decode()
        value = json.loads(body)
        for indent, separators in ((None, (",", ":")), (None, None), (2, None)):
            for ascii_only in (False, True):
                again = json.dumps(
                    value, ensure_ascii=ascii_only, indent=indent, separators=separators
                )
                yield again.encode(), "its JSON was written anew"
    except (ValueError, RecursionError):
        return
    yield unicodedata.normalize("NFC", text).encode(), "its accents were encoded anew"
    yield unicodedata.normalize("NFD", text).encode(), "its accents were encoded anew"


def _keys(secret: str) -> Iterator[tuple[bytes, str]]:
    yield f"{secret}\n".encode(), "this secret and a line feed behind it"
    rest = secret.removeprefix(SECRET_PREFIX)
    yield rest.encode(), f"this secret without {SECRET_PREFIX}"
    try:
        yield base64.b64decode(rest, validate=True), "the base64-decoded secret"
    except binascii.Error:
        return
