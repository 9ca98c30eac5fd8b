"""`svc sandbox compare` and `start --like`: what a service does otherwise than the sandbox."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.on_terminal import OnTerminal
from support.running import Sandbox, Svc
from support.servers.differing import Passing, differing

# What a sandbox can be set to, and the row that tells it.
TOLD_BY = {
    "error_envelope": ("nested", "flat"),
    "unknown_parameters": ("ignore", "unknown_parameters"),
    "collect_landed_cost": (False, "order.amount_total"),
    "country": ("DE", "landed_cost_quote.ship_from_country"),
    "settlement_currency": ("EUR", "default settlement currency"),
    "pinned_version": ("2026-03-01", "pinned to"),
    "encodings": ("documented", "both encodings"),
    "require_idempotency_key": (True, "require_idempotency_key"),
}


def compare(svc: Svc, *more: str, code: int = 0) -> dict[str, Any]:
    """The report of a comparison, which ends with a code."""
    found = svc("sandbox", "compare", *more, "-o", "json")
    assert found.code == code, found.err
    report: dict[str, Any] = json.loads(found.out)
    return report


def rows(report: dict[str, Any], result: str) -> set[str]:
    """The names of the rows with a result."""
    return {each["name"] for each in report["findings"] if each["result"] == result}


@pytest.mark.effect_of("sandbox compare", "--endpoint")
def test_nothing_differs_in_the_sandbox_itself(sandbox: Sandbox, svc: Svc) -> None:
    """What is made is named and few; a second run finds no more than the first."""
    sandbox.control("POST", "/reset", {"seed": 1, "fixture": "demo"})
    report = compare(svc, "--endpoint")
    assert rows(report, "different") == set()
    assert rows(report, "unknown") == {"default page"}
    assert report["held"] >= 190
    made = json.dumps(sandbox.control("GET", "/export"))
    assert 0 < len(report["objects"]) <= 40
    assert {each[:3] for each in report["objects"]} == {"ord", "lcq", "po_", "we_"}
    assert all(identifier in made for identifier in report["objects"])
    again = compare(svc)
    assert rows(again, "different") == set()
    assert not any(identifier.startswith("we_") for identifier in again["objects"])


def test_progress_is_shown_and_what_a_key_may_not_do_cannot_be_told(
    sandbox: Sandbox, on_terminal: OnTerminal
) -> None:
    """On a terminal, with a key that reads: what it may not make is told of no row."""
    seen = on_terminal("sandbox", "compare", SVC_API_KEY="sk_test_sandbox")
    assert re.search(r"\d+ of \d\d requests  (GET|POST) /v1/", seen)
    restricted = on_terminal("sandbox", "compare", SVC_API_KEY="rk_test_readonly")
    assert "It answered 403: the key may not do this:" in restricted
    assert "DIFFERENT" not in restricted


def test_what_a_limit_holds_for_is_not_asked(sandbox: Sandbox, svc: Svc) -> None:
    """Nothing counts what a comparison moves; what would let more be told is said to a person."""
    svc.ok("config", "set", "limits.test.payouts", "1 EUR/day")
    report = compare(svc)
    unknown = {each["name"]: each["reason"] for each in report["findings"]}
    assert "svc help limits" in str(unknown["POST /v1/payouts"])
    assert "svc help limits" in str(unknown["iban_invalid"])
    assert svc.ok("payouts", "list")["data"] == []
    shown = svc("sandbox", "compare", "-o", "human").out
    assert f"different: 0, cannot be told: {report['unknown']}." in shown
    assert "pay an order in test mode" in " ".join(shown.split())


@pytest.mark.effect_of("sandbox compare", "--save")
@pytest.mark.effect_of("sandbox start", "--like")
def test_sandbox_starts_like_the_service_that_was_compared(
    sandbox: Sandbox, svc: Svc, start: Callable[..., Any], isolated: Path
) -> None:
    """Each difference that a setting follows is told by its row, and a new sandbox has it."""
    settings = {name: value for name, (value, _) in TOLD_BY.items()}
    sandbox.control("POST", "/settings", settings)
    svc.ok("profiles", "create", "shop", "--base-url", sandbox.url)
    missing = svc("sandbox", "start", "--like", "shop", "--db", ":memory:")
    assert missing.code == 2
    assert "svc sandbox compare --profile shop --save" in missing.err
    report = compare(svc, "--profile", "shop", "--save", code=11)
    assert rows(report, "different") == {row for _, row in TOLD_BY.values()}
    assert report["settings"] == settings
    assert "secret_" not in json.dumps(report)

    begun = start("--like", "shop", "--db", ":memory:")
    now = svc.ok("sandbox", "settings", "--base-url", begun["url"])
    assert {name: now[name] for name in settings} == settings


def test_live_mode_is_refused_before_anything_is_sent(sandbox: Sandbox, svc: Svc) -> None:
    """By the option, and by the key."""
    for argv, env in ((("--live",), {}), ((), {"SVC_API_KEY": "sk_live_sandbox"})):
        found = svc("sandbox", "compare", *argv, "-o", "json", env=env)
        assert found.code in (2, 4)
        assert found.out == ""
    assert sandbox.control("GET", "/requests")["data"] == []


def test_difference_is_told_with_the_request_and_both_answers(sandbox: Sandbox, svc: Svc) -> None:
    """For people: the row, what was asked, both answers, and what it means."""

    def conflict(one: Passing) -> None:
        if one.is_like("idempotency_key_reused"):
            one.status = 409

    with differing(sandbox.port, answered=conflict) as origin:
        found = svc("sandbox", "compare", "-o", "human", env={"SVC_BASE_URL": origin})
    assert found.code == 11
    head, row, request, ours, theirs, means, *_ = found.out.splitlines()
    assert head == "DIFFERENT (1)"
    assert row.startswith("  idempotency_key_reused (chosen): 400")
    assert request.startswith('    POST /v1/orders  {"amount": 12901')
    assert ours == '    sandbox: [400, "idempotency_key_reused"]'
    assert theirs.startswith('    service: [409, "idempotency_key_reused"]  (409 ')
    assert means.strip()
