"""A real Chromium on somebody's site: it may not drive the sandbox that runs on this machine."""

import json
import os
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from support.running import Sandbox
from unit.sandbox.checkout.test_browser import ARGUMENTS, CHROMIUM

pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="needs Debian's package chromium: apt-get install chromium"
)
PAYOUT = {
    "amount": "1000",
    "currency": "EUR",
    "source_currency": "EUR",
    "destination[country]": "DE",
    "destination[iban]": "DE89370400440532013000",
    "destination[account_holder_name]": "Eve",
}
ENDPOINT = {"url": "http://127.0.0.1:9/actuator/shutdown", "events[]": "order.paid"}


def form(action: str, fields: dict[str, str], target: str) -> str:
    """A form that sends itself where `target` says."""
    inputs = "".join(f'<input name="{name}" value="{text}">' for name, text in fields.items())
    return f'<form method="post" action="{action}" target="{target}">{inputs}</form>'


def attack(base: str, keyed: str) -> str:
    """All that a page may try without asking: forms, frames, images, fetches and a popup."""
    forms = "".join(
        form(f"{keyed}{path}", fields, target)
        for path, fields in (("/v1/payouts", PAYOUT), ("/v1/webhook_endpoints", ENDPOINT))
        for target in ("frame", "popup")
    )
    script = f"""
      const bearer = {{Authorization: "Bearer sk_test_sandbox"}};
      const body = {json.dumps(json.dumps({"amount": 1000, "currency": "EUR"}))};
      const tries = [
        () => fetch("{base}/v1/payouts", {{method: "POST", body, headers: bearer}}),
        () => fetch("{base}/v1/payouts", {{method: "POST", body, mode: "no-cors",
                                           credentials: "include"}}),
        () => fetch("{base}/v1/orders", {{headers: bearer}}),
        () => fetch("{base}/_sandbox/reset", {{method: "POST", headers: {{"Svc-Sandbox": "1"}}}}),
        () => fetch("{base}/_sandbox/reset", {{method: "POST", mode: "no-cors"}}),
      ];
      window.read = [];
      window.attack = async () => {{
        window.open("about:blank", "popup");
        for (const each of document.forms) {{ each.submit(); await new Promise(r => setTimeout(r, 400)); }}
        for (const each of tries) {{
          try {{ const answer = await each(); if (answer.type !== "opaque") read.push(answer.status); }}
          catch (error) {{}}
        }}
        window.open("{keyed}/v1/orders", "second");
      }};
    """
    return (
        f'<!doctype html><title>harmless</title><iframe name="frame"></iframe>{forms}'
        f'<iframe src="{keyed}/v1/orders"></iframe><img src="{keyed}/v1/orders">'
        f'<button onclick="attack()">Go</button><script>{script}</script>'
    )


class Site:
    """Somebody's web site."""

    def __init__(self) -> None:
        site = self
        self.page = ""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(site.page.encode())

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's name
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    """It listens on loopback; what makes it another site is its name."""
    running = Site()
    yield running
    running.stop()


@pytest.fixture
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A window of a Chromium with a home of its own."""
    home = str(tmp_path_factory.mktemp("chromium"))
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=ARGUMENTS, env={**os.environ, "HOME": home}
        )
        yield browser.new_page()
        browser.close()


def kept(sandbox: Sandbox, path: str) -> Any:
    """What the sandbox holds, asked for as a program does."""
    connection = HTTPConnection("127.0.0.1", sandbox.port, timeout=10)
    connection.request("GET", path, headers={"Authorization": "Bearer sk_test_sandbox"})
    try:
        return json.loads(connection.getresponse().read())["data"]
    finally:
        connection.close()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_no_page_drives_the_sandbox(page: Page, site: Site, sandbox: Sandbox, name: str) -> None:
    """R103: what it sends with the public keys, also in a popup or frame, changes nothing."""
    keyed = f"http://sk_test_sandbox:@127.0.0.1:{sandbox.port}"
    site.page = attack(sandbox.url, keyed)
    answers: list[tuple[str, int]] = []
    page.context.on("response", lambda reply: answers.append((reply.url, reply.status)))
    page.goto(f"http://{name}:{site.port}/")
    page.get_by_role("button", name="Go").click()
    page.wait_for_timeout(4_000)
    assert kept(sandbox, "/v1/payouts") == []
    assert sandbox.control("GET", "/webhook_endpoints")["data"] == []
    ours = [(url, status) for url, status in answers if f":{sandbox.port}/" in url]
    assert {status for _, status in ours} == {403}, ours
    assert {url.split("?")[0].rpartition(str(sandbox.port))[2] for url, _ in ours} >= {
        "/v1/payouts",
        "/v1/webhook_endpoints",
        "/v1/orders",
    }
    assert page.evaluate("read") == []


def test_an_address_that_a_person_types_asks_for_no_password(page: Page, sandbox: Sandbox) -> None:
    """R103: he sees what the API says without a key."""
    reply = page.goto(f"{sandbox.url}/v1/orders")
    assert reply is not None
    assert reply.request.all_headers()["sec-fetch-site"] == "none"
    assert (reply.status, reply.header_value("www-authenticate")) == (401, None)
