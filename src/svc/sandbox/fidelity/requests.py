"""Reads `requests.toml`: the requests by which `svc sandbox compare` asks a service.

`svc.cli.sandbox.compare.asking` sends what `read_requests` returns, in the order of the file.
"""

import tomllib
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

from svc import service

MADE_MAX: Final = 40  # requests that make an object, repetitions included


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """One request of `requests.toml`, whose head describes the fields."""

    name: str
    send: str
    means: str
    body: dict[str, Any] | None = None
    form: bool = False
    raw: str | None = None
    key: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    auth: str = ""
    refused: bool = False
    needs: str = ""
    endpoint: bool = False

    @property
    def creates(self) -> bool:
        """Whether it makes an object where it is taken."""
        return self.send in {f"POST {noun.path}" for noun in service.nouns()}


def read_requests() -> dict[str, ProbeRequest]:
    """The requests by name, in the order that they are sent."""
    text = files(__package__).joinpath("requests.toml").read_text(encoding="utf-8")
    return {name: ProbeRequest(name, **rest) for name, rest in tomllib.loads(text).items()}
