"""What every test gets: a home of its own, no keys, no proxies."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Points every folder at a temporary one and clears what could leak in from outside."""
    for name in list(os.environ):
        if name.startswith(("SVC_", "XDG_")) or name.upper().endswith("_PROXY"):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SVC_CONFIG_DIR", str(home / "config"))
    monkeypatch.setenv("SVC_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("SVC_CACHE_DIR", str(home / "cache"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("NO_COLOR", "1")
    return home
