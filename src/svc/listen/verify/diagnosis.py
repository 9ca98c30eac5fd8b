"""Explains why a delivery is not authentic, in a sentence that helps to mend it.

`verify` calls `diagnose` for a failed signature of a listener, `svc events verify` for one by hand.
"""

import base64
import hmac
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from svc.errors import SignatureError
from svc.json_text import parse_any
from svc.render.dump import TOKEN
from svc.service.facts import SECRET_PREFIX

_LARGEST: Final = 64 * 1024  # a guess is not worth more work than that
_TIME: Final = re.compile(rb"(?:^|,)[ \t]*t=([0-9]{1,12})(?=[ \t]*(?:,|$))")
_MAC: Final = re.compile(rb"(?:^|,)[ \t]*v1=([0-9a-fA-F]{64})(?=[ \t]*(?:,|$))")
_RAW: Final = "; verify and pass on the raw bytes"
Fits = Callable[[bytes, bytes], bool]
_UNITS: Final = ((86400, "d"), (3600, "h"), (60, "min"))


@dataclass(frozen=True, slots=True)
class KnownSecret:
    """A signing secret that is not the listener's own, and whose it is: `name` is in words."""

    name: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is wrong with a delivery.

    `cause` is a word for programs: that of the error, or for a signature that does not fit
    `body_altered`, `other_secret` or `secret_misread` where one of them is proven.
    """

    cause: str
    message: str


def diagnose(
    error: SignatureError,
    body: bytes,
    headers: Sequence[bytes],
    secrets: Sequence[str],
    known: Sequence[KnownSecret],
) -> Diagnosis:
    """Explains a failed verification; for a signature that does not match it tries usual causes.

    Takes what was given to `signature.verify`, and its error. `known` are secrets that would have
    been right elsewhere. The payload is never quoted (promise R49).
    """
    if error.reason in ("timestamp_too_old", "timestamp_in_future"):
        return Diagnosis(error.reason, _explain_age(error))
    if error.reason != "signature_mismatch" or len(headers) != 1:
        return Diagnosis(error.reason, error.message)
    stamp, macs = _TIME.search(headers[0]), _MAC.findall(headers[0])
    if stamp is None:
        return Diagnosis(error.reason, error.message)

    def fits(key: bytes, candidate: bytes) -> bool:
        expected = hmac.new(key, stamp[1] + b"." + candidate, "sha256").hexdigest().encode()
        return any(hmac.compare_digest(expected, mac.lower()) for mac in macs)

    return (
        _by_secret(body, secrets, known, fits)
        or _by_body(body, secrets, fits)
        or Diagnosis(error.reason, _likely(body))
    )


def _by_secret(
    body: bytes, secrets: Sequence[str], known: Sequence[KnownSecret], fits: Fits
) -> Diagnosis | None:
    for other in known:
        if fits(other.secret.encode(), body):
            text = f"No signature fits: it was signed with the secret of {other.name}."
            return Diagnosis("other_secret", text)
    for secret in secrets:
        for key, how in _keys(secret):
            if fits(key, body):
                text = f"No signature fits: the sender signed with {how}."
                return Diagnosis("secret_misread", text)
    return None


def _by_body(body: bytes, secrets: Sequence[str], fits: Fits) -> Diagnosis | None:
    keys = [secret.encode() for secret in secrets]
    for candidate, how in _bodies(body) if len(body) <= _LARGEST else ():
        if candidate != body and any(fits(key, candidate) for key in keys):
            text = f"No signature fits: the body was altered on the way ({how}){_RAW}."
            return Diagnosis("body_altered", text)
    return None


def _likely(body: bytes) -> str:
    """What cannot be proven: how the body looks says which of the two it probably is."""
    if not body:
        return f"No signature fits: the body is empty, so it was lost on the way{_RAW}."
    value = parse_any(body)
    if not isinstance(value, dict):
        why = "the body is no JSON object"
    elif len(value) > 1 and list(value) == sorted(value):
        why = "the keys of its JSON are in alphabetical order"  # the service puts the id first
    else:
        return (
            "No signature fits: another secret, or the body was altered. It is whole JSON and no "
            "usual change of it fits, so the secret is probably that of another endpoint or mode, "
            "or was replaced since."
        )
    return f"No signature fits: {why}, so it was probably altered on the way{_RAW}."


def _explain_age(error: SignatureError) -> str:
    """Returns what the usual reasons are, and a large distance in units that people count in."""
    message = error.message
    seconds = int(re.findall(r"[0-9]+", message)[0])
    if seconds >= _UNITS[1][0]:
        message = message.replace(f"{seconds} s", f"{seconds} s ({_in_units(seconds)})")
    if error.reason == "timestamp_too_old":
        return f"{message} It is a replay, came late, or this machine's clock is ahead."
    return f"{message} This machine's clock is behind, or the sender's is ahead."


def _in_units(seconds: int) -> str:
    parts = []
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        parts += [f"{count} {unit}"] if count else []
    return " ".join(parts[:2])


def _bodies(body: bytes) -> Iterator[tuple[bytes, str]]:
    """Returns what may have been signed, and what then was done to it."""
    yield body + b"\n", "its last line feed was taken off"
    yield body.rstrip(b"\r\n"), "a line feed was added at its end"
    yield body.strip(), "white space was added around it"
    yield body.replace(b"\r\n", b"\n"), "its line ends were turned into CRLF"
    yield body.replace(b"\n", b"\r\n"), "its CRLF line ends were turned into LF"
    yield body.removeprefix(b"\xef\xbb\xbf"), "a byte order mark was put before it"
    with suppress(ValueError):
        yield base64.b64decode(body, validate=True), "it was encoded in base64"
    inner = parse_any(body)
    if isinstance(inner, str):
        yield inner.encode("utf-8", "replace"), "it was put into a JSON string"
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return
    yield text.encode("latin-1", "replace"), "its UTF-8 was encoded once more"
    yield unicodedata.normalize("NFC", text).encode(), "its accents were encoded anew"
    yield unicodedata.normalize("NFD", text).encode(), "its accents were encoded anew"
    for again, words in respell(text):
        yield again, f"its JSON was written anew: it was signed {words}"


def _keys(secret: str) -> Iterator[tuple[bytes, str]]:
    yield f"{secret}\n".encode(), "this secret and a line feed behind it"
    rest = secret.removeprefix(SECRET_PREFIX)
    yield rest.encode(), f"this secret without {SECRET_PREFIX}"
    with suppress(ValueError):
        yield base64.b64decode(rest, validate=True), "the base64-decoded secret"


_DEEPEST: Final = 64  # hostile nesting must not make the text grow with its square

# Between entries, behind a colon, one level of indent; in words.
_LAYOUTS: Final = (
    (",", ":", None, "without spaces"),
    (", ", ": ", None, "on one line with spaces"),
    (",", ": ", "  ", "indented by two"),
    (",", ": ", "    ", "indented by four"),
    (",", ": ", "\t", "indented by tabs"),
)
_HTML: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def respell(text: str) -> Iterator[tuple[bytes, str]]:
    """Returns a JSON document in other layouts and escapes, each with words for its layout.

    Key order and numbers stay as they are spelled. If `text` is no JSON, the results mean nothing.
    """
    tokens = TOKEN.findall(text)
    for spelled in _spellings(tokens):
        for item, colon, step, words in _LAYOUTS:
            again = _lay_out(spelled, item, colon, step).encode("utf-8", "surrogatepass")
            yield again, words
            yield again + b"\n", f"{words} and with a line feed at its end"


def _spellings(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Returns the tokens as they are, and with the escapes of other encoders, each form once."""
    seen = {tuple(tokens): None}
    for ascii_only in (False, True):
        for slashes in (False, True):
            for html in (False, True):
                seen[tuple(_escape(one, ascii_only, slashes, html) for one in tokens)] = None
    yield from seen


def _escape(token: str, ascii_only: bool, slashes: bool, html: bool) -> str:  # noqa: FBT001  three of a kind
    if not token.startswith('"'):
        return token
    try:
        text = json.dumps(json.loads(token, strict=False), ensure_ascii=ascii_only)
    except ValueError:
        return token
    if slashes:
        text = text.replace("/", "\\/")
    for char, escape in _HTML.items() if html else ():
        text = text.replace(char, escape)
    return text


def _lay_out(tokens: Sequence[str], item: str, colon: str, step: str | None) -> str:
    out: list[str] = []
    level = 0
    before = ""
    marks = {",": item, ":": colon}
    for token in tokens:
        closes = token in ("}", "]")
        level += (before in ("{", "[")) - closes
        if step is not None and _breaks(before, closes=closes):
            out.append("\n" + step * min(level, _DEEPEST))
        out.append(marks.get(token, token))
        before = token
    return "".join(out)


def _breaks(before: str, *, closes: bool) -> bool:
    """Returns whether a line ends behind a token; an empty object or array stays together."""
    opened = before in ("{", "[")
    if closes:
        return not opened
    return opened or before == ","
