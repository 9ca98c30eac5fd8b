"""`svc sandbox checkout`: where an order's page is, and opening it."""

import socket
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from support.on_terminal import OpenTerminal
from support.orders import ORDER
from support.running import Sandbox, Svc, api, ask


def unpaid(sandbox: Sandbox, key: str = "sk_test_sandbox") -> Any:
    """A new order, with its client secret."""
    return api(sandbox.port, "POST", "/v1/orders", ORDER, key)


def with_browser(
    open_terminal: OpenTerminal, tmp_path: Path, *argv: str, works: bool = True
) -> tuple[str, str]:
    """Runs the program at a terminal with a browser of ours; what it printed and what it opened."""
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    told = tmp_path / "told"
    browser.write_text(
        f"#!/bin/sh\nexport -p > '{told}'\necho \"$1\" >> '{opened}'\nexit {0 if works else 1}\n"
    )
    browser.chmod(0o755)
    # No other browser is to be found: one of the machine's own must not open, and none has a display.
    env = {"BROWSER": f"{browser} %s", "PATH": str(tmp_path), "TERM": "xterm"}
    with open_terminal("sandbox", "checkout", *argv, **env) as watched:
        assert watched.end() == 0
    return watched.seen, opened.read_text() if opened.exists() else ""


@pytest.mark.effect_of("sandbox checkout", "--print")
@pytest.mark.parametrize("argv", [(), ("--print",)])
def test_address_is_printed_into_a_pipe(svc: Svc, sandbox: Sandbox, argv: tuple[str, ...]) -> None:
    """One line that another program can open, and the page is there."""
    order = unpaid(sandbox)
    result = svc("sandbox", "checkout", order["id"], *argv)
    assert (result.code, result.err) == (0, "")
    path = f"/checkout/{order['client_secret']}?key=pk_test_sandbox"
    assert result.out == f"{sandbox.url}{path}\n"
    status, page = ask(sandbox.port, "GET", path)
    assert status == 200
    assert "12" in page


def test_client_secret_names_the_order_too(svc: Svc, sandbox: Sandbox) -> None:
    """As for `pay`."""
    order = unpaid(sandbox)
    by_secret = svc("sandbox", "checkout", order["client_secret"])
    assert by_secret.out == svc("sandbox", "checkout", order["id"]).out


def test_programs_get_json_when_they_ask(svc: Svc, sandbox: Sandbox) -> None:
    """With -o json, one document."""
    order = unpaid(sandbox)
    assert svc.ok("sandbox", "checkout", order["id"], "-o", "json") == {
        "object": "checkout_url",
        "url": f"{sandbox.url}/checkout/{order['client_secret']}?key=pk_test_sandbox",
    }


@pytest.mark.effect_of("sandbox checkout", "--return-url")
def test_return_url_goes_with_the_shopper(svc: Svc, sandbox: Sandbox) -> None:
    """Written into the address; one that leads off this machine without TLS is told on the page."""
    order = unpaid(sandbox)
    for back, status in (("http://localhost:3000/thanks?a=b", 200), ("http://shop.example/", 400)):
        url = svc("sandbox", "checkout", order["id"], "--return-url", back).out.strip()
        assert parse_qs(urlsplit(url).query)["return_url"] == [back]
        assert ask(sandbox.port, "GET", url.removeprefix(sandbox.url))[0] == status


def test_live_order_is_found_in_live_mode(svc: Svc, sandbox: Sandbox) -> None:
    order = unpaid(sandbox, "sk_live_sandbox")
    assert svc("sandbox", "checkout", order["id"]).code == 5
    assert order["client_secret"] in svc("sandbox", "checkout", order["id"], "--live").out


def test_browser_is_given_no_secret(
    sandbox: Sandbox, tmp_path: Path, open_terminal: OpenTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R43: it is a child as any other; a person sees what it was told to open."""
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", "whsec_canary7Qx2Lw9Zp4")
    order = unpaid(sandbox)
    printed, opened = with_browser(open_terminal, tmp_path, order["id"])
    url = f"{sandbox.url}/checkout/{order['client_secret']}?key=pk_test_sandbox"
    assert (opened, url in printed) == (f"{url}\n", True)
    told = (tmp_path / "told").read_text()
    assert "SVC_BASE_URL" in told
    assert "SVC_API_KEY" not in told
    assert "whsec_" not in told


def test_print_opens_nothing(sandbox: Sandbox, tmp_path: Path, open_terminal: OpenTerminal) -> None:
    printed, opened = with_browser(open_terminal, tmp_path, unpaid(sandbox)["id"], "--print")
    assert "/checkout/" in printed
    assert opened == ""


def test_missing_browser_is_said(
    sandbox: Sandbox, tmp_path: Path, open_terminal: OpenTerminal
) -> None:
    """Where no browser can be opened the address is still there to copy."""
    printed, _ = with_browser(open_terminal, tmp_path, unpaid(sandbox)["id"], works=False)
    assert "/checkout/" in printed
    assert "No browser could be opened" in printed


def test_a_rolled_publishable_key_goes_on_working(svc: Svc, sandbox: Sandbox) -> None:
    """`pay` and `checkout` take the new one; the old one is refused, and the roll says what to do."""
    order = unpaid(sandbox)
    keys = svc.ok("sandbox", "keys", "list")["data"]
    old = next(key["id"] for key in keys if key["type"] == "publishable")
    rolled = svc("sandbox", "keys", "roll", old)
    assert "svc keys add --publishable" in rolled.err
    new = rolled.json["secret"]
    assert svc("sandbox", "pay", order["id"]).code == 4
    env = {"SVC_PUBLISHABLE_KEY": new}
    url = svc("sandbox", "checkout", order["id"], env=env).out.strip()
    assert url.endswith(f"?key={new}")
    assert ask(sandbox.port, "GET", url.removeprefix(sandbox.url))[0] == 200
    assert svc("sandbox", "pay", order["id"], env=env).json["order"]["status"] == "paid"


def test_an_advance_that_nobody_waits_for_any_more_stops(svc: Svc, sandbox: Sandbox) -> None:
    """A receiver that never answers: the command gives up when it was told to, and so does the clock."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        svc.ok("webhook-endpoints", "create", "--url", url, "--events", "order.paid")
        svc.ok("sandbox", "clock", "frozen")
        svc.ok("sandbox", "trigger", "order.paid")
        result = svc("--max-time", "1", "sandbox", "advance", "1h")
        assert result.code == 7
        assert (before := svc.ok("sandbox", "clock"))["advancing_to"] is None
        assert svc.ok("sandbox", "clock")["now"] == before["now"]
