"""`svc events replay`: send received events again, signed now."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from svc.cli.app import new_app, verb
from svc.cli.listen_archive import archive_of, entry_of
from svc.cli.listen_endpoint import Endpoints
from svc.cli.listen_lines import HumanLines, as_ndjson
from svc.cli.listen_screen import layout_of
from svc.cli.session import Session
from svc.cli.webhook_secret import VARIABLE, from_environment
from svc.errors import CheckFailed, UsageError
from svc.listen.archive import Archive, Content, Entry, Wanted
from svc.listen.forward import FORWARD_SECONDS, Sender
from svc.listen.link import Reply
from svc.listen.records import Forwarded, is_success
from svc.listen.replaying import send, signed_anew
from svc.listen.targets import Target

app = new_app()


@verb(app)
def replay(
    ctx: typer.Context,
    events: Annotated[
        list[str] | None, typer.Argument(metavar="EVT...", help="Events of the inbox, evt_...")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="All events that a target did not take.")
    ] = False,
    forward_to: Annotated[
        str | None, typer.Option(metavar="URL", help="Where to; default: where they went.")
    ] = None,
    times: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="Send each N times.")
    ] = 1,
    original_signature: Annotated[
        bool, typer.Option("--original-signature", help="Keep the old signature and its time.")
    ] = False,
    allow_remote_forward: Annotated[
        bool, typer.Option("--allow-remote-forward", help="Send to other machines too.")
    ] = False,
) -> None:
    """Send received events again: the same bytes, signed now.

    With --times the target can show that it takes an event once; with --original-signature that it
    refuses an old one.

    $ svc events replay evt_3kPq0aVb7cXd9eYf1gZh2iWj --times 3
    $ svc events replay --failed --forward-to 3000/webhooks
    """
    session = Session.of(ctx)
    if bool(events) == failed:
        raise UsageError("Name events, or give --failed.", hint="svc events inbox lists them")
    target = Target.parse(forward_to, allow_remote=allow_remote_forward) if forward_to else None
    archive = archive_of(session)
    entries = _chosen(archive, events or [])
    job = _Job(session, archive, target, times, original_signature, allow_remote_forward)
    refused = sum(not job.replay(entry) for entry in entries)
    if refused:
        raise CheckFailed(
            f"{refused} of {len(entries)} events were not taken.", code="replay_failed"
        )
    if not entries:
        session.out.note("No event has failed.")


def _chosen(archive: Archive, names: list[str]) -> list[Entry]:
    if names:
        return [entry_of(archive, name) for name in names]
    return list(archive.entries(Wanted(failed=True)))[::-1]


@dataclass(slots=True)
class _Job:
    session: Session
    archive: Archive
    target: Target | None
    times: int
    original: bool
    allow_remote: bool

    def replay(self, entry: Entry) -> bool:
        """Sends one event to its targets; says whether all of them took it every time."""
        content = self.archive.content(entry)
        taken = True
        for target in self._targets(entry):
            sender = Sender(target)
            tried = []
            for number in range(1, self.times + 1):
                started = self.session.clock.now()
                reply = send(sender, self._headers(entry, content), content.body, FORWARD_SECONDS)
                self._show(entry, target, reply, number)
                tried.append(
                    (
                        str(target),
                        started,
                        reply.milliseconds,
                        reply.status,
                        reply.error,
                        reply.body,
                    )
                )
                taken &= is_success(reply.status)
            self.archive.note_replays(entry.seq, tried, taken=taken)
        return taken

    def _targets(self, entry: Entry) -> Iterator[Target]:
        if self.target is not None:
            yield self.target
            return
        urls = dict.fromkeys(
            row["url"] for row in self.archive.forwards(entry) if not row["replay"]
        )
        if not urls and not entry.targets:
            raise UsageError(
                f"{entry.id} was not forwarded anywhere.",
                param="--forward-to",
                hint="Say where to.",
            )
        for url in urls or entry.targets:
            yield Target.parse(url, allow_remote=self.allow_remote)

    def _headers(self, entry: Entry, content: Content) -> bytes:
        if self.original:
            return content.headers
        now = self.session.clock.now()
        return signed_anew(content.headers, content.body, [self._secret(entry)], now)

    def _secret(self, entry: Entry) -> str:
        given = from_environment(self.session.env)
        if given:
            return given[0]
        known = None
        if entry.endpoint_id is not None:
            endpoints = Endpoints(self.session, self.session.state(), sandbox=False)
            known = endpoints.secret_of(entry.endpoint_id)
        if known is None:
            raise UsageError(
                f"The signing secret of {entry.id} is not known here.",
                code="secret_missing",
                hint=f"Set {VARIABLE}, or add --original-signature",
            )
        return known

    def _show(self, entry: Entry, target: Target, reply: Reply, number: int) -> None:
        now = self.session.clock.now()
        record = Forwarded(
            now,
            entry.id,
            entry.type,
            str(target),
            reply.status,
            reply.milliseconds,
            number,
            reply.error,
            reply.body,
            None,
        )
        streams = self.session.streams
        if self.session.format == "human":
            lines = HumanLines(layout_of(self.session, streams.stdout))
            streams.stdout.write(lines.forward(record))
        else:
            streams.stdout.write(as_ndjson(record))
        streams.stdout.flush()
