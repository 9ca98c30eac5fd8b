"""Parses the address of a team's log, and names its streams, subjects and readers.

`--to` and `--from` of `svc events` are parsed to a `LogAddress`, which every module here takes.
"""

import re
from dataclasses import dataclass
from typing import Final, Self

from svc.base_url import BaseUrl
from svc.errors import ConfigError, UsageError
from svc.service.facts import Mode

_SHAPE: Final = re.compile(r"(?P<scheme>nats(?:\+tls)?)://(?P<hosts>[^/]+)/(?P<name>[^/]*)/?")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_TYPE: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_PORT: Final = 4222
_EXAMPLE: Final = "Write it as nats+tls://HOST/NAME, such as nats+tls://log.example.com/shop"
_UNFIT: Final = "_"  # stands in a subject for a type that is none


@dataclass(frozen=True, slots=True)
class LogAddress:
    """One log: its servers as (host, port), any of which leads to all of them, and its name."""

    hosts: tuple[tuple[str, int], ...]
    name: str
    tls: bool

    @classmethod
    def parse(cls, text: str, option: str) -> Self:
        """Reads `nats+tls://HOST[:PORT][,HOST...]/NAME`; `option` is where it was given.

        Raises:
            UsageError: it is malformed, holds a password, or is plain and not of this machine.
        """
        match = _SHAPE.fullmatch(text)
        if "@" in text:
            raise UsageError(
                "The address of a log holds no user name or password: others would see it in ps.",
                param=option,
                hint="Store them once: svc events log login LOG; in CI: SVC_LOG_CREDENTIALS",
            )
        if match is None:
            raise UsageError(f"{text!r} is not the address of a log.", param=option, hint=_EXAMPLE)
        if not _NAME.fullmatch(match["name"]):
            why = f"{match['name']!r} is not a name of a log: letters, digits, - and _, at most 32"
            raise UsageError(f"{why}.", param=option, hint=_EXAMPLE)
        hosts = tuple(_host(part, option) for part in match["hosts"].split(","))
        tls = match["scheme"] == "nats+tls"
        if not tls and not all(host.is_loopback for host in hosts):
            raise UsageError(
                "Without TLS a log is used on this machine alone.", param=option, hint=_EXAMPLE
            )
        return cls(tuple((host.host, host.port) for host in hosts), match["name"], tls)

    @property
    def servers(self) -> list[str]:
        """The servers as the client library takes them."""
        scheme = "tls" if self.tls else "nats"
        return [f"{scheme}://{_bracket_host(host)}:{port}" for host, port in self.hosts]

    @property
    def places(self) -> list[str]:
        """What stored credentials are bound to: each server and the log's name (R127)."""
        scheme = "nats+tls" if self.tls else "nats"
        return [
            f"{scheme}://{_bracket_host(host.lower())}:{port}/{self.name}"
            for host, port in self.hosts
        ]

    def stream(self, mode: Mode) -> str:
        """The name of the stream with the events of a mode."""
        return f"SVC_{self.name}_{mode}"

    def name_failed_stream(self, mode: Mode) -> str:
        """The name of the stream that notes what no job of a group could do."""
        return f"{self.stream(mode)}_failed"

    def subject(self, mode: Mode, event_type: str) -> str:
        """The subject of an event: the levels of its type are levels there."""
        level = event_type if _TYPE.fullmatch(event_type) else _UNFIT
        return f"svc.{self.name}.{mode}.{level}"

    def subjects(self, mode: Mode) -> str:
        """The subjects of all events of a mode."""
        return f"svc.{self.name}.{mode}.>"

    def notices(self, subject: str) -> str:
        """The subject on which the log announces, without its body, each event of a subject."""
        return f"notice{subject.removeprefix('svc')}"

    def reader_subject(self, mode: Mode, name: str) -> str:
        """The subject on which a laptop reports how far it has read."""
        return f"reader.{self.name}.{mode}.{name}"

    def readers_stream(self, mode: Mode) -> str:
        """The name of the stream with the last report of each laptop."""
        return f"{self.stream(mode)}_readers"

    def __str__(self) -> str:
        hosts = ",".join(
            _bracket_host(host) if port == _PORT else f"{_bracket_host(host)}:{port}"
            for host, port in self.hosts
        )
        return f"nats{'+tls' if self.tls else ''}://{hosts}/{self.name}"


def _host(text: str, option: str) -> BaseUrl:
    ported = re.search(r":[0-9]{1,5}$", text)
    try:
        return BaseUrl.parse(f"http://{text}" if ported else f"http://{text}:{_PORT}")
    except ConfigError:
        raise UsageError(
            f"{text!r} is not a host name of a log.", param=option, hint=_EXAMPLE
        ) from None


def _bracket_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
