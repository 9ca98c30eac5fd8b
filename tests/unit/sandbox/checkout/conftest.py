"""What the checkout's tests share: a sandbox process over HTTP, and pages read as their elements."""

from typing import Any

import pytest

from unit.sandbox.checkout.shop import Shop, path_of


@pytest.fixture
def path() -> Any:
    """Gives the path of an order's checkout."""
    return path_of


@pytest.fixture
def shop(sandbox: Any) -> Shop:
    """An empty sandbox in which goods are sold and bought."""
    return Shop(sandbox.url, sandbox.port, sandbox.control)
