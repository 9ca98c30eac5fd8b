"""What `svc keys remind` judges: all that is held here, and the key of the environment."""

import re
from datetime import UTC, datetime
from typing import Final

from svc.cli.session import Session
from svc.errors import UsageError
from svc.keys import kinds
from svc.keys.due import Held, Judged, judge
from svc.keys.held import HeldSecrets
from svc.keys.resolve import VARIABLE

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(T.+)?", re.ASCII)


def found(session: Session, created: str | None, *, max_age: float, warn: float) -> list[Judged]:
    """Judges each secret; the one in SVC_API_KEY is as old as `created` says.

    Raises:
        UsageError: `created` is no date, or lies ahead, or there is no key that it is about.
        LocalError: the state database cannot be used.
    """
    now = session.clock.now()
    chosen = session.given.everywhere.profile
    held = HeldSecrets(session.paths.state_file, session.clock).every(profile=chosen)
    mine = _of_variable(session, created, now)
    everything = held if mine is None else [mine, *held]
    return [judge(each, now, max_age=max_age, warn=warn) for each in everything]


def _of_variable(session: Session, created: str | None, now: float) -> Held | None:
    text = session.env.get(VARIABLE)
    if not text:
        if created is not None:
            raise UsageError(
                f"--created is about the key in {VARIABLE}, which is not set.",
                param="--created",
                hint="Keys in the keyring have their own dates: leave --created out",
            )
        return None
    key = kinds.parse(kinds.without_line_end(text), VARIABLE)
    since = None if created is None else _seconds(created)
    if since is not None and since > now:
        raise UsageError(f"--created {created} lies ahead.", param="--created")
    settings = session.settings
    origin = "" if settings.address is None else settings.address.origin
    return Held(
        "api_key", key.fingerprint, settings.profile, origin, key.mode, since, variable=True
    )


def _seconds(text: str) -> float:
    """Reads a date or a time in ISO 8601; without a zone it is UTC."""
    try:
        # Only this spelling: `fromisoformat` takes many more.
        when = datetime.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        when = None
    if when is None:
        raise UsageError(
            f"--created {text!r} is no date.",
            param="--created",
            hint="Write it as 2025-10-01 or 2025-10-01T09:00:00Z",
        )
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
