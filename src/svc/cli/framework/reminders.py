"""Reminders in words, as data and as annotations of GitHub's; never a secret (promise R39)."""

from collections.abc import Iterator
from typing import Any

from svc.clock import utc
from svc.keys.age import Held, Judged
from svc.keys.resolve import VARIABLE


def build_view(judged: Judged) -> dict[str, Any]:
    """One secret as data; times are UTC, as the service writes them."""
    held = judged.held
    return {
        "object": "reminder",
        "type": held.what,
        "name": held.name,
        "status": judged.status,
        "profile": held.profile,
        "origin": held.origin or None,
        "mode": held.mode,
        "source": VARIABLE if held.variable else held.kept,
        "since": None if held.since is None else utc(held.since),
        "age_days": judged.age_days,
        "due": None if judged.due_at is None else utc(judged.due_at),
        "gone_with_reset": held.test_data,
        "old_key": None if judged.old_ends_by is None else held.old_name,
        "old_key_ends_by": None if judged.old_ends_by is None else utc(judged.old_ends_by),
        "next": remedy(held) if judged.status in ("overdue", "due") else None,
    }


def build_finding(judged: Judged) -> dict[str, Any]:
    """The same for people: a verdict, what it is about, and what can be done."""
    words = [about(judged.held), age(judged)]
    words += [] if judged.old_ends_by is None else [grace(judged)]
    due = judged.status in ("overdue", "due")
    return {
        "name": judged.held.name,
        "status": judged.status,
        "detail": "; ".join(words),
        "fix": remedy(judged.held) if due else None,
    }


def annotations(every: list[Judged]) -> Iterator[str]:
    """Workflow commands: what is overdue is an error, what is due or ends a warning."""
    for judged in every:
        held = judged.held
        what = "API key" if held.what == "api_key" else "Signing secret"
        if judged.status in ("overdue", "due"):
            level = "error" if judged.status == "overdue" else "warning"
            words = f"{title(held)}, {age(judged)}. {remedy(held)}"
            yield _annotation(level, f"{what} {judged.status}", words)
        if judged.old_ends_by is not None:
            yield _annotation("warning", "Old API key ends", f"{title(held)}: {grace(judged)}")


def title(held: Held) -> str:
    """What it is, by its name, and where it belongs."""
    what, where = _parts(held)
    return f"{what} {held.name} {where}"


def about(held: Held) -> str:
    """The same where its name stands beside it."""
    return " ".join(_parts(held))


def _parts(held: Held) -> tuple[str, str]:
    what = "key" if held.what == "api_key" else "signing secret"
    where = f"in {VARIABLE}" if held.variable else f"of profile {held.profile}"
    origin = f" ({held.origin})" if held.origin else ""
    return f"{held.mode} {what}", f"{where}{origin}"


def age(judged: Judged) -> str:
    """How old it is and when it is due."""
    if judged.age_days is None:
        return "of unknown age"
    days = f"{judged.age_days} day{'' if judged.age_days == 1 else 's'} old"
    if judged.due_at is None:
        return f"{days}, never due: the sandbox's test data, which is gone once that is reset"
    since = "since " if judged.status == "overdue" else ""
    return f"{days}, due {since}{day(judged.due_at)}"


def grace(judged: Judged) -> str:
    """Until when the old key works."""
    by = "until" if judged.held.old_ends_at is not None else "until, at the latest,"
    return f"the old key {judged.held.old_name} works {by} {utc(judged.old_ends_by or 0)}"


def remedy(held: Held) -> str:
    """What to do about it: the next command, or the next step in the dashboard."""
    if held.what == "signing_secret":
        return "Roll the secret in the dashboard, and give the receiver the new one"
    if held.variable:
        return f"Roll the key in the dashboard, and set {VARIABLE} anew where it is kept"
    live = " --live" if held.mode == "live" else ""
    return f"svc keys roll --profile {held.profile}{live}"


def day(seconds: float) -> str:
    """The day in UTC."""
    return utc(seconds)[:10]


def _annotation(level: str, name: str, message: str) -> str:
    return f"::{level} title={_escape(name, ':,')}::{_escape(message)}"


def _escape(text: str, also: str = "") -> str:
    """Escapes as GitHub's runner reads it back: the percent sign first."""
    for mark in ("%", "\r", "\n", *also):
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text
