"""A sandbox process with a tiny app in place of the service: `python stub_sandbox.py OPTIONS`.

The process's own behaviour is what is tested; `seed` picks how the app behaves.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from svc.errors import LocalError
from svc.sandbox.http.exchange import refusal
from svc.sandbox.process.launch import LaunchOptions
from svc.sandbox.process.serve import run

FAILS_AT_START = 1


async def health(request: Request) -> JSONResponse:
    """What the real health check answers, and the scheme that the app believes in."""
    return JSONResponse({"object": "sandbox", "scheme": request.url.scheme})


async def slow(request: Request) -> JSONResponse:
    """Takes as long as it is asked to."""
    await asyncio.sleep(float(request.query_params["seconds"]))
    return JSONResponse({"slept": True})


async def broken(request: Request) -> JSONResponse:
    """Meets a bug."""
    raise RuntimeError("a bug in the app")


def note(diary: Path, word: str) -> None:
    """Writes down how far the app's life has come."""
    diary.write_text(word)


def make_app(options: LaunchOptions) -> Starlette:
    """An app whose life span is written down beside its run record."""
    diary = Path(options.state_dir, "diary")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if options.seed == FAILS_AT_START:
            raise LocalError("The engine would not start.", hint="Try again")
        note(diary, "up")
        yield
        note(diary, "down")

    routes = [
        Route("/_sandbox/health", health),
        Route("/slow", slow),
        Route("/broken", broken),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.surface = SimpleNamespace(refuse=lambda problem: refusal(problem, "req_stub"))
    return app


if __name__ == "__main__":
    try:
        run(
            LaunchOptions.from_json(sys.argv[1]),
            make_app,
            lambda record: print(json.dumps(record._asdict()), flush=True),
        )
    except LocalError as error:
        print(json.dumps({"error": error.message, "hint": error.hint}), flush=True)
        sys.exit(10)
