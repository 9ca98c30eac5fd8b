"""Keeps web pages out of the sandbox: by Host, by Origin, and by the controls' header."""

from typing import Final

from starlette.types import Scope

from svc.sandbox.hosts import host_of, is_loopback
from svc.sandbox.problems import Problem, http_invalid
from svc.spec import SANDBOX_HEADER, SANDBOX_ROOT

ERROR_TYPE: Final = "sandbox_error"
SITE: Final = b"sec-fetch-site"  # which every browser of today sends to this machine
_HEALTH: Final = ("GET", f"{SANDBOX_ROOT}/health")


def check_framing(scope: Scope) -> None:
    """Refuses a body with two lengths: who stands between would see another request than we do."""
    names = {name for name, _ in scope["headers"]}
    if {b"content-length", b"transfer-encoding"} <= names:
        raise http_invalid("A request has a Content-Length or a Transfer-Encoding, not both.")


def check_host(scope: Scope) -> None:
    """Refuses a Host that is no loopback name: a page whose name was bound to this machine.

    HTTP/1.0 knows requests without one, and no browser sends them.
    """
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if not hosts and scope.get("http_version") == "1.0":
        return
    if len(hosts) != 1 or not is_loopback(host_of(hosts[0])):
        message = "The sandbox answers only to localhost, 127.0.0.1 and [::1]."
        raise Problem(403, "host_not_allowed", message, type=ERROR_TYPE)


def check_page(scope: Scope) -> None:
    """Refuses what a page has its browser send: the keys of a sandbox are known to all (R103).

    A form or a frame asks nobody's leave and may name a key in its address; a browser tells of
    them in `Origin` or `Sec-Fetch-Site`. `none` is a person's own doing: an address typed in.
    """
    for name, value in scope["headers"]:
        if name == b"origin" or (name == SITE and value != b"none"):
            message = "The sandbox answers programs and its own checkout, but no web page."
            raise Problem(403, "page_not_allowed", message, type=ERROR_TYPE)


def check_control(scope: Scope) -> None:
    """Refuses a control request without `Svc-Sandbox: 1`, which no web page can send unasked."""
    if (scope["method"], scope["path"]) == _HEALTH:
        return
    wanted = SANDBOX_HEADER.lower().encode()
    if not any(name == wanted and value == b"1" for name, value in scope["headers"]):
        message = f"Control requests carry the header {SANDBOX_HEADER}: 1."
        raise Problem(403, "sandbox_header_required", message, type=ERROR_TYPE)
