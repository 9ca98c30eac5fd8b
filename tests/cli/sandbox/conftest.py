"""What tests of the sandbox's commands share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.kills.killing import kill_sandboxes
from support.running import Svc


@pytest.fixture
def start(svc: Svc, isolated: Path) -> Iterator[Callable[..., Any]]:
    """Starts sandboxes in the background on free ports; kills them with the test."""

    def begin(*argv: str) -> Any:
        return svc.ok("sandbox", "start", "--detach", "--port", "0", *argv)

    yield begin
    kill_sandboxes(isolated / "state" / "sandbox")
