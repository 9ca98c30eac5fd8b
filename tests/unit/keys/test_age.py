"""When a secret is due, and who is told of it."""

import threading
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.api_keys import parse
from svc.keys.age import DAY_SECONDS, SecretRecord, SecretRecords, assess_age
from svc.keys.facts import KeyFacts
from svc.keys.places import KeyPlace
from svc.listen.endpoints import list_signing_secrets

NOW = 1_700_000_000.0
PLACE = KeyPlace("https://api.example.com", "shop", "live")


def held(days: float | None, **more: object) -> SecretRecord:
    since = None if days is None else NOW - days * DAY_SECONDS
    return SecretRecord("api_key", "sk_live_…ab12", "shop", PLACE.origin, "live", since, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("days", "status"),
    [
        *((-3, "ok"), (0, "ok"), (75.9, "ok"), (76, "due"), (89.9, "due")),
        *((90, "overdue"), (None, "unknown")),
    ],
)
def test_a_key_is_judged_by_its_age(days: float | None, status: str) -> None:
    """90 days, and 14 days' warning; to the second; no age is below 0 days."""
    judged = assess_age(held(days), NOW, max_age=90 * DAY_SECONDS, warn=14 * DAY_SECONDS)
    assert judged.status == status
    assert judged.age_days == (None if days is None else max(0, int(days)))


def test_what_a_sandbox_made_for_itself_is_never_due() -> None:
    """Its signing secrets are public test data."""
    judged = assess_age(held(999, test_data=True), NOW, max_age=1, warn=0)
    assert (judged.status, judged.due_at) == ("sandbox", None)


@pytest.mark.parametrize(
    ("ends", "by"),
    [
        (NOW + 5, NOW + 5),
        (NOW - 5, None),
        (NOW, None),
        (None, NOW + 6 * DAY_SECONDS),  # rolled a day ago; the service allows seven
    ],
)
def test_an_old_key_is_told_of_while_it_may_work(ends: float | None, by: float | None) -> None:
    """Spec, Limits: where nobody has said until when, at most seven days."""
    judged = assess_age(
        held(1, old_name="sk_live_…cd34", old_ends_at=ends), NOW, max_age=9e9, warn=0
    )
    assert judged.old_ends_by == by


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "state.db"


def test_what_is_held_is_what_was_stored(state: Path, clock: ManualClock) -> None:
    """A rolled key is as old as its roll; publishable keys are safe to expose and not listed."""
    facts = KeyFacts(state, clock)
    secrets = SecretRecords(state, clock, list_signing_secrets)
    assert secrets.list_records() == []
    old, new = parse("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "x"), parse("sk_live_abcdefghijkl", "x")
    facts.remember(PLACE, old, "fake.Keyring", checked=True)
    clock.advance(5)
    rolled = facts.note_roll(
        PLACE, new, "fake.Keyring", checked=True, old=old.fingerprint, old_ends_at=None
    )
    shop = KeyPlace(PLACE.origin, "shop", "test", "publishable")
    facts.remember(shop, parse("pk_test_abcdefghijkl", "x"), "fake.Keyring", checked=False)
    (found,) = secrets.list_records(profile="shop")
    assert (found.name, found.since) == (new.fingerprint, rolled.rolled_at)
    assert found.old_name == old.fingerprint
    assert secrets.list_records(profile="other") == []


def test_of_two_at_once_one_tells(state: Path, clock: ManualClock) -> None:
    """A reminder comes once a day for each key, however many programs run."""
    KeyFacts(state, clock).remember(
        PLACE, parse("sk_live_abcdefghijkl", "x"), "fake.Keyring", checked=True
    )
    due = SecretRecords(state, clock, list_signing_secrets).list_records()
    told: list[SecretRecord] = []

    def tell() -> None:
        told.extend(SecretRecords(state, clock, list_signing_secrets).claim(due, clock.now()))

    threads = [threading.Thread(target=tell) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == due
    clock.advance(DAY_SECONDS - 1)
    tell()
    assert len(told) == 1
    clock.advance(1)
    tell()
    assert len(told) == 2


def test_a_clock_that_was_wrong_once_does_not_silence_it(state: Path, clock: ManualClock) -> None:
    """What was told in the future is told again today."""
    KeyFacts(state, clock).remember(
        PLACE, parse("sk_live_abcdefghijkl", "x"), "fake.Keyring", checked=True
    )
    secrets = SecretRecords(state, clock, list_signing_secrets)
    due = secrets.list_records()
    assert secrets.claim(due, clock.now() + 999 * DAY_SECONDS) == due
    assert secrets.claim(due, clock.now()) == due
