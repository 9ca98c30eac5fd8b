"""What is remembered of stored keys."""

import sys
from typing import Literal

from support.clocks import ManualClock
from svc.api_keys import parse
from svc.keys.facts import KeyFacts
from svc.keys.places import KeyPlace

FIRST = parse("sk_test_4eC39HqLyjWDarjtT1zdp7dc", "a test")
SECOND = parse("rk_test_9fD40IrMzkXEbsktU2aeq8ed", "a test")


def place(
    profile: str = "shop", mode: Literal["test", "live"] = "test", origin: str = "https://h.example"
) -> KeyPlace:
    return KeyPlace(origin, profile, mode)


def test_nothing_is_known_and_nothing_made_before_a_key_is_stored(facts: KeyFacts) -> None:
    """Asking does not create the state database."""
    assert facts.every() == []
    assert facts.find(place()) is None
    facts.forget(place())
    assert not facts._path.exists()


def test_a_key_is_remembered_by_its_fingerprint(facts: KeyFacts, clock: ManualClock) -> None:
    """What, where, since when; nothing of the secret but its last four."""
    facts.remember(place(), FIRST, "a.Ring", checked=True)
    found = facts.find(place())
    assert found is not None
    assert (found.kind, found.fingerprint, found.backend) == ("secret", "sk_test_…p7dc", "a.Ring")
    assert (found.added_at, found.checked_at) == (clock.now(), clock.now())
    assert found.place == place()
    assert FIRST.secret[8:-4].encode() not in facts._path.read_bytes()


def test_the_same_key_added_again_is_as_old_as_it_was(facts: KeyFacts, clock: ManualClock) -> None:
    """Its age decides when it should be rolled."""
    began = clock.now()
    facts.remember(place(), FIRST, "a.Ring", checked=True)
    clock.advance(1000)
    facts.remember(place(), FIRST, "b.Ring", checked=False)
    again = facts.find(place())
    assert again is not None
    assert (again.added_at, again.checked_at, again.backend) == (began, began, "b.Ring")
    facts.remember(place(), SECOND, "b.Ring", checked=False)
    other = facts.find(place())
    assert other is not None
    assert (other.added_at, other.checked_at, other.kind) == (began + 1000, None, "restricted")


def test_each_place_is_its_own(facts: KeyFacts) -> None:
    """Listed by profile, origin and mode; forgotten one at a time."""
    places = [place("b"), place("a", "live"), place("a"), place("a", origin="https://z.example")]
    for each in places:
        facts.remember(each, FIRST, "a.Ring", checked=False)
    facts.forget(place("b"))
    listed = [each.place for each in facts.every()]
    assert listed == [place("a", "live"), place("a"), place("a", origin="https://z.example")]
    assert facts.every(profile="b") == []
    assert len(facts.every(profile="a")) == 3


def test_the_module_does_not_load_sqlite() -> None:
    """Start-up: commands whose key is in the environment need no database."""
    import subprocess

    code = "import sys, svc.keys.facts, svc.keys.resolve; print('sqlite3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
