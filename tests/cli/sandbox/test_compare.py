"""`svc sandbox compare` and `start --like`: what a service does otherwise than the sandbox."""

import json
import re
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.clocks import ManualClock
from support.on_terminal import OnTerminal
from support.running import Sandbox, Svc
from support.servers.differing import Passing, differing
from support.serving import QuietHandler, serving
from svc.cli.sandbox.compare.asking import Inquiry
from svc.client.exchange import RawReply

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


class Nonsense(QuietHandler):
    """Answers each request with the next of: a page, an error, something cut off, nothing."""

    count = 0

    def get(self) -> None:
        type(self).count += 1
        body = self.headers.get("Content-Length")
        if body:
            self.body()
        kind = self.count % 4
        if kind == 3:
            self.close_connection = True
            return
        self.answer((200, 500, 200)[kind], (b"<html>", b"oops", b'{"id":')[kind], "text/html")

    post = delete = get


def test_nonsense_leaves_nothing_to_be_told(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages, errors, closed connections: each row cannot be told, with the reason."""
    with serving(Nonsense) as origin:
        env = {"SVC_BASE_URL": origin, "SVC_API_KEY": "sk_test_sandbox"}
        found = svc("sandbox", "compare", "-o", "json", env=env)
    assert found.code == 11, found.err
    report = json.loads(found.out)
    assert (report["held"], report["different"]) == (0, 0)
    assert all(each["reason"] for each in report["findings"])
    assert "assumptions_not_told" in found.err


@pytest.mark.parametrize(
    ("said", "pause"), [((), None), ((("retry-after", "3"),), 3), ((("retry-after", "60"),), 10)]
)
def test_a_service_that_asks_for_a_pause_gets_one(
    said: tuple[tuple[str, str], ...], pause: float | None
) -> None:
    """No longer than ten seconds, and none that nobody asked for."""
    clock = ManualClock()

    class Refusing:
        """As much of a client as sends a probe."""

        def __init__(self) -> None:
            self.clock = clock

        def ask(self, *_: object, **__: object) -> RawReply:
            return RawReply(503, said, b"")

    client: Any = Refusing()
    Inquiry(client, "sk_test_x", lambda _: False).ask_all(lambda *_: None, endpoint=False)
    assert set(clock.slept) == ({pause} if pause else set())


def test_answer_of_another_form_is_a_difference(sandbox: Sandbox, svc: Svc) -> None:
    """What is looked for is not there to be looked at: said in words, and not that it is null."""
    keys: set[str] = set()

    def note(one: Passing) -> None:
        keys.add(one.headers.get("Authorization", ""))

    def no_list(one: Passing) -> None:
        if one.is_like(r"GET /v1/\w+\?limit=1 "):
            one.data["data"] = 7

    with differing(sandbox.port, asked=note, answered=no_list) as origin:
        env = {"SVC_BASE_URL": origin}
        found = json.loads(svc("sandbox", "compare", "-o", "json", env=env).out)
    answered = [each["answered"] for each in found["findings"] if each["result"] == "different"]
    assert any(str(one).startswith("nothing of this form: length()") for one in answered), answered
    basic = [b64decode(one.removeprefix("Basic ")) for one in keys if one.startswith("Basic ")]
    assert sorted(basic) == [b"sk_test_sandbox:", b"sk_test_sandbox:x:"]


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
