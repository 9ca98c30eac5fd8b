"""`svc events replay`: sends kept events again, the same bytes with a new signature.

It selects events of this machine's inbox by id, `--failed` or `--pending`, and `resending` sends
them. With `--pending` listeners that start meanwhile wait, so that no event is sent twice.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated

import typer

from svc.cli.events.inbox import archive_of, entry_of, scope_of
from svc.cli.events.options import Where, check_targets, condition, refuse_formats
from svc.cli.events.resending import ReplayJob, ReplayOptions, ReplaySecrets, changes_of
from svc.cli.framework.app import make_app, verb
from svc.cli.framework.options import OptionSet, argument, flag, option, with_options
from svc.cli.framework.session import Session
from svc.errors import CheckFailed, UsageError
from svc.listen.forward.replay import ReplayLoop
from svc.listen.forward.request import FORWARD_SECONDS
from svc.listen.identity import count_left_pending, find_running_with_pending, hold_off_listeners
from svc.listen.inbox.history import InboxEntry, InboxFilter, InboxHistory
from svc.listen.targets import Target
from svc.state import Database
from svc.system.signals import Stopped

app = make_app()


class ReplayArguments(OptionSet):
    """What may be typed behind `svc events replay`."""

    events: Annotated[
        list[str] | None, argument("EVT...", "Events of the inbox, evt_...", show_default=True)
    ] = None
    failed: Annotated[
        bool,
        flag("--failed", "All events that a target did not take and that are not tried again."),
    ] = False
    pending: Annotated[
        bool, flag("--pending", "All still to be forwarded, where no listener runs that does it.")
    ] = False
    forward_to: Annotated[
        str | None, option("URL", "Where to send them.", show_default="where they went")
    ] = None
    times: Annotated[int, option("N", "How many times each is sent.", min=1, max=1000)] = 1
    original_signature: Annotated[
        bool, flag("--original-signature", "Keep the old signature and its time.")
    ] = False
    where: Where = None
    set_: Annotated[
        list[str] | None,
        option(
            "PATH=VALUE",
            "Change the event before it is sent: data.object.amount=1; repeatable. Needs "
            "--forward-to; the header Svc-Changed says so, and nothing of it is kept.",
            "--set",
        ),
    ] = None
    forward_timeout: Annotated[
        float, option("SECONDS", "How long one forward may take.", min=0.1)
    ] = FORWARD_SECONDS
    allow_remote_forward: Annotated[
        bool, flag("--allow-remote-forward", "Send to other machines too.")
    ] = False


@verb(app)
@with_options(ReplayArguments)
def replay(ctx: typer.Context, arguments: ReplayArguments) -> None:
    """Send received events again: the same bytes, signed now.

    --failed and --pending send to those targets that have not taken an event. With --times the
    target can show that it takes an event once; with --original-signature that it refuses an old
    one.

    $ svc events replay evt_3kPq0aVb7cXd9eYf1gZh2iWj --times 3
    $ svc events replay --failed --forward-to 3000/webhooks
    $ svc events replay evt_3kPq0aVb7cXd9eYf1gZh2iWj --set data.object.amount=1 --forward-to 3000
    """
    session = Session.of(ctx)
    session.prepare_long_run()  # connections refer to themselves: the collector frees them
    refuse_formats(session, "replay")
    _refuse_together(arguments)
    meets = condition(arguments.where)
    target = _target(arguments)
    state = session.state()
    archive = archive_of(session, state)
    options = ReplayOptions(
        target,
        arguments.times,
        arguments.original_signature,
        arguments.allow_remote_forward,
        not arguments.events,
        changes_of(arguments.set_ or ()),
        arguments.forward_timeout,
    )
    with _hold_listeners(session) if arguments.pending else nullcontext():
        entries = _choose(
            archive,
            arguments.events or [],
            InboxFilter(failed=arguments.failed, pending=arguments.pending, meets=meets),
        )
        if arguments.pending:
            _refuse_beside_a_listener(session, state)
        with ReplayLoop() as replayer:
            job = ReplayJob(session, archive, ReplaySecrets(session, state), options, replayer)
            refused = job.replay_all(entries)
    if replayer.stopped_by is not None:
        raise Stopped(replayer.stopped_by)
    if arguments.failed and not arguments.pending:
        _tell_left(session, state)
    if refused:
        raise _not_taken(refused, job.events, job.unsent)
    _tell_end(session, job.events, arguments.times, pending=arguments.pending)


def _refuse_together(arguments: ReplayArguments) -> None:
    """Refuses options that contradict each other; raises UsageError."""
    if bool(arguments.events) == (arguments.failed or arguments.pending):
        raise UsageError(
            "Name events, or give --failed or --pending.", hint="svc events inbox lists them"
        )
    if arguments.where is not None and arguments.events:
        raise UsageError("--where chooses among --failed and --pending.", param="--where")
    if arguments.set_ and not arguments.forward_to:
        raise UsageError(
            "A changed event goes only where --forward-to says.",
            param="--forward-to",
            hint="Add --forward-to URL",
        )
    if arguments.set_ and arguments.original_signature:
        raise UsageError(
            "A changed event needs a new signature.",
            param="--original-signature",
            hint="Leave --original-signature out",
        )


def _target(arguments: ReplayArguments) -> Target | None:
    """The one target that was named, if any."""
    if not arguments.forward_to:
        return None
    target = Target.parse(arguments.forward_to, allow_remote=arguments.allow_remote_forward)
    check_targets([target])
    return target


def _not_taken(refused: int, count: int, unsent: int) -> CheckFailed:
    were = "was" if refused == 1 else "were"
    beside = f"; {unsent} of them could not be sent" if unsent else ""
    return CheckFailed(
        f"{refused:,} of {_events(count)} {were} not taken{beside}.", code="replay_failed"
    )


def _tell_end(session: Session, count: int, times: int, *, pending: bool) -> None:
    """Says how many were sent and taken: what failed is an error."""
    if not count:
        session.out.note("There is none to send." if pending else "No event has failed.")
    elif session.format == "human":
        end = f" {times} times, taken each time" if times > 1 else ", all taken"
        sent = f"{_events(count)} sent again"
        session.out.note(f"{sent}{' and taken' if count == times == 1 else end}.")


def _events(count: int) -> str:
    return f"{count:,} event{'' if count == 1 else 's'}"


def _tell_left(session: Session, state: Database) -> None:
    """Says that events wait for listeners that do not run: those have not failed."""
    folder, ours = session.paths.state_dir / "listeners", scope_of(session)
    with hold_off_listeners(folder) as alone:
        # Beside another command that holds listeners back, it is unknown which of them run.
        count = (
            count_left_pending(state, folder, ours.origin, ours.profile, ours.mode) if alone else 0
        )
    if count and session.format == "human":
        session.out.note(
            f"{_events(count)} still {'waits' if count == 1 else 'wait'} for a listener that does "
            "not run: svc events replay --pending"
        )


@contextmanager
def _hold_listeners(session: Session) -> Iterator[None]:
    """Has listeners that start meanwhile wait, and sends nothing beside another one of us."""
    with hold_off_listeners(session.paths.state_dir / "listeners") as alone:
        if not alone:
            raise CheckFailed(
                "Another svc command starts a listener or sends what is pending.",
                code="replay_running",
                param="--pending",
                hint="Try again when it has ended",
            )
        yield


def _refuse_beside_a_listener(session: Session, state: Database) -> None:
    """Leaves what is pending to the listener that runs: both would send it."""
    folder, ours = session.paths.state_dir / "listeners", scope_of(session)
    found = find_running_with_pending(state, folder, ours.origin, ours.profile, ours.mode)
    if found is not None:
        raise CheckFailed(
            f"The listener on port {found.port} runs and forwards what is pending to "
            f"{' and '.join(found.targets)}.",
            code="listener_running",
            param="--pending",
            hint="Stop it first, or name the events to send them again",
        )


def _choose(archive: InboxHistory, names: list[str], wanted: InboxFilter) -> Iterable[InboxEntry]:
    """The named ones as they were named, the others oldest first, as they are read."""
    if names:
        return [entry_of(archive, name) for name in names]
    return archive.entries(wanted, oldest_first=True)
