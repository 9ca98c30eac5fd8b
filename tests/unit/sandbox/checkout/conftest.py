"""What the checkout's tests share: a sandbox process over HTTP, and pages read as their elements."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.running import Sandbox
from unit.sandbox.checkout.shop import Shop, path_of


@pytest.fixture
def path() -> Any:
    """Gives the path of an order's checkout."""
    return path_of


@pytest.fixture
def shop(sandbox_process: Sandbox, seeds: Iterator[int]) -> Shop:
    """An empty sandbox in which goods are sold and bought."""
    sandbox_process.control("POST", "/reset", {"seed": next(seeds)})
    return Shop(sandbox_process.url, sandbox_process.port, sandbox_process.control)
