"""What is ours and not the service's says what it is, and reads as everything else does."""

from pathlib import Path

import pytest

from support.orders import CREATE_ORDER as ORDER
from support.running import Sandbox, Svc
from svc.sandbox.store.settings import FIELDS

ROW = "amount,currency,shipping[country],items[0][name],items[0][quantity],items[0][unit_amount]\n"
URL = "https://api.example.com"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("whoami", "whoami"),
        ("config get", "config"),
        ("config set output json", "config"),
        ("profiles create new --base-url https://h.example", "profile"),
        ("profiles list", "profile"),
        ("profiles use shop", "profile"),
        ("profiles remove shop --yes", "profile"),
        ("keys remind", "reminder"),
        ("requests list", "request"),
        ("doctor", "check"),
        ("completion bash --install", "completion"),
        ("help exit-codes -o json", "help_page"),
        ("help -o json", "help_page"),
        ("commands", "commands"),
        ("commands --query commands", "command"),
        ("batch orders.create rows.csv --dry-run", "batch_check"),
        ("batch orders.create rows.csv", "batch"),
        ("sandbox fault list --query data", "fault"),
    ],
)
def test_each_object_of_ours_says_what_it_is(
    svc: Svc,
    sandbox: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    kind: str,
) -> None:
    """Alone or in a list it has `object`, as the service's have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(f"{ROW}100,EUR,DE,a,1,100\n")
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    svc.ok(*ORDER)
    sandbox.control("POST", "/faults", {"match": {"path": "/x"}, "effect": {"status": 500}})
    shown = svc(*line.split()).json
    found = shown if isinstance(shown, list) else [shown]
    assert found
    assert {one["object"] for one in found} == {kind}


def test_what_the_sandbox_shows_reads_as_elsewhere(svc: Svc, sandbox: Sandbox) -> None:
    """Large sums in groups, the method before the path."""
    human = {"SVC_OUTPUT": "human", "COLUMNS": "80"}
    assert "1,000,000.00 AED" in svc("sandbox", "balances", env=human).out
    assert "1,000,000.000 KWD" in svc("sandbox", "balances", env=human).out
    svc("orders", "list")
    assert svc("sandbox", "requests", env=human).out.split()[:2] == ["METHOD", "PATH"]


def test_a_request_of_the_journal_reads_as_what_it_makes(svc: Svc, sandbox: Sandbox) -> None:
    """Its body has the labels and the money of an order."""
    svc.ok(*ORDER)
    (listed,) = svc.ok("requests", "list")
    shown = svc("requests", "show", listed["id"], "-o", "human").out
    assert "Recorded " in shown
    assert "Times sent " in shown
    assert "    Amount   129.00 EUR\n" in shown
    assert "UNIT_AMOUNT" not in shown
    assert svc.ok("requests", "show", listed["id"])["body"]["amount"] == 12900


def test_a_hold_that_is_over_does_not_end(svc: Svc, sandbox: Sandbox) -> None:
    """It is shown of a payment that is held, and of a captured one no more."""
    sandbox.control("POST", "/events/trigger", {"type": "payment.authorized"})
    payment = svc.ok("payments", "list")["data"][0]
    human = ("payments", "retrieve", payment["id"], "-o", "human")
    assert "Hold ends" in svc(*human).out
    captured = svc.ok("orders", "capture", payment["order"])
    assert captured["authorization_expires_at"]
    assert "Hold ends" not in svc(*human).out


def test_settings_of_a_sandbox_have_the_names_that_are_typed(svc: Svc, sandbox: Sandbox) -> None:
    """As those of the configuration."""
    shown = svc("sandbox", "settings", "-o", "human").out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert {"settlement_currency USD", "allow_http_webhooks yes"} <= set(lines)
    assert set(svc.ok("sandbox", "settings")) == {"object", *(field.name for field in FIELDS)}


def test_a_list_without_rows_has_its_head(svc: Svc, sandbox: Sandbox) -> None:
    """An empty result as CSV has its header row, with the columns that rows would have."""

    def heads(*lines: str) -> dict[str, set[str]]:
        found = {}
        for line in lines:
            text = svc(*line.split(), "-o", "csv", env={"SVC_API_KEY": "sk_test_sandbox"}).out
            found[line] = set((text.splitlines() or [""])[0].split(","))
        return found

    filled = ("requests list", "profiles list", "sandbox fault list", "sandbox requests")
    local = ("keys list", "events inbox", "sandbox status")
    told = ("sandbox deliveries", "sandbox events", "sandbox endpoints list", "sandbox emails")
    empty = heads(*filled, *local, *told)
    assert [line for line, names in empty.items() if not names & {"id", "object"}] == []
    svc.ok("profiles", "create", "shop", "--base-url", URL)
    svc.ok(*ORDER)
    rule = {"match": {"path": "/x"}, "effect": {"status": 500}}
    sandbox.control("POST", "/faults", rule)
    full = heads(*filled)
    for line in filled:
        assert {name.partition("[")[0] for name in empty[line]} <= {
            name.partition("[")[0] for name in full[line]
        }
