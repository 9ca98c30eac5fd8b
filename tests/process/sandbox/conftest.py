"""Sandbox processes for tests: each is ended and its pipes are closed when its test ends."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from support.forks.program import Forking
from support.launching import launch_options
from svc.sandbox.options import LaunchOptions
from svc.sandbox.process.records import RunRecord

STUB: Final = "process.sandbox.stub_sandbox"
StartStub = Callable[..., "Stub"]


class Stub:
    """A running stub process and the first line that it printed."""

    def __init__(self, forking: Forking, options: LaunchOptions) -> None:
        reading, writing = os.pipe()
        self._told = os.fdopen(reading)
        with os.fdopen(writing) as told:
            line = (options.to_json(),)
            self.process = forking.start(line, os.environ, told.fileno(), told.fileno(), STUB)
        self.said: dict[str, Any] = json.loads(self._told.readline())

    @property
    def record(self) -> RunRecord:
        return RunRecord(**self.said)

    def end(self) -> str:
        """Ends it as a person does; gives what it has written besides its first line."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        return self._told.read()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._told.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where run records and logs go."""
    return tmp_path / "sandbox"


@pytest.fixture
def stub(forking: Forking, folder: Path) -> Iterator[StartStub]:
    """Starts stub sandboxes on ports that the system chooses."""
    started: list[Stub] = []

    def start(*, port: int = 0, **more: Any) -> Stub:
        options = launch_options(folder, port=port, **more)
        started.append(Stub(forking, options))
        return started[-1]

    yield start
    for each in started:
        each.close()
