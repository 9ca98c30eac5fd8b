"""The interface of a tunnel program: its arguments, and a reader of its log.

`cloudflared`, `ngrok` and `ssh` implement `Provider`; `tunnel` calls it.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Up:
    """The public address `url` leads to us from now on."""

    url: str


@dataclass(frozen=True, slots=True)
class Down:
    """The public address leads nowhere; `lasting`: the program will not reconnect by itself."""

    reason: str
    lasting: bool = False


TunnelSign = Up | Down


class LogReader:
    """Reads the log of one run of a program, and keeps what it said last."""

    def __init__(self) -> None:
        self._news = ""
        self._trouble = ""

    @property
    def said(self) -> str:
        """Its last error or warning, else its last line: what explains best why it is not up."""
        return self._trouble or self._news

    def read(self, line: str) -> TunnelSign | None:
        """Reads the next line of the log; returns the change that it reports, if any."""
        raise NotImplementedError


class Provider(Protocol):
    """One kind of tunnel; `name` is what people know it by, `program` what is looked for."""

    @property
    def name(self) -> str: ...

    @property
    def program(self) -> str: ...

    def arguments(self, port: int) -> list[str]:
        """What the program is given, so that it leads to a port of this machine."""

    def reader(self) -> LogReader:
        """Makes a reader for one run."""
