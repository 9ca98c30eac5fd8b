"""`svc sandbox requests`: what was asked of the API, listed or followed."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from svc.cli.framework.app import new_app, verb
from svc.cli.framework.control import ask, call_and_show
from svc.cli.framework.inputs import without_empty
from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.cli.sandbox.served import RequestLines
from svc.cli.sandbox.shared import FOLLOW_SECONDS, Follow, refuse_whole
from svc.client.resources import controls

app = new_app()

_FIRST: Final = 10  # of those that were there before, as `tail -f` shows them
_FEW: Final = 50  # are asked for at first; all that a sandbox remembers only if these are new
_ALL: Final = 1000


@verb(app)
def requests(
    ctx: typer.Context,
    path: Annotated[str | None, option("GLOB", "Only these paths, as '/v1/refunds*'.")] = None,
    limit: Annotated[int | None, option("1..1000", "How many at most.", show_default="25")] = None,
    follow: Follow = False,
) -> None:
    """List the latest API requests, newest first. Keys and account numbers are masked.

    The sandbox remembers 1000 of them until it is reset or stopped. With --follow the latest 10
    (or --limit) come first, oldest on top, and then each further one until Ctrl-C.

    $ svc sandbox requests --path '/v1/orders*'
    $ svc sandbox requests --follow
    """
    session = Session.of(ctx)
    if not follow:
        call_and_show(session, controls.requests(without_empty(path=path, limit=limit)))
        return
    refuse_whole(session)
    session.is_long_running()
    lines = RequestLines(session) if session.format == "human" else None
    for entry in _as_they_come(session, path, limit or _FIRST):
        if lines is None:
            session.out.record(entry)
        else:
            _tell(lines, entry)


def _as_they_come(session: Session, path: str | None, first: int) -> Iterator[dict[str, Any]]:
    """Gives the latest few, oldest first, then each further one; never ends by itself."""
    found = _latest(session, path, first)
    seen = _mark(found)
    while True:
        yield from reversed(found)
        session.clock.sleep(FOLLOW_SECONDS)
        found = _behind(seen, _latest(session, path, _FEW))
        if len(found) == _FEW:
            found = _behind(seen, _latest(session, path, _ALL))
        seen = _mark(found) or seen


def _latest(session: Session, path: str | None, limit: int) -> list[dict[str, Any]]:
    query = without_empty(path=path, limit=limit)
    return list(ask(session, controls.requests(query)).data["data"])


def _mark(found: list[dict[str, Any]]) -> tuple[str, str] | None:
    """What tells the newest one from every other: a sandbox that is reset repeats its ids."""
    return (found[0]["id"], found[0]["created"]) if found else None


def _behind(seen: tuple[str, str] | None, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    marks = [(one["id"], one["created"]) for one in found]
    return found[: marks.index(seen)] if seen in marks else found


def _tell(lines: RequestLines, entry: dict[str, Any]) -> None:
    from svc.render.human.cells import parse

    moment = parse(entry["created"])
    more = "  ".join(filter(None, (entry["error_code"], "replayed" if entry["replayed"] else None)))
    at = 0.0 if moment is None else moment.timestamp()
    lines.show(at, entry["method"], entry["path"], entry["status"] or None, more)
