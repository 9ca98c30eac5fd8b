"""What every test gets: a home of its own; and the fixtures `svc`, `sandbox` and `control`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.keyrings import gnome_keyring, session_bus
from support.paying import pay
from support.running import Sandbox, Svc
from svc.clock import SystemClock
from svc.sandbox.launch_options import LaunchOptions
from svc.sandbox.process import start, stop

__all__ = ["gnome_keyring", "pay", "session_bus"]  # fixtures


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with what takes longest, so that no core waits for it at the end."""

    def seconds(item: pytest.Item) -> float:
        mark = item.get_closest_marker("slow")
        return float(mark.kwargs.get("seconds", 0)) if mark else 0.0

    items.sort(key=seconds, reverse=True)


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


@pytest.fixture
def svc() -> Svc:
    """The program."""
    return Svc()


@pytest.fixture(scope="session")
def sandbox_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One sandbox process for all tests; `sandbox` empties it for each."""
    folder = tmp_path_factory.mktemp("sandbox")
    options = LaunchOptions(db=":memory:", port=0, state_dir=str(folder))
    record = start(options, os.environ, SystemClock())
    yield Sandbox(record.url, record.port)
    stop(folder, record, SystemClock())


@pytest.fixture
def sandbox(sandbox_process: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """An empty sandbox, and an environment in which the program uses it."""
    sandbox_process.control("POST", "/reset", {})
    monkeypatch.setenv("SVC_BASE_URL", sandbox_process.url)
    monkeypatch.setenv("SVC_API_KEY", "sk_test_sandbox")
    return sandbox_process
