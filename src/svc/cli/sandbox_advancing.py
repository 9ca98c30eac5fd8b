"""How far the sandbox's clock has come, on stderr, while it is turned forward."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from svc.cli.live_line import LiveLine
from svc.cli.sandbox_call import open_control
from svc.cli.session import Session
from svc.client import controls
from svc.errors import SvcError

_AFTER_SECONDS = 1.0  # what is over sooner needs no progress
_EVERY_SECONDS = 0.3


@contextmanager
def clock_shown(session: Session) -> Iterator[None]:
    """Asks the sandbox for its time beside the call in the block; clears the line at its end."""
    live = LiveLine.of(session)
    if not live.is_watched:
        yield
        return
    over = Event()
    thread = Thread(target=_tell, args=(session, live, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        live.clear()


def _tell(session: Session, live: LiveLine, over: Event) -> None:
    pause = _AFTER_SECONDS
    while not over.wait(pause):
        pause = _EVERY_SECONDS
        try:
            with open_control(session) as control:
                shown = control.send(controls.clock()).data
                counts = shown["advanced"] or {"jobs": 0, "deliveries": 0}
                now, jobs, attempts = shown["now"], counts["jobs"], counts["deliveries"]
        except (SvcError, KeyError, TypeError):
            continue  # what went wrong is said by the call itself
        live.show(f"{now}, jobs: {jobs}, attempts: {attempts}  {live.seconds():.0f} s")
