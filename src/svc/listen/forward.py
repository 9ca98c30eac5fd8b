"""Forwarding: the received bytes, unchanged, to local targets (promises R52, R53, R54)."""

import re
import ssl
from collections.abc import Iterable, Sequence
from typing import Final

from svc.errors import UsageError
from svc.listen.link import Link, Reply
from svc.listen.targets import Target

FORWARD_SECONDS: Final = 8.0  # promise R51
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_OURS: Final = frozenset(("content-length", "transfer-encoding", "connection", "expect", "upgrade"))
_SIGNED: Final = "svc-"

HeaderText = tuple[str, str]


def parse_header(text: str) -> HeaderText:
    """Reads `Name: value` as given with `--header`.

    Raises:
        UsageError: it is malformed, frames the message, or would replace what was signed.
    """
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise UsageError(f"Malformed header {text!r}.", hint="Write it as 'Name: value'.")
    if name.lower() in _OURS or name.lower().startswith(_SIGNED):
        raise UsageError(f"The header {name} cannot be set.", hint="It belongs to the delivery.")
    return name, value


class Sender:
    """Builds requests for one target and opens links to it."""

    def __init__(self, target: Target, extra: Sequence[HeaderText] = ()) -> None:
        self.target = target
        names = {name.lower() for name, _ in extra}
        host = [] if "host" in names else [("Host", target.authority)]
        lines = f"POST {target.path} HTTP/1.1\r\n" + _lines([*host, *extra])
        self._start = lines.encode("latin-1")
        self._replaced = names
        self._context = ssl.create_default_context() if target.scheme == "https" else None

    def request(self, headers: Iterable[HeaderText], body: bytes) -> bytes:
        """Gives the bytes to send: the sender's own headers and the body as it was received."""
        kept = [(name, value) for name, value in headers if name.lower() not in self._replaced]
        rest = _lines(kept).encode("latin-1")
        return b"%s%sContent-Length: %d\r\n\r\n%s" % (self._start, rest, len(body), body)

    def link(self) -> Link:
        """Gives a connection of its own, opened with the first request."""
        return Link(self.target, self._context)


async def send_once(sender: Sender, headers: Iterable[HeaderText], body: bytes) -> Reply:
    """Sends one delivery over a connection that is closed afterwards."""
    link = sender.link()
    try:
        return await link.exchange(sender.request(headers, body), FORWARD_SECONDS)
    finally:
        link.close()


def _lines(headers: Iterable[HeaderText]) -> str:
    return "".join([f"{name}: {value}\r\n" for name, value in headers])
