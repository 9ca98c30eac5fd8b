"""Runs OpenSSH's remote forwarding to a server of the user's, whose web server leads to it.

`svc events listen` chooses it by `--tunnel ssh:HOST`; `tunnel` keeps it up.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import ClassVar, Final

from svc.errors import UsageError
from svc.listen.tunnels import REMOTE_PORT
from svc.listen.tunnels.provider import LogReader, TunnelSign, Up
from svc.system import PORT_MAX

# No part may begin with a dash: nothing here can become an option of ssh.
_SHAPE: Final = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)@)?"
    r"(?P<host>\[[0-9A-Fa-f:]+\]|[A-Za-z0-9_][A-Za-z0-9_.-]*)"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_READY: Final = re.compile(r"(?:debug1: )?remote forward success for: listen\b")
_CHATTER: Final = ("debug", "OpenSSH_", "Authenticated to ", "Transferred: ", "Bytes per second: ")
_FIXED: Final = (
    "ExitOnForwardFailure=yes",
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "ConnectTimeout=10",
    "BatchMode=yes",
    "ControlPath=none",  # a shared connection would go on without us
    "RemoteCommand=none",
    "PermitLocalCommand=no",
)


@dataclass(frozen=True, slots=True)
class SshDestination:
    """A server that one can log in to, and the port there that shall lead to us."""

    user: str | None
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "SshDestination":
        """Reads `[USER@]HOST[:REMOTE_PORT]`; raises UsageError: it is malformed."""
        match = _SHAPE.fullmatch(text)
        port = int(match["port"] or REMOTE_PORT) if match else 0
        if match is None or not 0 < port <= PORT_MAX:
            raise UsageError(
                f"--tunnel cannot lead to {text!r}.",
                param="--tunnel",
                hint="Write it as ssh:[USER@]HOST[:REMOTE_PORT]",
            )
        return cls(match["user"], match["host"].strip("[]"), port)

    @property
    def login(self) -> str:
        """The argument of ssh that names the server, with the user if given."""
        return f"{self.user}@{self.host}" if self.user else self.host

    @property
    def public_url(self) -> str | None:
        """The address that the server has if its web server is in front; None for an alias."""
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return f"https://{self.host}" if "." in self.host else None
        return None


@dataclass(frozen=True, slots=True)
class Ssh:
    """`ssh -N -R`, with the user's own keys and configuration."""

    program: ClassVar[str] = "ssh"
    destination: SshDestination
    url: str

    @property
    def name(self) -> str:
        return f"ssh to {self.destination.host}"

    def arguments(self, port: int) -> list[str]:
        """No shell, no terminal, nothing forwarded but the one port; -v says when that is so."""
        options = [word for option in _FIXED for word in ("-o", option)]
        there = f"127.0.0.1:{self.destination.port}:127.0.0.1:{port}"
        return ["-N", "-T", "-a", "-x", "-v", *options, "-R", there, "--", self.destination.login]

    def reader(self) -> "SshReader":
        """Makes a reader for one run."""
        return SshReader(self.url)


class SshReader(LogReader):
    """Reads what `ssh -v` writes; a loss is the end of the program."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def read(self, line: str) -> TunnelSign | None:
        text = line.strip()
        if text and not text.startswith(_CHATTER):
            self._news = text
        return Up(self._url) if _READY.match(text) else None
