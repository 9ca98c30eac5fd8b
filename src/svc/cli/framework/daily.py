"""Prints, at most once a day, a line that reminds a person of keys that are due for rolling.

`cli.main` calls `remind_daily` after a command at a terminal; `svc.keys.age` decides what is due.
"""

import os
from typing import Final

from svc.cli.framework.session import Session
from svc.errors import LocalError, SvcError

_DAY_SECONDS: Final = 86_400
_LOOKED: Final = "reminders.looked"
# They tell of it themselves, or are no work with a key.
_SILENT: Final = frozenset(("keys", "help", "--help", "-h"))


def remind_daily(session: Session) -> None:
    """Prints a reminder of due keys at most once a day; ignores errors of its own.

    The database is opened once a day only: a file's date says when that was.
    """
    if session.given.everywhere.quiet or not _SILENT.isdisjoint(session.argv):
        return
    try:
        if session.format == "human" and _is_time(session):
            _tell(session)
    except LocalError as error:
        # The first command that meets a damaged database moves it aside: the user must be told.
        session.out.warn(f"{error.message} {error.hint or ''}".rstrip())
    except (SvcError, OSError):
        return


def _is_time(session: Session) -> bool:
    """Returns whether a day has passed since the last look, and notes this one."""
    paths = session.paths
    if not paths.has_state:
        return False
    path, now = paths.state_dir / _LOOKED, session.clock.now()
    try:
        ago = now - path.stat().st_mtime
    except FileNotFoundError:
        ago = _DAY_SECONDS
    if 0 <= ago < _DAY_SECONDS:
        return False
    path.touch(mode=0o600)
    os.utime(path, (now, now))
    return True


def _tell(session: Session) -> None:
    from svc.keys.age import MAX_AGE_SECONDS, WARN_SECONDS, SecretRecords, assess_age
    from svc.listen.endpoints import list_signing_secrets

    now = session.clock.now()
    secrets = SecretRecords(session.paths.state_file, session.clock, list_signing_secrets)
    every = [
        assess_age(secret, now, max_age=MAX_AGE_SECONDS, warn=WARN_SECONDS)
        for secret in secrets.list_records()
    ]
    due = {each.secret.identity: each for each in every if each.status in ("overdue", "due")}
    if not due:
        return
    told = [
        due[secret.identity]
        for secret in secrets.claim([each.secret for each in due.values()], now)
    ]
    if told:
        from svc.cli.framework.reminders import age, remedy, title

        first, *more = told
        line = f"{title(first.secret)}, {age(first)}: {remedy(first.secret)}"
        if more:
            many = f"{len(told)} keys or signing secrets"
            line = f"{many} are due to be replaced: svc keys remind"
        session.out.note(f"Reminder: {line}")
