"""Formats reminders of key rotation, as JSON, text and GitHub annotations; no secrets (R39).

`svc keys remind` prints what these functions return, `daily` a line; the ages come from
`svc.keys.age`.
"""

from collections.abc import Iterator
from typing import Any

from svc.clock import utc
from svc.keys.age import SecretAge, SecretRecord
from svc.keys.resolve import VARIABLE


def build_view(secret_age: SecretAge) -> dict[str, Any]:
    """One reminder as JSON; times are in UTC, in the service's format."""
    secret = secret_age.secret
    return {
        "object": "reminder",
        "type": secret.what,
        "name": secret.name,
        "status": secret_age.status,
        "profile": secret.profile,
        "origin": secret.origin or None,
        "mode": secret.mode,
        "source": VARIABLE if secret.variable else secret.kept,
        "since": None if secret.since is None else utc(secret.since),
        "age_days": secret_age.age_days,
        "due": None if secret_age.due_at is None else utc(secret_age.due_at),
        "gone_with_reset": secret.test_data,
        "old_key": None if secret_age.old_ends_by is None else secret.old_name,
        "old_key_ends_by": None if secret_age.old_ends_by is None else utc(secret_age.old_ends_by),
        "next": remedy(secret) if secret_age.status in ("overdue", "due") else None,
    }


def build_finding(secret_age: SecretAge) -> dict[str, Any]:
    """One reminder as a finding of `svc keys remind`: its status, a sentence and the next step."""
    words = [" ".join(_parts(secret_age.secret)), age(secret_age)]  # without the name
    words += [] if secret_age.old_ends_by is None else [grace(secret_age)]
    due = secret_age.status in ("overdue", "due")
    return {
        "name": secret_age.secret.name,
        "status": secret_age.status,
        "detail": "; ".join(words),
        "fix": remedy(secret_age.secret) if due else None,
    }


def annotations(every: list[SecretAge]) -> Iterator[str]:
    """Yields workflow commands of GitHub: an error for an overdue secret, else a warning."""
    for secret_age in every:
        secret = secret_age.secret
        what = "API key" if secret.what == "api_key" else "Signing secret"
        if secret_age.status in ("overdue", "due"):
            level = "error" if secret_age.status == "overdue" else "warning"
            words = f"{title(secret)}, {age(secret_age)}. {remedy(secret)}"
            yield _annotation(level, f"{what} {secret_age.status}", words)
        if secret_age.old_ends_by is not None:
            yield _annotation(
                "warning", "Old API key ends", f"{title(secret)}: {grace(secret_age)}"
            )


def title(secret: SecretRecord) -> str:
    """Names a secret: its mode, kind, name, and profile or variable."""
    what, where = _parts(secret)
    return f"{what} {secret.name} {where}"


def _parts(secret: SecretRecord) -> tuple[str, str]:
    what = "key" if secret.what == "api_key" else "signing secret"
    where = f"in {VARIABLE}" if secret.variable else f"of profile {secret.profile}"
    origin = f" ({secret.origin})" if secret.origin else ""
    return f"{secret.mode} {what}", f"{where}{origin}"


def age(secret_age: SecretAge) -> str:
    """Formats the age of a secret and the day on which it is due."""
    if secret_age.age_days is None:
        return "of unknown age"
    days = f"{secret_age.age_days} day{'' if secret_age.age_days == 1 else 's'} old"
    if secret_age.due_at is None:
        return f"{days}, never due: the sandbox's test data, which is gone once that is reset"
    since = "since " if secret_age.status == "overdue" else ""
    return f"{days}, due {since}{utc(secret_age.due_at)[:10]}"


def grace(secret_age: SecretAge) -> str:
    """Formats until when the old key works after a roll."""
    by = "until" if secret_age.secret.old_ends_at is not None else "until, at the latest,"
    return f"the old key {secret_age.secret.old_name} works {by} {utc(secret_age.old_ends_by or 0)}"


def remedy(secret: SecretRecord) -> str:
    """The next step: a command, or what to do in the dashboard."""
    if secret.what == "signing_secret":
        return "Roll the secret in the dashboard, and give the receiver the new one"
    if secret.variable:
        return f"Roll the key in the dashboard, and set {VARIABLE} anew where it is kept"
    live = " --live" if secret.mode == "live" else ""
    return f"svc keys roll --profile {secret.profile}{live}"


def _annotation(level: str, name: str, message: str) -> str:
    return f"::{level} title={_escape(name, ':,')}::{_escape(message)}"


def _escape(text: str, also: str = "") -> str:
    """Percent-encodes text as GitHub's runner decodes it."""
    for mark in ("%", "\r", "\n", *also):
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text
