"""Encodes a call as the exact bytes that every attempt sends (promise R1).

`client`, `sandbox` and `probe` call `prepare`: a `Call` in, a `Prepared` out (headers, body,
idempotency key), which `delivery` stores in the journal before the first attempt.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from svc import __version__
from svc.api_keys import refuse_secrets
from svc.base_url import BaseUrl
from svc.client.call import Call
from svc.client.encoding import UNRESERVED, form_bytes, json_bytes, pairs_text
from svc.client.exchange import Headers
from svc.errors import UsageError
from svc.json_text import NotJson, parse_given
from svc.service.facts import API_ROOT, IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY_MAX, VERSION_HEADER


def fraction() -> float:
    """Returns a number from 0 up to, not including, 1."""
    return int.from_bytes(os.urandom(6), "big") / (1 << 48)


def uuid4() -> str:
    """Returns a random UUID of version 4 as text (promise R1)."""
    return uuid_of(os.urandom(16), 4)


def uuid_of(data: bytes, version: int) -> str:
    """Formats 16 bytes as a UUID of a version (RFC 9562); version and variant replace six bits."""
    raw = bytearray(data)
    raw[6] = raw[6] & 0x0F | version << 4
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


CONTENT_TYPES = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
}


class Prepared(NamedTuple):
    """The encoded request of every attempt of a call, without `Host` and the API key.

    Because it does not contain the API key, the journal may store it (promise R28).

    Attributes:
        url: origin, prefix, path and query.
        target: the target of the request line.
        headers: in the order of sending, without `Host` and `Authorization`.
        body: the exact bytes; empty for none.
        idempotency_key: every POST has one, other calls have none (promise R13).
    """

    method: str
    url: str
    target: str
    headers: Headers
    body: bytes
    idempotency_key: str | None


def prepare(
    call: Call,
    base_url: BaseUrl,
    *,
    new_key: Callable[[], str],
    idempotency_key: str | None = None,
    api_version: str | None = None,
    root: str = API_ROOT,
    api_key: str = "",
) -> Prepared:
    """Encodes a call; a POST without a key of the user gets one from `new_key`.

    The request must contain neither `api_key` nor any text that looks like a key.

    Raises:
        AuthError: the request contains a secret (promise R100).
        UsageError: the idempotency key is invalid (R13) or given for a GET; the path would leave
            the API (R25); or the body cannot be encoded.
    """
    key = _key_for(call, idempotency_key, new_key)
    body = encode_body(call)
    version = None if api_version is None else check_version(api_version)
    headers = request_headers(
        call.method, body, content_type=CONTENT_TYPES[call.encoding], key=key, api_version=version
    )
    target = _target(call, base_url, root)
    made = Prepared(call.method, base_url.origin + target, target, headers, body, key)
    return made if root != API_ROOT else without_secrets(made, api_key)


def without_secrets(made: Prepared, api_key: str = "") -> Prepared:
    """Returns a request after checking that it contains no secret; every request is checked.

    Raises:
        AuthError: the request contains a secret.
    """
    refuse_secrets(api_key, made.target, made.body, *(value for _, value in made.headers))
    return made


def request_headers(
    method: str, body: bytes, *, content_type: str, key: str | None, api_version: str | None
) -> Headers:
    """The headers of a request without `Host` and the API key, in the order of sending."""
    headers = [
        ("User-Agent", f"svc/{__version__}"),
        ("Accept", "application/json"),
        ("Accept-Encoding", "identity"),
    ]
    if api_version is not None:
        headers.append((VERSION_HEADER, api_version))
    if key is not None:
        headers.append((IDEMPOTENCY_HEADER, key))
    if body:
        headers.append(("Content-Type", content_type))
    if method != "GET":
        headers.append(("Content-Length", str(len(body))))
    return tuple(headers)


def encode_body(call: Call) -> bytes:
    """Encodes the body of a call; empty without parameters."""
    if not call.body:
        return b""
    return json_bytes(call.body) if call.encoding == "json" else form_bytes(call.body)


def check_key(key: str) -> str:
    """Returns an idempotency key that may be sent.

    Raises:
        UsageError: it is not 1 to 255 printable ASCII characters without a space (promise R13).
    """
    if not 0 < len(key) <= IDEMPOTENCY_KEY_MAX or not all("!" <= mark <= "~" for mark in key):
        raise UsageError(
            f"The idempotency key must be 1 to {IDEMPOTENCY_KEY_MAX} printable ASCII characters "
            "without spaces.",
            code="idempotency_key_invalid",
            param="idempotency_key",
        )
    return key


def check_version(version: str) -> str:
    """Returns an API version that has the form YYYY-MM-DD (spec: Versioning), else UsageError."""
    shape = "".join("9" if mark.isascii() and mark.isdigit() else mark for mark in version)
    if shape != "9999-99-99":
        raise UsageError(
            f"The API version {version!r} is not a date.",
            code="version_invalid",
            param="api_version",
            hint="Give it as YYYY-MM-DD.",
        )
    return version


def check_path(path: str, root: str = API_ROOT) -> str:
    """Returns a path that cannot leave the API, however a server normalises it (promise R25).

    Raises:
        UsageError: the path is not `root` and plain segments, without `..`, `//`, `%`, backslash,
            query or host.
    """
    if not path.startswith(f"{root}/"):
        raise UsageError(
            f"The path {path!r} is not one of the API.",
            code="path_invalid",
            hint="Give it whole, such as /v1/orders.",
        )
    parts = path.split("/")[2:]
    if not UNRESERVED.issuperset("".join(parts)) or {"", ".", ".."} & {*parts}:
        raise UsageError(
            f"The path {path!r} has a part that is not a plain name.",
            code="path_invalid",
            hint="Names are letters, digits, and . _ ~ - ; put parameters into --param.",
        )
    return path


def _target(call: Call, base_url: BaseUrl, root: str) -> str:
    path = base_url.prefix + check_path(call.path, root)
    if base_url.url(call.path) != base_url.origin + path:
        raise UsageError(f"The path {call.path!r} would leave {base_url}.", code="path_invalid")
    return f"{path}?{pairs_text(call.query)}" if call.query else path


def _key_for(call: Call, given: str | None, new_key: Callable[[], str]) -> str | None:
    if call.method == "POST":
        return check_key(new_key() if given is None else given)
    if given is not None:
        raise UsageError(
            f"A {call.method} takes no idempotency key.",
            code="idempotency_key_invalid",
            param="idempotency_key",
        )
    return None


def parse_body(body: str) -> Any:
    """Parses a JSON body, keeping the spelling of numbers; a form stays text, none is None."""
    with suppress(NotJson):  # of another release's file, or cut by what was redacted
        return parse_given(body) if body.startswith("{") else body or None
    return body
