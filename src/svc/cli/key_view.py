"""What is shown of a stored key: never more of its text than the last four characters."""

import time
from typing import Any

from svc.keys.facts import KeyFact
from svc.keys.names import title
from svc.keys.places import Place


def key_shown(fact: KeyFact) -> dict[str, Any]:
    """One stored key; times are UTC, as the service writes them."""
    return {
        **place_shown(fact.place),
        "kind": fact.kind,
        "fingerprint": fact.fingerprint,
        "added": utc(fact.added_at),
        "checked": None if fact.checked_at is None else utc(fact.checked_at),
        "keyring": title(fact.backend),
        **_roll_shown(fact),
    }


def _roll_shown(fact: KeyFact) -> dict[str, Any]:
    """What is known of the key before it; nothing where there is none."""
    if fact.rolled_at is None:
        return {}
    ends = None if fact.old_ends_at is None else utc(fact.old_ends_at)
    return {"rolled": utc(fact.rolled_at), "old_key": fact.old_fingerprint, "old_key_ends": ends}


def place_shown(place: Place) -> dict[str, Any]:
    """What a stored key is bound to."""
    return {"profile": place.profile, "origin": place.origin, "mode": place.mode}


def utc(seconds: float) -> str:
    """Unix seconds as ISO 8601 in UTC (spec: Conventions)."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
