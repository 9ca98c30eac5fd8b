"""`svc events inbox`: lists and shows the deliveries that listeners of this machine have kept.

The inbox is a part of the state database. `replay`, `prune`, `audit` and `svc timeline` use the
functions here to find its events, or the endpoints, of the profile and mode in use.
"""

import base64
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

import typer

from svc.cli.events.options import WHERE, content_filter
from svc.cli.events.secrets import place_of
from svc.cli.framework.app import Noun, make_app, verb
from svc.cli.framework.control import moments, sandbox_clock
from svc.cli.framework.options import EVENT_ID, flag, option
from svc.cli.framework.session import Session
from svc.errors import NotFound
from svc.json_text import parse_any
from svc.listen.endpoints import EndpointTable
from svc.listen.inbox.history import Content, InboxEntry, InboxFilter, InboxHistory, InboxScope
from svc.listen.output_records import iso
from svc.listen.routes import check_glob
from svc.state import Database

_BRIEF: Final = (
    *("id", "type", "received_at", "state", "status", "error", "attempts", "copies"),
    *("object_id", "target"),
)


def scope_of(session: Session) -> InboxScope:
    """Returns the profile, mode and origin in use, by which inbox entries are selected."""
    settings = session.settings
    origin = settings.address.origin if settings.address is not None else None
    return InboxScope(settings.profile, settings.mode, origin)


def archive_of(session: Session, state: Database) -> InboxHistory:
    """Returns the inbox with the entries of the profile, mode and origin in use."""
    return InboxHistory(state, scope_of(session))


def endpoints_of(session: Session) -> EndpointTable:
    """The endpoints that were registered for this origin, profile and mode."""
    return EndpointTable(session.state(), *place_of(session)[:3])


def entry_of(archive: InboxHistory, event_id: str) -> InboxEntry:
    """Returns one entry; raises NotFound: no listener of this profile and mode has received it."""
    entry = archive.find(event_id)
    if entry is None:
        raise NotFound(
            f"The inbox holds no event {event_id}.",
            code="not_in_inbox",
            hint=f"The service may know it: svc events retrieve {event_id}",
        )
    return entry


def tell_elsewhere(session: Session, archive: InboxHistory) -> None:
    """Says to people where nothing was found that events of another address of theirs wait."""
    origin = archive.find_origin_waiting() if session.format == "human" else None
    if origin is not None:
        session.out.hint(
            f"Events that came from {origin} are still to be forwarded: "
            f"svc events inbox --pending --base-url {origin}"
        )


# Given to the app: Typer takes no docstring of a callback whose app has no help.
app = make_app(
    """Show what was received, the newest first. Every delivery in it was verified.

    The state reset means that the sandbox was reset before the event was forwarded.

    $ svc events inbox --failed --pending --since 2h
    $ svc events inbox --type 'order.*' -o ndjson
    $ svc events inbox --object ord_3kPq0aVb7cXd9eYf1gZh2iWj --where 'data.object.amount > `10000`'
    """
)


@app.callback(cls=Noun, invoke_without_command=True)
def inbox(
    ctx: typer.Context,
    type_: str | None = option("GLOB", "Only these event types.", "--type"),
    failed: bool = flag(
        "--failed", "Only those that a target did not take and that are not tried again."
    ),
    pending: bool = flag(
        "--pending", "Only those still to be forwarded; with --failed, those as well."
    ),
    since: str | None = option("TIME", "Received since: 2h, 3d, yesterday or 2026-11-21."),
    object_id: str | None = option("ID", "Only about this object, or naming it.", "--object"),
    text: str | None = option("WORDS", "Only those with these words in them."),
    where: str | None = WHERE,
    most: int = option(
        "N", "How many at most, the newest.", "--max", "--limit", min=1, default=100
    ),
) -> None:
    """Shows what was received, unless a verb was named."""
    if ctx.invoked_subcommand is not None:
        return
    session: Session = ctx.obj
    if type_ is not None:
        check_glob(type_, "--type")
    read = moments(session, local=True).read
    start = read(since, "--since").begin.timestamp() if since else None
    archive = archive_of(session, session.state())
    meets = content_filter(where, text, object_id)
    found = archive.entries(InboxFilter(type_, failed, start, pending, meets))
    states: set[str] = set()
    shown = _note_states(islice(found, min(most, sys.maxsize)), states)
    session.out.stream(shown, kind="kept_delivery")
    _tell_reset(session, states)
    if not states:
        tell_elsewhere(session, archive)
    if session.format == "human" and next(found, None) is not None:
        session.out.hint(f"Only the newest {most} are shown; --max shows more.")
    waiting = InboxFilter(type_, since=start, pending=True, meets=meets)
    if failed and not pending and next(archive.entries(waiting), None) is not None:
        session.out.hint("Others are still to be forwarded: svc events inbox --pending")


@verb(app)
def show(session: Session, event_id: str = EVENT_ID) -> None:
    """Show one delivery.

    That is its payload, its headers, the forwards and the target's answers.

    $ svc events inbox show evt_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    archive = archive_of(session, session.state())
    entry = entry_of(archive, event_id)
    whole = _show_whole(archive, entry, archive.content(entry))
    if session.format == "human":
        del whole["payload_base64"]
        # The payload's times are the service's (R109: late is by the service's clock).
        session.note_time(sandbox_clock(session))
    session.out.value(whole)
    _tell_reset(session, {entry.state})


def _tell_reset(session: Session, states: set[str]) -> None:
    if "reset" in states:
        session.out.hint(
            "reset: the sandbox was reset before it was forwarded; svc events replay EVT sends it"
        )


def _note_states(entries: Iterator[InboxEntry], states: set[str]) -> Iterator[tuple[str, Any]]:
    """Returns entries as they are shown, and adds their states to a set."""
    for entry in entries:
        states.add(entry.state)
        line = json.dumps(_show_brief(entry))
        yield line, json.loads(line)


def _show_brief(entry: InboxEntry) -> dict[str, Any]:
    shown = {name: getattr(entry, name) for name in _BRIEF}
    return {"object": "kept_delivery", **shown, "received_at": iso(entry.received_at)}


def _show_whole(archive: InboxHistory, entry: InboxEntry, content: Content) -> dict[str, Any]:
    lines = content.headers.decode("latin-1").splitlines()
    pairs = [line.split(": ", 1) for line in lines if ": " in line]
    return {
        **_show_brief(entry),
        "verified": True,
        "headers": dict(pairs),
        "payload": parse_any(content.body),
        "payload_base64": base64.b64encode(content.body).decode(),
        "targets": [
            {**asdict(one), "next_at": None if one.next_at is None else iso(one.next_at)}
            for one in archive.at_targets(entry.seq)
        ],
        "forwards": [
            {
                **row,
                "replay": bool(row["replay"]),
                "started_at": iso(row["started_at"]),
                "milliseconds": round(row["milliseconds"], 3),
                "reply": row["reply"].decode("utf-8", "replace"),
            }
            for row in archive.forwards(entry)
        ],
    }
