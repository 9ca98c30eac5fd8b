"""What one command line works with: every dependency, made when it is first asked for."""

import gc
import random
import uuid
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

from svc.cli.given import Given
from svc.cli.streams import Streams
from svc.clock import Clock, SystemClock
from svc.errors import ConfigError
from svc.paths import Paths

if TYPE_CHECKING:  # loaded by the properties that need them
    from svc.client.client import Client
    from svc.config.settings import Settings
    from svc.config.store import Config
    from svc.journal import State
    from svc.keys.resolve import ResolvedKey
    from svc.keys.store import KeyStore
    from svc.origin import BaseUrl
    from svc.render.output import Output

Format = Literal["human", "json", "ndjson", "csv", "id"]


class Session:
    """The dependencies of one command: streams, clock, settings, key, client, output, state."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        streams: Streams,
        clock: Clock | None = None,
    ) -> None:
        self.argv = list(argv)
        self.env = env
        self.streams = streams
        self.clock: Clock = clock or SystemClock()
        self.given = Given()
        self.done: str | None = None  # id of the object that a POST has made, for promise R77

    @staticmethod
    def of(ctx: Any) -> "Session":
        """The session of a Typer context."""
        return cast("Session", ctx.obj)

    @cached_property
    def paths(self) -> Paths:
        return Paths.from_env(self.env)
