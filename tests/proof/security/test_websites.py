"""A real Chromium on somebody's site: it may not drive the sandbox that runs on this machine."""

import json
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from support.browsing import REBOUND, browser, needs_chromium
from support.listening import PATH, TargetServer, event
from support.running import Sandbox
from support.serving import QuietHandler, serving
from support.suite.patience import slowed
from unit.listen.inspector.attacks import ATTACKS
from unit.listen.inspector.watched import watching

__all__ = ["browser"]  # a fixture

pytestmark = needs_chromium
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
        window.done = true;
      }};
    """
    return (
        f'<!doctype html><title>harmless</title><iframe name="frame"></iframe>{forms}'
        f'<iframe src="{keyed}/v1/orders"></iframe><img src="{keyed}/v1/orders">'
        f'<button onclick="attack()">Go</button><script>{script}</script>'
    )


class Site:
    """Somebody's web site, with one page."""

    page = ""
    port = 0


@pytest.fixture
def site() -> Iterator[Site]:
    """It listens on loopback; what makes it another site is its name."""
    made = Site()

    class Showing(QuietHandler):
        def get(self) -> None:
            self.answer(200, made.page.encode(), "text/html; charset=utf-8")

    with serving(Showing) as origin:
        made.port = urlsplit(origin).port or 0
        yield made


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A window that shares nothing with those of other tests."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def kept(sandbox: Sandbox, path: str) -> Any:
    """What the sandbox holds, asked for as a program does."""
    connection = HTTPConnection("127.0.0.1", sandbox.port, timeout=60)
    connection.request("GET", path, headers={"Authorization": "Bearer sk_test_sandbox"})
    try:
        return json.loads(connection.getresponse().read())["data"]
    finally:
        connection.close()


def order(sandbox: Sandbox, name: str = "Linen jacket", **more: Any) -> Any:
    """An order that a program makes, with a page to pay it on."""
    item = {"name": name, "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900}
    shipping = {"country": "DE", "postal_code": "10115", "city": "Berlin"}
    body = {"amount": 12900, "currency": "EUR", "items": [item], "shipping": shipping} | more
    connection = HTTPConnection("127.0.0.1", sandbox.port, timeout=60)
    headers = {"Authorization": "Bearer sk_test_sandbox", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/v1/orders", json.dumps(body), headers)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def ours(answers: list[tuple[str, int]], sandbox: Sandbox) -> list[tuple[str, int]]:
    """Paths of the sandbox that a page has asked for, each with what it was answered."""
    own = [(url, status) for url, status in answers if f":{sandbox.port}/" in url]
    return [(url.split("?")[0].rpartition(str(sandbox.port))[2], status) for url, status in own]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["localhost", pytest.param("127.0.0.1", marks=pytest.mark.slow(seconds=5))]
)
def test_no_page_drives_the_sandbox(page: Page, site: Site, sandbox: Sandbox, name: str) -> None:
    """R103: what it sends with the public keys, also in a popup or frame, changes nothing."""
    keyed = f"http://sk_test_sandbox:@127.0.0.1:{sandbox.port}"
    site.page = attack(sandbox.url, keyed)
    answers: list[tuple[str, int]] = []
    page.context.on("response", lambda reply: answers.append((reply.url, reply.status)))
    page.goto(f"http://{name}:{site.port}/")
    page.get_by_role("button", name="Go").click()
    page.wait_for_function("window.done")
    for window in page.context.pages:
        window.wait_for_load_state("networkidle")
    tried = {"/v1/payouts", "/v1/webhook_endpoints", "/v1/orders"}
    until = time.monotonic() + slowed(10)
    while not tried <= {path for path, _ in ours(answers, sandbox)} and time.monotonic() < until:
        page.wait_for_timeout(50)  # popups and frames end when they like
    assert tried <= {path for path, _ in ours(answers, sandbox)}
    assert {status for _, status in ours(answers, sandbox)} == {403}, answers
    assert kept(sandbox, "/v1/payouts") == []
    assert sandbox.control("GET", "/webhook_endpoints")["data"] == []
    assert page.evaluate("read") == []


@pytest.mark.slow
def test_an_address_that_a_person_types_asks_for_no_password(page: Page, sandbox: Sandbox) -> None:
    """R103: he sees what the API says without a key."""
    reply = page.goto(f"{sandbox.url}/v1/orders")
    assert reply is not None
    assert reply.request.all_headers()["sec-fetch-site"] == "none"
    assert (reply.status, reply.header_value("www-authenticate")) == (401, None)


def asked_as_the_same_site(page: Page, port: int, paths: list[str]) -> list[int]:
    """What a page is answered that was loaded before its name was bound to this machine.

    For its browser the program is the same site: it may set any header and read every answer.
    """
    home = f"http://{REBOUND}:{port}/attack"
    page.route(home, lambda route: route.fulfill(content_type="text/html", body="<p>Hello"))
    page.goto(home)
    headers = {"Authorization": "Bearer sk_test_sandbox", "Svc-Sandbox": "1"}
    answers: list[int] = page.evaluate(
        """async ([paths, headers]) => {
          const found = [];
          for (const path of paths) for (const method of ["GET", "POST"]) {
            const body = method === "POST" ? new URLSearchParams({amount: "1000", currency: "EUR"})
                                           : undefined;
            found.push((await fetch(path, {method, headers, body})).status);
          }
          return found;
        }""",
        [paths, headers],
    )
    return answers


@pytest.mark.slow
def test_a_rebound_name_is_not_the_sandbox(page: Page, sandbox: Sandbox) -> None:
    """R103: API, controls and checkout answer to the names of this machine alone."""
    made = order(sandbox)
    checkout = f"/checkout/{made['client_secret']}?key=pk_test_sandbox"
    paths = ["/v1/orders", f"/v1/orders/{made['id']}/cancel", "/_sandbox/reset", checkout, "/"]
    assert set(asked_as_the_same_site(page, sandbox.port, paths)) == {403}
    shown = page.goto(f"http://{REBOUND}:{sandbox.port}{checkout}")
    assert shown is not None
    assert shown.status == 403
    assert made["id"] not in shown.text()
    assert [(one["id"], one["status"]) for one in kept(sandbox, "/v1/orders")] == [
        (made["id"], made["status"])
    ]


@pytest.mark.slow(seconds=3)
def test_a_rebound_name_is_not_the_inspector(page: Page, tmp_path: Path) -> None:
    """R55: even where it has the token, and the same for the address of the deliveries."""
    with TargetServer() as target, watching(tmp_path, target.port) as watched:
        watched.send(event(1))
        watched.settled(1)
        root, port = urlsplit(watched.url).path, urlsplit(watched.url).port
        assert port is not None
        paths = [root, f"{root}delivery/evt_1", f"{root}delivery/evt_1/replay", f"{root}feed"]
        assert set(asked_as_the_same_site(page, port, paths)) == {421}
        assert set(asked_as_the_same_site(page, watched.port, [PATH])) == {421}
        assert len(target.received) == 1


@pytest.mark.slow(seconds=8)
def test_no_text_of_a_merchant_runs_in_the_checkout(page: Page, sandbox: Sandbox) -> None:
    """In names, addresses and notes, in one order after another: all of it stays text."""
    page.add_init_script("window.owned = false")
    hostile = [attack for attack in ATTACKS if attack.isprintable()]
    for attack in hostile[::2]:
        name, city = attack[:250], attack[:90]
        made = order(
            sandbox,
            name,
            metadata={"note": attack[:250]},
            shipping={"country": "DE", "city": city, "postal_code": "10115"},
        )
        page.goto(f"{sandbox.url}/checkout/{made['client_secret']}?key=pk_test_sandbox")
        assert name in page.evaluate("document.body.textContent")
        assert page.evaluate("window.owned") is False
        own = "script[src='/checkout/card.js']"
        foreign = f"script:not({own}), iframe, svg, object"
        assert page.locator(own).count() == 1
        assert page.locator(foreign).count() == 0
