"""The checkout when something breaks inside, or the shopper leaves in the middle of a request."""

import asyncio
import logging
from typing import Any

import pytest

from svc.sandbox.app import SandboxApp
from svc.sandbox.checkout.app import Checkout
from svc.sandbox.options import LaunchOptions


class BrokenEngine:
    """An engine whose disk is gone."""

    def read(self, *_: Any) -> Any:
        raise RuntimeError("/secret/path/sandbox.db")


def answered(method: str, incoming: dict[str, Any]) -> list[dict[str, Any]]:
    """What the application sends for one request to a broken engine."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "method": method,
        "path": "/checkout/ord_x_secret_y",
        "query_string": b"key=pk_test_sandbox&lang=fr",
        "scheme": "http",
        "headers": [
            (b"host", b"127.0.0.1:4242"),
            (b"sec-fetch-site", b"same-origin"),
            (b"content-type", b"application/x-www-form-urlencoded"),
        ],
    }

    async def receive() -> dict[str, Any]:
        return incoming

    async def send(message: Any) -> None:
        sent.append(message)

    app, pages = SandboxApp(LaunchOptions()), Checkout(BrokenEngine())  # type: ignore[arg-type]
    app._rooms, app.api = {"/checkout/": pages}, pages  # type: ignore[assignment]
    asyncio.run(app(scope, receive, send))
    return sent


def test_broken_engine_is_a_page_that_promises_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Whether the payment was made is not known then, so the page says where to look."""
    with caplog.at_level(logging.ERROR):
        start, body = answered("GET", {"type": "http.request", "body": b""})
    assert start["status"] == 500
    assert (b"cache-control", b"no-store") in start["headers"]
    page = body["body"].decode()
    assert '<html lang="fr">' in page
    assert "indique si le paiement a été effectué" in page
    assert "secret" not in page
    assert "ord_x_secret_y" not in caplog.text


def test_shopper_who_leaves_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """A form that never arrived whole gets no answer, and the log stays quiet."""
    assert answered("POST", {"type": "http.disconnect"}) == []
    assert caplog.records == []
