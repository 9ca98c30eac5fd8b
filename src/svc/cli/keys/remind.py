"""`svc keys remind`: lists API keys and signing secrets that are due to be replaced.

It prints text, JSON, a calendar file or annotations of GitHub. `svc.keys.age` judges the ages from
the dates in the state database; no secret is read. `framework.reminders` formats each reminder.
"""

import hashlib
import time
from collections.abc import Iterator
from typing import Final, Literal, get_args

from svc import api_keys
from svc.cli.framework import reminders
from svc.cli.framework.app import make_app, works_with_invalid_config
from svc.cli.framework.control import moments
from svc.cli.framework.inputs.times import seconds_of
from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.errors import CheckFailed, UsageError
from svc.keys.age import DAY_SECONDS, SecretAge, SecretRecord, SecretRecords, assess_age
from svc.keys.resolve import VARIABLE
from svc.listen.endpoints import list_signing_secrets
from svc.render.text import escape

app = make_app()

ReminderFormat = Literal["text", "json", "github", "ics"]


@works_with_invalid_config(app)
def remind(
    session: Session,
    max_age: str = option("DURATION", "The age at which a key is to be replaced.", default="90d"),
    warn: str = option("DURATION", "How long before that age a key is due.", default="14d"),
    format_: ReminderFormat | None = option(
        "FORMAT", f"One of {', '.join(get_args(ReminderFormat))}.", "--format"
    ),
    created: str | None = option(
        "TIME", "When the key in SVC_API_KEY was made: 2025-10-01 or 60d (ago)."
    ),
) -> None:
    """Say which API keys and signing secrets are due to be replaced.

    Ends with 11 if one is overdue. No secret is read or shown.

    $ svc keys remind
    $ svc keys remind --max-age 60d --format ics > keys.ics
    $ svc keys remind --created 2025-10-01 --format github
    """
    if format_ is not None:
        # The global format of all else that is printed, errors above all.
        session.given.everywhere.output = "json" if format_ == "json" else "human"
    limits = seconds_of(max_age, "--max-age"), seconds_of(warn, "--warn")
    _ = session.out  # made first: a wrong --query is told before anything else
    ages = assess_secrets(session, created, max_age=limits[0], warn=limits[1])
    _print(session, ages, format_, limits[1])
    _tell(session, ages)


def _print(session: Session, ages: list[SecretAge], name: str | None, warn: int) -> None:
    if name == "ics":
        session.stdout.write_bytes(calendar(ages, session.clock.now(), warn).encode())
    elif name == "github":
        for line in reminders.annotations(ages):
            session.out.annotation(line)
    elif session.out.format == "human" and session.given.everywhere.query is None:
        if ages:
            session.out.checkup([reminders.build_finding(each) for each in ages])
    else:
        session.out.value(
            [reminders.build_view(each) for each in ages], name="name", kind="reminder"
        )


def _tell(session: Session, ages: list[SecretAge]) -> None:
    """Says what is missing, and ends with 11 where something is overdue."""
    if not ages:
        session.out.note("No key and no signing secret is held here.")
    if any(each.status == "unknown" for each in ages):
        session.out.note("The age of the key in SVC_API_KEY is unknown. Give --created DATE")
    overdue = [each.secret for each in ages if each.status == "overdue"]
    if overdue:
        many = f"{len(overdue)} secrets are" if len(overdue) > 1 else "1 secret is"
        names = ", ".join(secret.name for secret in overdue)
        raise CheckFailed(
            f"{many} overdue: {names}.", code="key_overdue", hint=reminders.remedy(overdue[0])
        )


def assess_secrets(
    session: Session, created: str | None, *, max_age: float, warn: float
) -> list[SecretAge]:
    """Judges each secret; the one in SVC_API_KEY is as old as `created` says.

    Raises:
        UsageError: `created` is no date or in the future, or SVC_API_KEY is not set.
        LocalError: the state database cannot be used.
    """
    now = session.clock.now()
    chosen = session.given.everywhere.profile
    secrets = SecretRecords(session.paths.state_file, session.clock, list_signing_secrets)
    stored = secrets.list_records(profile=chosen)
    mine = _of_variable(session, created, now)
    everything = stored if mine is None else [mine, *stored]
    return [assess_age(each, now, max_age=max_age, warn=warn) for each in everything]


def _of_variable(session: Session, created: str | None, now: float) -> SecretRecord | None:
    text = session.env.get(VARIABLE)
    if not text:
        if created is not None:
            raise UsageError(
                f"--created is about the key in {VARIABLE}, which is not set.",
                param="--created",
                hint="Stored keys have dates of their own: leave --created out",
            )
        return None
    key = api_keys.parse(api_keys.without_line_end(text), VARIABLE)
    since = (
        None
        if created is None
        else moments(session, local=True).read(created, "--created").begin.timestamp()
    )
    if since is not None and since > now:
        raise UsageError(f"--created {created} is in the future.", param="--created")
    settings = session.settings
    origin = "" if settings.address is None else settings.address.origin
    return SecretRecord(
        "api_key", key.fingerprint, settings.profile, origin, key.mode, since, variable=True
    )


_LINE_OCTETS: Final = 75
_HEAD: Final = (
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//svc//keys remind//EN",
    "CALSCALE:GREGORIAN",
)
# A calendar must hold something (RFC 5545, 3.6), also where nothing is due.
_NOTHING: Final = (
    "BEGIN:VTIMEZONE",
    "TZID:UTC",
    "BEGIN:STANDARD",
    "DTSTART:19700101T000000",
    "TZOFFSETFROM:+0000",
    "TZOFFSETTO:+0000",
    "END:STANDARD",
    "END:VTIMEZONE",
)


def calendar(every: list[SecretAge], now: float, warn: int) -> str:
    """Builds an iCalendar text; its alarms go off `warn` seconds before a secret is due."""
    events = [line for secret_age in every for line in _events(secret_age, now, warn)]
    lines = (*_HEAD, *(events or _NOTHING), "END:VCALENDAR")
    return "".join(f"{_fold(line)}\r\n" for line in lines)


def _events(secret_age: SecretAge, now: float, warn: int) -> Iterator[str]:
    secret = secret_age.secret
    if secret_age.due_at is not None:
        start = f"DTSTART;VALUE=DATE:{_stamp(secret_age.due_at)[:8]}"
        what = "API key" if secret.what == "api_key" else "signing secret"
        words = (
            f"Replace the {what} {secret.name}",
            f"{reminders.title(secret)}. {reminders.remedy(secret)}",
        )
        yield from _event(f"due|{secret.identity}", now, start, words, warn)
    if secret_age.old_ends_by is not None:
        start = f"DTSTART:{_stamp(secret_age.old_ends_by)}"
        words = (
            f"The old API key {secret.old_name} ends",
            f"{reminders.title(secret)}: {reminders.grace(secret_age)}",
        )
        yield from _event(f"old|{secret.identity}", now, start, words, DAY_SECONDS)


def _event(
    identity: str, now: float, start: str, words: tuple[str, str], before: int
) -> Iterator[str]:
    """An event whose UID stays the same, so that a newer file moves it instead of doubling it."""
    summary, description = map(_escape, words)
    uid = hashlib.sha256(escape(identity).encode()).hexdigest()[:32]
    yield from ("BEGIN:VEVENT", f"UID:{uid}@svc", f"DTSTAMP:{_stamp(now)}", start)
    yield from (f"SUMMARY:{summary}", f"DESCRIPTION:{description}", "TRANSP:TRANSPARENT")
    yield from ("BEGIN:VALARM", "ACTION:DISPLAY", f"DESCRIPTION:{summary}")
    days, seconds = divmod(before, DAY_SECONDS)
    period = f"T{before}S" if seconds or not days else f"{days}D"
    yield from (f"TRIGGER:-P{period}", "END:VALARM", "END:VEVENT")


def _stamp(seconds: float) -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))


def _escape(text: str) -> str:
    """Text in which nothing ends a line: programs differ in what they take for an end (R61)."""
    text = escape(text)
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", "\\n")


def _fold(line: str) -> str:
    """Breaks a line after 75 octets at most and never inside a character (RFC 5545, 3.1)."""
    lines, used = [""], 0
    for mark in line:
        size = len(mark.encode())
        if used + size > _LINE_OCTETS:
            lines.append(" ")
            used = 1
        lines[-1] += mark
        used += size
    return "\r\n".join(lines)
