"""Checks who is calling: the API key and its rights, and that no foreign web page calls.

`app` checks the framing and the Host of every request; `api`, `control` and `checkout` check pages
and keys before a request is carried out. A refusal is raised as a `Problem`.
"""

import base64
from collections.abc import Collection
from typing import Final

from svc.sandbox.http.exchange import AsgiRequest
from svc.sandbox.parameters.problems import Problem, http_invalid
from svc.sandbox.resources import api_keys
from svc.sandbox.store.documents import KnownDoc
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import KEY_PREFIX_LENGTH, KEY_PREFIXES, SANDBOX_HEADER, SANDBOX_ROOT, Mode
from svc.system.hosts import host_of, is_loopback

CHALLENGE: Final = "WWW-Authenticate"
_CHALLENGE: Final = {CHALLENGE: 'Basic realm="svc"'}
NOT_PUBLISHABLE: Final = "publishable_key_required"


def key_text(authorization: str | None) -> str:
    """The key in a Basic (as the user name) or Bearer header.

    Raises:
        Problem: 401 `api_key_missing` or `api_key_invalid`.
    """
    scheme, _, rest = (authorization or "").strip().partition(" ")
    text = rest.strip()
    if scheme.lower() == "basic":
        text = _user_name(text)
    elif scheme and scheme.lower() != "bearer":
        raise build_invalid_key()
    if not text:
        message = "No API key was given. Send it as the user name of HTTP basic auth."
        raise Problem(401, "api_key_missing", message, headers=_CHALLENGE)
    return text


def mode_of(text: str) -> Mode:
    """The mode that a key's prefix decides; whether the key exists is another question."""
    known = KEY_PREFIXES.get(text[:KEY_PREFIX_LENGTH])
    return known[1] if known else "test"


def authenticate(tx: Transaction, text: str) -> KnownDoc:
    """The key's document; raises Problem: 401 `api_key_invalid` or `api_key_expired`."""
    key = api_keys.find(tx, text)
    if key is None:
        raise build_invalid_key()
    if api_keys.has_expired(tx, key):
        message = "This API key was rolled and has stopped working."
        raise Problem(401, "api_key_expired", message, headers=_CHALLENGE)
    return key


def permit(key: KnownDoc, resource: str, level: str) -> None:
    """Refuses what a key may not: 403 `secret_key_required` or `permission_denied` (Problem)."""
    if key["type"] == "publishable":
        message = "A publishable key cannot read or change data; use a secret key."
        raise Problem(403, "secret_key_required", message)
    if key["type"] == "restricted":
        granted = key["permissions"].get(resource, "none")
        if api_keys.LEVELS.index(granted) < api_keys.LEVELS.index(level):
            message = f"This restricted key needs {resource}:{level}."
            raise Problem(403, "permission_denied", message)


def permit_checkout(kind: str) -> None:
    """Refuses any but a publishable key (403): a browser must not have a secret key."""
    if kind != "publishable":
        message = "The checkout takes a publishable key; secret keys stay on the server."
        raise Problem(403, NOT_PUBLISHABLE, message)


def https_required() -> Problem:
    message = "Requests must use HTTPS."
    return Problem(401, "https_required", message, headers=_CHALLENGE)


def build_invalid_key() -> Problem:
    return Problem(401, "api_key_invalid", "The API key is not valid.", headers=_CHALLENGE)


def _user_name(encoded: str) -> str:
    try:
        user, _, _ = base64.b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:  # no base64, or no text in it
        raise build_invalid_key() from None
    return user


ERROR_TYPE: Final = "sandbox_error"
SITE: Final = b"sec-fetch-site"  # which every browser of today sends to this machine
_HEALTH: Final = ("GET", f"{SANDBOX_ROOT}/health")


def check_framing(request: AsgiRequest) -> None:
    """Refuses a body with two lengths: a proxy could read another request than the sandbox."""
    if b"content-length" in request.headers and b"transfer-encoding" in request.headers:
        raise http_invalid("A request has a Content-Length or a Transfer-Encoding, not both.")


def check_host(request: AsgiRequest, also: Collection[str] = ()) -> None:
    """Refuses a Host that is no loopback name: a page whose name was bound to this machine.

    `also` are the names, in lower case, that the sandbox was told to answer to. HTTP/1.0 knows
    requests without one, and no browser sends them.
    """
    given = request.header("host")
    if given is None and request.scope.get("http_version") == "1.0":
        return
    host = host_of(given or "")
    if not is_loopback(host) and host.lower() not in also:
        names = ", ".join(("localhost", "127.0.0.1", "[::1]", *sorted(also)))
        message = (
            f"The sandbox answers only to {names}. Add a name: sandbox start --allow-host NAME."
        )
        raise Problem(403, "host_not_allowed", message, type=ERROR_TYPE)


def check_page(request: AsgiRequest, *, from_own: bool) -> None:
    """Refuses requests that a web page makes: the keys of a sandbox are known to all (R103).

    A form or a frame is sent without a preflight request and may name a key in its address; a
    browser tells of them in `Origin` or `Sec-Fetch-Site`. `none` is a person's own doing: an
    address typed in. `from_own` lets a link of our own pages lead there, too.
    """
    unasked = ("none", "same-origin") if from_own else ("none",)
    headers = request.headers
    if b"origin" in headers or headers.get(SITE, "none") not in unasked:
        message = "The sandbox answers programs and its own checkout, but no other web page."
        raise Problem(403, "page_not_allowed", message, type=ERROR_TYPE)


def check_control(request: AsgiRequest) -> None:
    """Refuses a control request without `Svc-Sandbox: 1`, which no web page can send unasked."""
    if (request.method, request.path) != _HEALTH and request.header(SANDBOX_HEADER) != "1":
        message = f"Control requests need the header {SANDBOX_HEADER}: 1."
        raise Problem(403, "sandbox_header_required", message, type=ERROR_TYPE)
