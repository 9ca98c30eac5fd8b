"""Runs the ngrok agent, with the user's own account and configuration.

`svc events listen` chooses it by `--tunnel ngrok`, or by itself; `tunnel` keeps it up.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from svc.json_text import parse_any
from svc.listen.tunnels.provider import Down, LogReader, TunnelSign, Up

_LOST: Final = (
    "session closed, starting reconnect loop",
    "failed to reconnect session",
    "heartbeat timeout, terminating session",
)


@dataclass(frozen=True, slots=True)
class Ngrok:
    """`ngrok http`: its address comes from its log, for port 4040 may be another agent's.

    `url` is an address that the account owns; None takes what ngrok gives.
    """

    name: ClassVar[str] = "ngrok"
    program: ClassVar[str] = "ngrok"
    url: str | None = None

    def arguments(self, port: int) -> list[str]:
        """What the program is given, so that it leads to a port of this machine."""
        logs = ["--log", "stdout", "--log-format", "json", "--log-level", "info"]
        return ["http", f"127.0.0.1:{port}", *logs, *(["--url", self.url] if self.url else [])]

    def reader(self) -> "NgrokReader":
        """Makes a reader for one run."""
        return NgrokReader()


class NgrokReader(LogReader):
    """Reads lines such as `{"lvl":"info","msg":"started tunnel","url":"https://..."}`."""

    def __init__(self) -> None:
        super().__init__()
        self._address: str | None = None

    def read(self, line: str) -> TunnelSign | None:
        fields = parse_any(line)
        if not isinstance(fields, dict):
            self._trouble = line.strip() or self._trouble
            return None
        message, error = str(fields.get("msg", "")), _first_line(fields.get("err"))
        words = f"{message}: {error}" if error else message
        if fields.get("lvl") in ("warn", "eror", "crit"):
            self._trouble = words
        else:
            self._news = words
        return self._sign(message, words, fields)

    def _sign(self, message: str, words: str, fields: dict[str, Any]) -> TunnelSign | None:
        url = str(fields.get("url", ""))
        if message == "started tunnel" and url.startswith("https://"):
            self._address = url
        elif message in _LOST:
            return Down(words) if self._address else None
        elif message != "client session established":
            return None
        return Up(self._address) if self._address else None


def _first_line(error: object) -> str:
    """The reason alone: ngrok repeats a wrong authtoken in the lines below it."""
    lines = str(error or "").strip().splitlines()
    return lines[0].strip() if lines and error != "nil" else ""
