"""What tests of whole commands share: a keyring that is a fake, named as such."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.forks.program import Forking
from support.ring_file import FakeRing
from support.running import Inside, Sandbox, Svc
from svc.sandbox.process.records import RunRecord, hold


@pytest.fixture
def svc(forking: Forking) -> Svc:
    """The program, in the test's own process where that tells no difference."""
    return Inside(forking)


@pytest.fixture
def fake_ring(isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRing:
    """Lets the program use the fake keyring, as a user would: by a setting."""
    folder = isolated / "config"
    folder.mkdir(mode=0o700)
    config = folder / "config.toml"
    config.write_text('# a note\nkeyring_backends = ["fake_file_ring.Keyring"]\n')
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "support" / "fake_ring"))
    monkeypatch.setenv("FAKE_RING", str(tmp_path / "ring.json"))
    monkeypatch.delenv("PYTHON_KEYRING_BACKEND")
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    return FakeRing(tmp_path / "ring.json")


@pytest.fixture
def own_sandbox(sandbox: Sandbox, isolated: Path) -> Iterator[Sandbox]:
    """A sandbox that the user of the test has started, as its run record says."""
    record = RunRecord(os.getpid(), sandbox.port, sandbox.url, ":memory:", "", "")
    with hold(isolated / "state" / "sandbox", record):
        yield sandbox
