"""Runs a quick tunnel of Cloudflare: no account, a new address at every start.

`svc events listen` chooses it by `--tunnel cloudflared`, or by itself; `tunnel` keeps it up.
"""

import os
import re
from typing import Final

from svc.listen.tunnels.provider import Down, LogReader, TunnelSign, Up

# A line is time, level and message. Behind a message stand fields, and in them what a stranger
# asked for, as he wrote it: each pattern is looked for where a message begins.
_LINE: Final = re.compile(r"\S+Z (?P<level>[A-Z]{3}) (?P<text>.*)")
_ANNOUNCED: Final = re.compile(r"\|  (https://(?!api\.)[a-z0-9-]+\.trycloudflare\.com) +\|")
_CONNECTED: Final = re.compile(
    r"(?:Registered tunnel connection|Connection [0-9a-f-]+ registered)\b.*\bconnIndex=(\d+)"
)
_DISCONNECTED: Final = re.compile(
    r"(?:Unregistered tunnel connection|Connection terminated|Lost connection with the edge)\b"
    r".*\bconnIndex=(\d+)"
)
# Cloudflare drops a quick tunnel that was away for minutes; the program then tries for ever.
_DROPPED: Final = re.compile(
    r'(?:Register tunnel error|Serve tunnel error|Failed to serve)[\w ]* error="Unauthorized: '
)
_ERROR: Final = re.compile(r'\berror="([^"]+)"')
# Errors that every quick tunnel begins with: it needs neither configuration nor certificate.
_USUAL: Final = ("Configuration file ", "Cannot determine default ")


class Cloudflared:
    """`cloudflared tunnel --url`: its address is reachable once it has a connection."""

    name: Final = "cloudflared"
    program: Final = "cloudflared"

    def arguments(self, port: int) -> list[str]:
        """An empty configuration: the rules of the user's own would answer 404 for us."""
        return [
            "tunnel",
            "--config",
            os.devnull,
            "--no-autoupdate",
            "--loglevel",
            "info",
            "--url",
            f"http://127.0.0.1:{port}",
        ]

    def reader(self) -> "CloudflaredReader":
        """Makes a reader for one run."""
        return CloudflaredReader()


class CloudflaredReader(LogReader):
    """Reads lines such as `2026-09-30T02:32:21Z INF Registered tunnel connection connIndex=0`."""

    def __init__(self) -> None:
        super().__init__()
        self._address: str | None = None
        self._connections: set[str] = set()

    def read(self, line: str) -> TunnelSign | None:
        parts = _LINE.fullmatch(line)
        if parts is None:
            self._trouble = line.strip() or self._trouble
            return None
        level, text = parts["level"], parts["text"]
        self._note(level, text)
        if level == "INF" and (found := _ANNOUNCED.fullmatch(text)):
            known, self._address = self._address, found[1]
            return Up(found[1]) if self._connections and found[1] != known else None
        if _DROPPED.match(text):
            return Down("Cloudflare has dropped the tunnel", lasting=True)
        return self._count_connections(text)

    def _count_connections(self, text: str) -> TunnelSign | None:
        """Notes which connections there are; says whether the first came or the last went."""
        before = bool(self._connections)
        if found := _CONNECTED.match(text):
            self._connections.add(found[1])
        elif found := _DISCONNECTED.match(text):
            self._connections.discard(found[1])
        if bool(self._connections) == before or self._address is None:
            return None
        if self._connections:
            return Up(self._address)
        why = _ERROR.search(self._trouble)
        return Down(f"cloudflared is not connected{f': {why[1]}' if why else ''}")

    def _note(self, level: str, text: str) -> None:
        if level in ("DBG", "INF"):
            self._news = text
        elif text and not text.startswith(_USUAL):
            self._trouble = text
