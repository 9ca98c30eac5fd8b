"""A sandbox process with a tiny app in place of the service: an entry of the fork server.

The process's own behaviour is what is tested; `seed` picks how the app behaves.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from svc.errors import LocalError
from svc.sandbox.app import SandboxApp
from svc.sandbox.http.exchange import AsgiRequest, HttpReply, refusal
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process.serve import serve

FAILS_AT_START = 1


def note(diary: Path, word: str) -> None:
    """Writes down how far the app's life has come."""
    diary.write_text(word)


class StubApp(SandboxApp):
    """The sandbox's own application with other rooms; its life is noted beside its run record."""

    def __init__(self, options: LaunchOptions) -> None:
        super().__init__(options)
        self._diary = Path(options.state_dir, "diary")
        self._fails = options.seed == FAILS_AT_START

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        if self._fails:
            raise LocalError("The engine would not start.", hint="Try again")
        note(self._diary, "up")
        yield
        note(self._diary, "down")

    def refuse(self, problem: Any) -> HttpReply:
        return refusal(problem, "req_stub")

    async def _reply(self, request: AsgiRequest) -> HttpReply | None:
        if request.path == "/broken":
            raise RuntimeError("a bug in the app")
        if request.path == "/slow":
            note(self._diary, "asked")
            await asyncio.sleep(float(request.fields["seconds"]))
        shown = {"object": "sandbox", "scheme": request.scope["scheme"]}
        return HttpReply(200, json.dumps(shown).encode())


def main() -> None:
    """Serves until a signal ends it."""
    try:
        serve(
            StubApp(LaunchOptions.from_json(sys.argv[1])),
            lambda record: print(json.dumps(record._asdict()), flush=True),
        )
    except LocalError as error:
        print(json.dumps({"error": error.message, "hint": error.hint}), flush=True)
        os._exit(10)
