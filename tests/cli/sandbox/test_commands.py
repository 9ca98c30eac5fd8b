"""`svc sandbox`, with the real program and real sandboxes."""

import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.orders import ORDER
from support.running import Sandbox, Svc, api
from support.servers.certificates import Authority, TlsServer
from support.servers.misbehaving import ScriptedServer
from support.suite.patience import patient
from svc import __version__

Start = Callable[..., Any]


def unpaid(sandbox: Sandbox, **changes: Any) -> Any:
    """A new order, with its client secret."""
    return api(sandbox.port, "POST", "/v1/orders", {**ORDER, **changes})


# --- the process ------------------------------------------------------------------------------


def test_start_runs_a_sandbox_and_stop_ends_it(svc: Svc, start: Start, isolated: Path) -> None:
    """A detached sandbox is found by `status`, ended by `stop`, and keeps its data."""
    started = start()
    assert started["db"] == str(isolated / "state" / "sandbox" / "sandbox.db")
    (shown,) = svc.ok("sandbox", "status")
    assert (shown["pid"], shown["url"], shown["status"]) == (
        started["pid"],
        started["url"],
        "running",
    )
    order = api(started["port"], "POST", "/v1/orders", ORDER)
    (ended,) = svc.ok("sandbox", "stop")
    assert (ended["pid"], ended["result"]) == (started["pid"], "stopped")
    assert svc.ok("sandbox", "stop") == []
    again = start()
    assert api(again["port"], "GET", f"/v1/orders/{order['id']}")["id"] == order["id"]


def test_status_without_a_sandbox_is_a_failed_check(svc: Svc) -> None:
    """Exit code 11, an empty list for programs and one line for people."""
    result = svc("sandbox", "status")
    assert (result.code, result.json) == (11, [])
    assert result.error["code"] == "sandbox_not_running"
    shown = svc("sandbox", "status", "-o", "human")
    assert shown.out == ""
    assert shown.err.startswith("Error: No sandbox is running.\n")


def configure(home: Path, text: str) -> Path:
    (home / "config").mkdir(mode=0o700)
    file = home / "config" / "config.toml"
    file.write_text(text)
    file.chmod(0o600)
    return file


def test_start_leaves_another_active_profile_alone(svc: Svc, start: Start, isolated: Path) -> None:
    """With an account in use, the sandbox is reached by its profile's name only."""
    text = 'active_profile = "shop"\n\n[profiles.shop]\nbase_url = "https://api.example.com"\n'
    file = configure(isolated, text)
    start("--db", ":memory:")
    assert file.read_text().startswith(text)
    refused = svc("sandbox", "settings")
    assert (refused.code, refused.error["code"]) == (2, "not_a_sandbox")
    assert refused.error["outcome"] == "not_sent"
    assert "--profile sandbox" in refused.error["message"]
    assert svc.ok("sandbox", "settings", "--profile", "sandbox")["object"] == "settings"


def test_start_does_not_take_a_profile_of_that_name_over(
    svc: Svc, start: Start, isolated: Path
) -> None:
    """A profile called sandbox that is not ours stays, and the user is told."""
    text = '[profiles.sandbox]\nbase_url = "https://sandbox.example.com"\n'
    file = configure(isolated, text)
    assert start("--db", ":memory:")["profile"] is None
    assert file.read_text() == text


@pytest.mark.effect_of("sandbox env", "--shell")
def test_env_is_evaluated_by_a_shell(svc: Svc, start: Start) -> None:
    """`eval "$(svc sandbox env)"` sets address and key."""
    started = start("--db", ":memory:")
    exports = svc("sandbox", "env").out
    script = f'{exports}\nprintf "%s %s" "$SVC_BASE_URL" "$SVC_API_KEY"'
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == f"{started['url']} sk_test_sandbox"
    live = svc.ok("sandbox", "env", "--live", "-o", "json")
    assert live == {"SVC_BASE_URL": started["url"], "SVC_API_KEY": "sk_live_sandbox"}
    assert svc("sandbox", "env", "--shell", "fish").out.startswith("set -gx SVC_BASE_URL http://")


@pytest.mark.parametrize(
    "words",
    [(), ("--port", "1"), ("--bogus",), ("--port", "one"), ("--shell", "ksh"), ("--profile", "x")],
)
def test_env_that_fails_stops_the_script(svc: Svc, words: tuple[str, ...]) -> None:
    """An eval of nothing would go on, in the sandbox or the account that is configured otherwise."""
    done = svc("sandbox", "env", *words)
    assert done.code != 0
    script = f"set -e\neval {shlex.quote(done.out.rstrip())}\necho went on"
    said = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (1, "")
    if "--shell" not in words:
        assert svc("sandbox", "env", *words, "--shell", "powershell").out.startswith("throw ")
    assert svc("sandbox", "env", *words, "-o", "json").out == ""


@pytest.mark.slow
def test_second_sandbox_leaves_the_profile_to_the_first(svc: Svc, start: Start) -> None:
    """While the first one runs, `--profile sandbox` stays its name; the other is told how to use."""
    one = start("--db", ":memory:")
    second = svc("sandbox", "start", "--detach", "--port", "0", "--db", ":memory:")
    assert (second.code, second.json["profile"]) == (0, None)
    assert f"svc sandbox env --port {second.json['port']}" in second.err
    assert f"--base-url {second.json['url']}" in second.err
    assert svc.ok("config", "get", "profiles.sandbox.base_url") == one["url"]
    svc.ok("sandbox", "stop", "--port", str(one["port"]))
    third = start("--db", ":memory:")
    assert svc.ok("config", "get", "profiles.sandbox.base_url") == third["url"]


@pytest.mark.parametrize("detach", [(), ("--detach",)])
def test_second_start_on_the_file_names_the_first_and_mends_the_profile(
    svc: Svc, start: Start, detach: tuple[str, ...]
) -> None:
    """The same data cannot run twice; a profile that is gone comes back."""
    one = start()
    svc.ok("profiles", "remove", "sandbox", "--yes")
    again = svc("sandbox", "start", "--port", "0", *detach)
    assert (again.code, again.error["code"]) == (10, "sandbox_running")
    assert f"already running at {one['url']} (pid {one['pid']})" in again.error["message"]
    assert again.error["message"].endswith(
        "Next: svc sandbox stop ends it; another beside it: svc sandbox start --port 0 --db FILE"
    )
    assert svc.ok("sandbox", "settings")["object"] == "settings"
    assert len(svc.ok("sandbox", "status")) == 1


def test_receiver_with_a_certificate_of_its_own_is_trusted_by_the_bundle(
    svc: Svc, start: Start, tmp_path: Path
) -> None:
    """`start --ca-bundle` is for the sandbox, whose webhooks go to https on this machine."""
    authority = Authority(tmp_path)
    with TlsServer(authority.issue("127.0.0.1")) as receiver:
        start("--db", ":memory:", "--ca-bundle", str(authority.file))
        url = f"https://127.0.0.1:{receiver.port}/"
        svc.ok("webhook-endpoints", "create", "--url", url, "--events", "order.cancelled")
        svc.ok("sandbox", "trigger", "order.cancelled")
        svc.ok("sandbox", "advance", "0s")
        (sent,) = svc.ok("sandbox", "deliveries")["data"]
    assert (sent["status"], sent["error"], len(receiver.requests)) == ("succeeded", None, 1)


def test_stop_with_nothing_to_stop_is_no_error(svc: Svc, start: Start) -> None:
    """What was asked for is so already: with a port and without."""
    for argv in ((), ("--port", "4999"), ("--all",)):
        ended = svc("sandbox", "stop", *argv)
        assert (ended.code, ended.json) == (0, [])
        assert "No sandbox is running" in ended.err
    one = start("--db", ":memory:")
    assert svc.ok("sandbox", "stop", "--port", str(one["port"] + 1)) == []
    assert len(svc.ok("sandbox", "status")) == 1


def test_id_of_a_sandbox_is_its_address(svc: Svc, start: Start) -> None:
    """`-o id` prints a line that other commands take, and no warning."""
    one = start("--db", ":memory:")
    for verb in ("status", "stop"):
        shown = svc("sandbox", verb, "-o", "id")
        assert (shown.out, shown.err) == (f"{one['url']}\n", "")


@pytest.mark.effect_of("sandbox start", "--port")
def test_second_start_on_the_port_says_who_has_it(svc: Svc, start: Start) -> None:
    """A taken port is one line: a sandbox of ours is named, anything else is only taken."""
    started = start("--db", ":memory:")
    port = str(started["port"])
    refused = svc("sandbox", "start", "--port", port, "--db", ":memory:", "-o", "human")
    assert refused.code == 10
    assert f"A sandbox is already running at {started['url']} (pid {started['pid']})" in refused.err
    assert "svc sandbox stop" in " ".join(refused.err.split())
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        for detach in ((), ("--detach",)):
            refused = svc("sandbox", "start", "--port", taken, "--db", ":memory:", *detach)
            assert refused.code == 10
            assert refused.error["message"].startswith(f"Port {taken} on 127.0.0.1 is taken.")


@pytest.mark.effect_of("sandbox start", "--db", "--ready-file")
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        *(
            pytest.param(number, code, marks=pytest.mark.slow)
            for number, code in ((signal.SIGINT, 130), (signal.SIGHUP, 129))
        ),
    ],
)
def test_signal_ends_a_sandbox_in_the_foreground(
    isolated: Path, number: signal.Signals, code: int
) -> None:
    """R78: it ends within a second with the signal's exit code, and the ready file had the URL."""
    ready = isolated / "ready"
    ready.write_text("of an earlier run")
    argv = ["sandbox", "start", "--port", "0", "--db", ":memory:", "--ready-file", str(ready)]
    with subprocess.Popen(
        [sys.executable, "-m", "svc", *argv, "-o", "human"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
        url = ready.read_text().strip()
        assert said == [
            f"Sandbox ready at {url}  (Ctrl-C to stop)\n",
            "Data: in memory, gone when it stops\n",
            "Next: svc orders list\n",
        ]
        assert list((isolated / "state" / "sandbox").glob("run-*"))
        begun = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate()
        assert time.monotonic() - begun < patient(1)
    assert process.returncode == code
    assert (out, err) == ("", "")
    assert not list((isolated / "state" / "sandbox").glob("run-*"))


@pytest.mark.effect_of("sandbox stop", "--port")
@pytest.mark.parametrize("tls", [("--tls",), ()], ids=["https", "http"])
def test_a_sandbox_of_ones_own_is_known_by_its_address(
    svc: Svc, start: Start, tls: tuple[str, ...]
) -> None:
    """No profile tells of a second sandbox; its run record does: certificate and constant keys."""
    start("--db", ":memory:")
    second = start("--db", ":memory:", *tls)["url"]
    assert svc.ok("whoami")["origin"] != second
    assert svc.ok("orders", "list", "--base-url", second)["data"] == []
    svc.ok("sandbox", "trigger", "order.paid", "--base-url", second)
    (order,) = svc.ok("orders", "list", env={"SVC_BASE_URL": second})["data"]
    assert order["status"] == "paid"
    svc.ok("sandbox", "stop", "--port", second.rpartition(":")[2])
    gone = svc("orders", "list", "--base-url", second)
    assert gone.code == 4
    assert "sandbox constant" not in gone.err


@pytest.mark.effect_of("sandbox start", "--tls")
def test_plain_sandbox_after_a_tls_one_forgets_the_certificate(
    svc: Svc, start: Start, isolated: Path
) -> None:
    """The profile follows the sandbox that was started last, once the one before has ended."""
    start("--db", ":memory:", "--tls")
    svc.ok("sandbox", "stop")
    start("--db", ":memory:")
    assert "ca_bundle" not in (isolated / "config" / "config.toml").read_text()


def test_log_is_shown_after_the_end(svc: Svc, start: Start) -> None:
    """`logs` finds the log of the sandbox that ran last."""
    assert svc("sandbox", "logs").code == 11
    started = start("--db", ":memory:")
    svc.ok("sandbox", "stop")
    shown = svc.ok("sandbox", "logs")
    assert (shown["file"], shown["lines"]) == (started["log"], [])


# --- the shopper ------------------------------------------------------------------------------


def test_pay_pays_an_order_by_its_client_secret(svc: Svc, sandbox: Sandbox) -> None:
    """The shopper pays; programs get order and payment, people the payment."""
    paid = svc.ok("sandbox", "pay", unpaid(sandbox)["client_secret"])
    assert paid["order"]["status"] == "paid"
    assert (paid["payment"]["status"], paid["payment"]["amount_captured"]) == ("captured", 15708)
    shown = svc("sandbox", "pay", unpaid(sandbox)["client_secret"], "-o", "human")
    assert shown.out.startswith("Payment  pay_")
    assert "157.08 EUR" in shown.out
    assert shown.err.endswith(" is paid.\n")


def test_pay_pays_an_order_by_its_id(svc: Svc, sandbox: Sandbox) -> None:
    """The client secret is shown once; the shopper's part can be played with the id alone."""
    order = unpaid(sandbox)["id"]
    assert svc.ok("sandbox", "pay", order)["order"]["status"] == "paid"
    again = svc("sandbox", "pay", order)
    assert (again.code, again.error["code"]) == (3, "order_unexpected_state")
    assert svc("sandbox", "pay", "ord_none").code == 5


def test_declined_card_is_refused_with_the_banks_word(svc: Svc, sandbox: Sandbox) -> None:
    """Exit code 3, the decline code in the message, and where the failed payment is."""
    secret = unpaid(sandbox)["client_secret"]
    refused = svc("sandbox", "pay", secret, "--card", "4000000000009995")
    assert (refused.code, refused.error["type"], refused.error["code"]) == (
        3,
        "card_error",
        "card_declined",
    )
    assert "(insufficient_funds)" in refused.error["message"]
    shown = svc("sandbox", "pay", secret, "--card", "4000000000009995", "-o", "human")
    assert "Next: svc payments retrieve pay_" in shown.err
    for wrong, code in (("4242424242424241", 3), ("insufficient_funds", 2)):
        shown = svc("sandbox", "pay", secret, "--card", wrong, "-o", "human")
        assert shown.code == code
        assert "Next: The test cards and what each does: svc help sandbox\n" in shown.err


def test_paying_gives_the_payments_id(svc: Svc, sandbox: Sandbox) -> None:
    """`-o id` is one id, which the next command takes; also in a sandbox of the next century."""
    svc.ok("sandbox", "clock", "frozen", "--to", "2101-01-01T00:00:00Z")
    paid = svc("sandbox", "pay", unpaid(sandbox)["id"], "-o", "id")
    assert (paid.code, paid.err) == (0, "")
    assert svc.ok("payments", "retrieve", paid.out.strip())["status"] == "captured"


@pytest.mark.effect_of("sandbox pay", "--payment-method", "--save-card")
def test_saved_card_pays_again(svc: Svc, sandbox: Sandbox) -> None:
    """`--save-card` gives a payment method that pays the next order."""
    first = svc.ok("sandbox", "pay", unpaid(sandbox)["client_secret"], "--save-card")
    saved = first["payment"]["payment_method"]["id"]
    again = svc.ok("sandbox", "pay", unpaid(sandbox)["client_secret"], "--payment-method", saved)
    assert again["payment"]["payment_method"]["id"] == saved


@pytest.mark.effect_of(
    "sandbox pay", "--3ds", "--card", "--cvc", "--expiry", "--iban", "--method", "--outcome"
)
@pytest.mark.parametrize(
    ("options", "status"),
    [
        (("--card", "378282246310005"), "paid"),
        (("--card", "4242 4242 4242 4242", "--expiry", "01/40", "--cvc", "999"), "paid"),
        (("--card", "4000000000003220", "--3ds", "abandon"), "requires_payment"),
        (("--method", "klarna"), "paid"),
        (("--method", "klarna", "--outcome", "abandon"), "requires_payment"),
        (("--card", "5555555555554444"), "paid"),
        (("--method", "sepa_debit", "--iban", "DE89370400440532013000"), "processing"),
    ],
)
def test_pay_plays_every_way_to_pay(
    svc: Svc, sandbox: Sandbox, options: tuple[str, ...], status: str
) -> None:
    """Cards, challenges, redirects and debits lead where they should (assumptions: Card behaviour)."""
    paid = svc.ok("sandbox", "pay", unpaid(sandbox)["client_secret"], *options)
    assert paid["order"]["status"] == status
    if "--iban" in options:  # the other account's bank says no
        options = (*options[:-1], "DE62370400440532013001")
        payment = svc.ok("sandbox", "pay", unpaid(sandbox)["id"], *options)["payment"]["id"]
        svc.ok("sandbox", "advance", "5s")
        assert svc.ok("payments", "retrieve", payment)["status"] == "failed"


@pytest.mark.effect_of("sandbox dispute", "--reason")
def test_dispute_is_opened_and_decided(svc: Svc, sandbox: Sandbox) -> None:
    """`dispute` opens one; `decide` ends it once evidence is under review."""
    payment = svc.ok("sandbox", "pay", unpaid(sandbox)["client_secret"])["payment"]["id"]
    dispute = svc.ok("sandbox", "dispute", payment, "--reason", "product_not_received")
    assert (dispute["status"], dispute["reason"]) == ("needs_response", "product_not_received")
    early = svc("sandbox", "decide", dispute["id"], "won")
    assert (early.code, early.error["code"]) == (3, "dispute_unexpected_state")
    body = {"evidence": {"tracking_number": "1Z"}, "submit": True}
    api(sandbox.port, "POST", f"/v1/disputes/{dispute['id']}", body)
    assert svc.ok("sandbox", "decide", dispute["id"], "won")["status"] == "won"


# --- banks and networks -----------------------------------------------------------------------


@pytest.mark.slow
def test_settle_and_fail_end_what_is_pending(svc: Svc, sandbox: Sandbox) -> None:
    """Debits, refunds and payouts are settled or fail when told to."""

    def debit() -> str:
        secret = unpaid(sandbox)["client_secret"]
        paid = svc.ok("sandbox", "pay", secret, "--method", "sepa_debit")
        return str(paid["payment"]["id"])

    payment = debit()
    assert svc.ok("sandbox", "settle", payment)["status"] == "captured"
    failed = svc.ok("sandbox", "fail", debit(), "--reason", "account_closed")
    assert (failed["status"], failed["failure_code"]) == ("failed", "account_closed")
    refund = api(sandbox.port, "POST", "/v1/refunds", {"payment": payment, "amount": 100})
    assert svc.ok("sandbox", "settle", refund["id"])["status"] == "succeeded"
    other = api(sandbox.port, "POST", "/v1/refunds", {"payment": payment, "amount": 100})
    assert svc.ok("sandbox", "fail", other["id"])["status"] == "failed"


@pytest.mark.effect_of("sandbox fail", "--reason")
def test_settle_takes_a_payout_to_its_bank(svc: Svc, sandbox: Sandbox) -> None:
    """A payout is paid from either stage, and a paid one is not paid again."""
    iban = {"country": "DE", "account_holder_name": "Muster", "iban": "DE89370400440532013000"}
    body = {"amount": 10000, "currency": "EUR", "destination": iban}
    new = api(sandbox.port, "POST", "/v1/payouts", body)["id"]
    assert svc.ok("sandbox", "settle", new)["status"] == "paid"
    again = svc("sandbox", "settle", new)
    assert (again.code, again.error["code"]) == (3, "payout_unexpected_state")
    sent = api(sandbox.port, "POST", "/v1/payouts", body)["id"]
    sandbox.control("POST", f"/payouts/{sent}/transition", {"to": "sent"})
    assert svc.ok("sandbox", "settle", sent)["status"] == "paid"
    rejected = api(sandbox.port, "POST", "/v1/payouts", body)["id"]
    failed = svc.ok("sandbox", "fail", rejected, "--reason", "no_account")
    assert (failed["status"], failed["failure_reason"]) == ("failed", "no_account")


# --- time and the dashboard -------------------------------------------------------------------


@pytest.mark.effect_of("sandbox advance", "--until")
def test_advance_turns_the_clock(svc: Svc, sandbox: Sandbox) -> None:
    """By a duration, to a moment, to the next job or until nothing is left to do."""
    order = unpaid(sandbox)
    svc.ok("sandbox", "pay", order["client_secret"], "--method", "sepa_debit")
    moved = svc.ok("sandbox", "advance", "1m")
    assert (moved["jobs"], moved["events"]) == (1, 2)
    assert api(sandbox.port, "GET", f"/v1/orders/{order['id']}")["status"] == "paid"
    assert svc.ok("sandbox", "advance", "--to", "2090-01-01T00:00:00Z")["now"].startswith("2090")
    assert svc.ok("sandbox", "advance", "--until", "idle")["next_job_at"] is None


def test_settings_are_shown_and_changed(svc: Svc, sandbox: Sandbox) -> None:
    """Values are typed by the sandbox."""
    assert svc.ok("sandbox", "settings")["smart_retries"] is False
    changed = svc.ok("sandbox", "settings", "smart_retries=true", "country=DE")
    assert (changed["smart_retries"], changed["country"]) == (True, "DE")


def test_settings_say_what_to_type_to_change_one(svc: Svc, sandbox: Sandbox) -> None:
    """Their labels are words; the hint has a name as it is typed, and does what it says."""
    for value in (True, False):
        told = svc("sandbox", "settings", "-o", "human").err
        _, _, step = told.partition("Next: svc ")
        assert step.startswith(f"sandbox settings smart_retries={str(value).lower()}")
        assert svc.ok(*step.split())["smart_retries"] is value
    assert "Next:" not in svc("sandbox", "settings").err


def test_balances_are_shown_and_set_by_mode(svc: Svc, sandbox: Sandbox) -> None:
    """A balance is set in minor units, in the mode in use."""

    def usd(*argv: str) -> int:
        listed = svc.ok("sandbox", "balances", *argv)["data"]
        return next(int(each["amount"]) for each in listed if each["currency"] == "USD")

    assert usd() == 100_000_000
    assert usd("USD=4200") == 4200
    assert usd("--live") == 0


@pytest.mark.effect_of("sandbox reset", "--seed")
def test_reset_empties_the_sandbox(svc: Svc, sandbox: Sandbox) -> None:
    """Equal seeds give equal ids; the demo fixture fills it again."""
    unpaid(sandbox)
    svc.ok("sandbox", "reset", "--yes", "--seed", "7")
    assert api(sandbox.port, "GET", "/v1/orders")["data"] == []
    first = unpaid(sandbox)["id"]
    svc.ok("sandbox", "reset", "--yes", "--seed", "7")
    assert unpaid(sandbox)["id"] == first
    svc.ok("sandbox", "reset", "--yes", "--fixture", "demo")
    assert len(api(sandbox.port, "GET", "/v1/orders")["data"]) >= 4


@pytest.mark.effect_of("sandbox deliveries", "--event", "--limit", "--status")
def test_deliveries_are_listed_and_sent_again(svc: Svc, sandbox: Sandbox) -> None:
    """A webhook nobody answers is a failed delivery, and `resend` makes another attempt."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}/hook"
    endpoint = {"url": address, "events": ["order.cancelled"]}
    api(sandbox.port, "POST", "/v1/webhook_endpoints", endpoint)
    api(sandbox.port, "POST", f"/v1/orders/{unpaid(sandbox)['id']}/cancel")
    svc.ok("sandbox", "advance", "1s")
    listed = svc.ok("sandbox", "deliveries", "--status", "failed")
    (delivery,) = listed["data"]
    again = svc.ok("sandbox", "resend", delivery["event"])
    assert [each["status"] for each in again["data"]] == ["failed"]
    assert svc("sandbox", "resend", "evt_none").code == 5
    page = svc("sandbox", "deliveries", "--limit", "1", "--event", delivery["event"], "-o", "human")
    following = page.out.splitlines()[-1].removeprefix("Next page: svc ")
    (second,) = svc.ok(*following.split())["data"]
    every = svc.ok("sandbox", "deliveries", "--event", delivery["event"])["data"]
    assert second["id"] == every[1]["id"]


# --- only a sandbox ---------------------------------------------------------------------------


def test_api_key_of_the_environment_is_not_sent_to_controls(
    svc: Svc, server: ScriptedServer
) -> None:
    """R28: controls need no secret key, so whoever answers them gets none."""
    healthy = server.reply(200, {"object": "sandbox", "version": __version__})
    server.play(healthy, server.reply(200, {"object": "settings"}))
    env = {"SVC_API_KEY": "sk_test_canary", "SVC_BASE_URL": server.url}
    assert svc.ok("sandbox", "settings", env=env)["object"] == "settings"
    assert len(server.requests) == 2
    assert not any(b"canary" in request for request in server.requests)
