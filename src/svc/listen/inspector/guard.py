"""Who may use the inspector: whoever has its address, and no page of anybody else's.

Every page on the web may have a browser send requests to this machine. None knows the token, and
one that did would still be turned away for its origin; a name that somebody points at 127.0.0.1
(DNS rebinding) for its Host.
"""

import secrets
from typing import Final

from svc.listen.framing import Head, Refused

_TOKEN_BYTES: Final = 16  # 128 bits
_METHODS: Final = (b"GET", b"POST")


def new_token() -> str:
    """Makes what the address holds and nobody guesses."""
    return secrets.token_hex(_TOKEN_BYTES)


class Guard:
    """Looks at the head of each request before anything else does."""

    def __init__(self, token: str, port: int) -> None:
        self._root = f"/{token}/".encode()
        self._hosts = (f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode())

    def check(self, head: Head) -> None:
        """Lets a head pass.

        Raises:
            Refused: 421 for another host, 404 without the token, 403 for what another page sends.
        """
        hosts = head.values(b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Refused(421)
        start = head.target[: len(self._root)]
        if not secrets.compare_digest(start, self._root) or head.method not in _METHODS:
            raise Refused(404)
        allowed = _is_ours if head.method == b"POST" else _is_harmless
        if not allowed(head, b"http://" + hosts[0].lower()):
            raise Refused(403)

    def path(self, head: Head) -> str:
        """Gives what stands behind the token, without a slash in front, with its query."""
        return head.target[len(self._root) :].decode("latin-1")


def _is_ours(head: Head, own: bytes) -> bool:
    """Says whether one of our own pages sends this.

    Our pages send no referrer, which makes a browser write `Origin: null`; then Sec-Fetch-Site has
    to tell whose page it is. A browser that does not know that header names the origin.
    """
    origins, sites = head.values(b"origin"), head.values(b"sec-fetch-site")
    if sites:
        return sites == [b"same-origin"] and origins in ([], [b"null"], [own])
    return origins == [own]


def _is_harmless(head: Head, own: bytes) -> bool:
    """Says whether a GET is our own or a person's who follows the address, in a tab of its own."""
    if head.values(b"origin") not in ([], [own]):
        return False
    sites = head.values(b"sec-fetch-site")
    if sites in ([], [b"none"], [b"same-origin"]):
        return True
    return head.values(b"sec-fetch-mode") == [b"navigate"] and head.values(b"sec-fetch-dest") == [
        b"document"
    ]
