"""What every test gets: a home of its own; and the fixtures `svc`, `sandbox` and `control`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from svc.clock import SystemClock
from svc.sandbox.launch_options import LaunchOptions
from svc.sandbox.process import start, stop


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


@dataclass(frozen=True)
class Result:
    """What one run of the real program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error envelope on stderr."""
        return json.loads(self.err.splitlines()[-1])["error"]


class Svc:
    """Runs the real program as a process of its own, in the test's environment."""

    def __call__(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "svc", *argv],
            input=stdin,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def ok(self, *argv: str, stdin: str = "", env: dict[str, str] | None = None) -> Any:
        """Runs a command that must succeed and returns its JSON."""
        result = self(*argv, stdin=stdin, env=env)
        assert result.code == 0, result.err
        return result.json


@pytest.fixture
def svc() -> Svc:
    """The program."""
    return Svc()


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox with nothing in it."""

    url: str
    port: int

    def control(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """Calls a control under `/_sandbox` without going through the program under test."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Svc-Sandbox": "1", "Content-Type": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, f"/_sandbox{path}", payload, headers)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


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
