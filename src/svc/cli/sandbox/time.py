"""`svc sandbox advance`, `clock` and `reset`: turns the sandbox's clock, or empties the sandbox.

Each calls a control of the running sandbox; `advance` shows the clock on a line while it turns.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Event

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import ask, call_and_show, moments, open_control, show
from svc.cli.framework.inputs import without_empty
from svc.cli.framework.inputs.times import seconds_of, stamp
from svc.cli.framework.options import argument, option
from svc.cli.framework.progress import LiveLine, beside
from svc.cli.framework.prompts import confirm
from svc.cli.framework.session import Session
from svc.cli.sandbox.shared import FIXTURE_NAME, SEED
from svc.client.reply import Reply
from svc.client.sandbox import control_call
from svc.errors import SvcError, UsageError
from svc.sandbox.clock import AdvanceUntil, ClockMode

app = make_app()


_AFTER_SECONDS = 1.0  # what is over sooner needs no progress
_EVERY_SECONDS = 0.3
_END_SECONDS = 0.3  # for a question that is under way when all is over (promise R78)


@contextmanager
def clock_shown(session: Session) -> Iterator[None]:
    """Shows the sandbox's time on a live line while the block turns its clock."""
    live = session.make_live_line()
    if not live.is_watched:
        yield
        return
    with beside(live, lambda over: _tell(session, live, over), _END_SECONDS):
        yield


def _tell(session: Session, live: LiveLine, over: Event) -> None:
    pause = _AFTER_SECONDS
    while not over.wait(pause):
        pause = _EVERY_SECONDS
        try:
            with open_control(session) as control:
                shown = control.send(control_call("GET", "clock")).data
                counts = shown["advanced"] or {"jobs": 0, "deliveries": 0}
                now, jobs, attempts = shown["now"], counts["jobs"], counts["deliveries"]
        except (SvcError, KeyError, TypeError):
            continue  # what went wrong is said by the call itself
        if not over.is_set():
            spent = f"  {live.seconds():.0f} s"
            from svc.render.human.cells import format_exact, parse

            moment = parse(now)
            utc = bool(session.given.everywhere.utc)
            live.show(
                now if moment is None else format_exact(moment, utc=utc, zone=None),
                f", jobs: {jobs}",
                f", attempts: {attempts}",
                spent,
            )


@verb(app)
def advance(
    session: Session,
    duration: str | None = argument(
        "[DURATION]", "How far, such as 3d, 1d12h or 90s.", default=None
    ),
    until: AdvanceUntil | None = option(
        "WHEN", "next: until the next job is done; idle: until none is left."
    ),
    to: str | None = option(
        "TIME", "The time to turn it to: 2026-11-21, 2026-11-21T09:00, tomorrow or 3d (ahead)."
    ),
) -> None:
    """Turn the sandbox's clock forward. What falls due on the way happens, webhooks too.

    $ svc sandbox advance 3d
    $ svc sandbox advance --until idle
    """
    if sum(given is not None for given in (duration, until, to)) != 1:
        raise UsageError("Give a duration, --until or --to.", hint="svc sandbox advance 3d")
    seconds = None if duration is None else seconds_of(duration, "DURATION")
    with clock_shown(session):
        call = control_call(
            "POST",
            "clock",
            "advance",
            body=without_empty(seconds=seconds, until=until, to=_time(session, to)),
        )
        reply = ask(session, call, unlimited=True)
    _tell_clock(session, reply)


@verb(app)
def clock(
    session: Session,
    mode: ClockMode | None = argument(
        "[realtime|frozen]", "realtime lets it run, frozen stops it.", default=None
    ),
    to: str | None = option(
        "TIME", "Turn it to this time first: 2026-11-21T09:00, tomorrow or 3d (ahead)."
    ),
) -> None:
    """Show the sandbox's clock, stop it or let it run. A stopped clock moves only when advanced.

    $ svc sandbox clock frozen --to 2030-01-01T00:00:00Z
    $ svc sandbox clock realtime
    """
    wanted = without_empty(mode=mode, now=_time(session, to))
    going = to is not None
    with (
        clock_shown(session) if going else nullcontext(),
        open_control(session, unlimited=going) as control,
    ):
        # Both modes of the account share the clock: its own `mode` is another thing.
        reply = control.send(
            control_call("POST", "clock", body=wanted) if wanted else control_call("GET", "clock")
        )
    _tell_clock(session, reply)


@verb(app)
def reset(session: Session, seed: int | None = SEED, fixture: str | None = FIXTURE_NAME) -> None:
    """Empty the sandbox. Objects, events, settings, faults and keys of both modes go.

    It asks first; a script gives -y.

    $ svc sandbox reset --fixture demo --yes
    """
    what = f"This empties the sandbox at {session.base_url}, in both modes."
    confirm(session, what, otherwise="Nothing was emptied.")
    call_and_show(session, "POST", "reset", body=without_empty(seed=seed, fixture=fixture))


def _time(session: Session, text: str | None) -> str | None:
    """When to turn the clock to; a duration is from what it shows now."""
    return None if text is None else stamp(moments(session, ahead=True).read(text, "--to").begin)


def _tell_clock(session: Session, reply: Reply) -> None:
    """Prints it; a job that broke is a bug of the sandbox, and what it was for has not happened."""
    show(session, reply)
    broken = reply.data.get("broken_jobs")
    if broken:
        session.out.warn(
            f"These jobs of the sandbox failed and are tried again: {broken}. See why: svc sandbox "
            f"logs"
        )
