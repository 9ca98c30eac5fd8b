"""A key that a command prints: what ends it."""

from pathlib import Path

import pytest

from svc.errors import AuthError
from svc.keys.command import read_key_from


def test_a_key_command_has_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that waits for somebody is ended; no shell reads it, and none of the folder is run."""
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    told: list[str] = []
    with pytest.raises(AuthError, match=r"takes more than 0\.1 s"):
        read_key_from(str(sleeper), {}, told.append, seconds=0.1)
    assert told == [f"Waits up to 0.1 s for the key command '{sleeper}'"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AuthError, match="no program sleeper on PATH"):
        read_key_from("sleeper", {"PATH": "."}, told.append, seconds=0.1)
    assert len(told) == 1
