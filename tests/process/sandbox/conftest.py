"""Sandbox processes for tests: each is ended and its pipes are closed when its test ends."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.launching import launch_options
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process.records import RunRecord

STUB = Path(__file__).with_name("stub_sandbox.py")
StartStub = Callable[..., "Stub"]


class Stub:
    """A running stub process and the first line that it printed."""

    def __init__(self, options: LaunchOptions) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(STUB), options.to_json()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.said: dict[str, Any] = json.loads(self.process.stdout.readline())

    @property
    def record(self) -> RunRecord:
        return RunRecord(**self.said)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where run records and logs go."""
    return tmp_path / "sandbox"


@pytest.fixture
def stub(folder: Path) -> Iterator[StartStub]:
    """Starts stub sandboxes on ports that the system chooses."""
    started: list[Stub] = []

    def start(*, port: int = 0, **more: Any) -> Stub:
        options = launch_options(folder, port=port, **more)
        started.append(Stub(options))
        return started[-1]

    yield start
    for each in started:
        each.close()
