"""What the tests of keys share: keyrings that are fakes, named as such."""

from collections.abc import Callable
from pathlib import Path

import pytest

from support.clocks import ManualClock
from svc.keys.facts import KeyFacts
from svc.keys.store import KeyStore
from unit.keys.fake_keyring import FakeKeyring, Killed


@pytest.fixture
def killed() -> type[BaseException]:
    return Killed


@pytest.fixture
def make_fake() -> Callable[..., FakeKeyring]:
    """Makes further fake keyrings."""
    return FakeKeyring


@pytest.fixture
def fake() -> FakeKeyring:
    """A fake keyring."""
    return FakeKeyring()


@pytest.fixture
def store(fake: FakeKeyring) -> KeyStore:
    """A key store that has only the fake keyring."""
    return KeyStore([fake])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def facts(tmp_path: Path, clock: ManualClock) -> KeyFacts:
    """Key facts in a database that is not there yet."""
    return KeyFacts(tmp_path / "state" / "state.db", clock)
