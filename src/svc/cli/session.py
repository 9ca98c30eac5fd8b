"""What one command line works with: every dependency, made when it is first asked for."""

import gc
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from svc.cli.given import FORMATS, Given
from svc.cli.streams import Streams
from svc.clock import Clock, SystemClock
from svc.paths import Paths

if TYPE_CHECKING:  # loaded by the properties that need them
    from svc.client.call import Call
    from svc.client.client import Client
    from svc.client.prepared import Prepared
    from svc.config import Config, Settings
    from svc.journal import State
    from svc.keys.resolve import ResolvedKey
    from svc.keys.store import KeyStore
    from svc.origin import BaseUrl
    from svc.render.output import Output

Format = Literal["human", "json", "ndjson", "csv", "id"]


class Session:
    """The dependencies of one command: streams, clock, settings, key, client, output, state.

    Used as a context manager, so that what was opened is closed on every way out.
    """

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
        self.done: str | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @staticmethod
    def of(ctx: Any) -> "Session":
        """The session of a Typer context."""
        return cast("Session", ctx.obj)

    @staticmethod
    def is_long_running() -> None:
        """Turns the garbage collector on again, which short commands do without."""
        gc.enable()

    def note_done(self, data: Any) -> None:
        """Remembers what a POST has made, in case its result cannot be printed (promise R77)."""
        if isinstance(data, dict) and isinstance(data.get("id"), str):
            self.done = data["id"]

    # --- settings ---------------------------------------------------------------------------

    @cached_property
    def paths(self) -> Paths:
        return Paths.from_env(self.env)
