"""The sandbox's controls as commands, with the real program and a real sandbox."""

import io
import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.launching import launch_options
from support.orders import ORDER
from support.running import Sandbox, Svc, api
from support.suite.patience import until
from svc.cli.main import main
from svc.cli.sandbox import exported
from svc.cli.sandbox import state as state_commands
from svc.cli.sandbox.exported import StatePieces

Start = Callable[..., Any]
DETACHED = ("sandbox", "start", "--detach", "--port", "0")
MONEY = ("--amount", "12900", "--currency", "EUR", "--country", "DE")
ITEM = ("--item", "name=Jacket,quantity=1,unit_amount=12900")
CREATE = ("orders", "create", *MONEY, *ITEM)


# --- trigger ----------------------------------------------------------------------------------


def test_trigger_names_the_event_and_what_it_created(svc: Svc, sandbox: Sandbox) -> None:
    """Programs get everything, people a list of ids and where to look; the event is real."""
    told = svc.ok("sandbox", "trigger", "refund.failed")
    assert [doc["object"] for doc in told["created"]] == ["order", "payment", "refund"]
    assert svc.ok("events", "retrieve", told["event"]["id"]) == told["event"]
    shown = svc("sandbox", "trigger", "refund.failed", "-o", "human")
    head, blank, *rows = shown.out.splitlines()
    event = head.removeprefix("refund.failed  ")
    assert (head[:13], blank) == ("refund.failed", "")
    assert [row.split()[0][:4] for row in rows] == ["ID", "ord_", "pay_", "rf_" + rows[3][3]]
    assert f"Next: svc events retrieve {event}" in shown.err


def test_trigger_takes_fields_of_the_order(svc: Svc, sandbox: Sandbox) -> None:
    """`-d` reaches every parameter; `-o id` is the event's id alone."""
    fields = ("-d", "amount=500", "-d", "shipping[country]=GB", "-d", "currency=GBP")
    identity = svc("sandbox", "trigger", "order.paid", *fields, "-o", "id").out.strip()
    order = api(sandbox.port, "GET", f"/v1/events/{identity}")["data"]["object"]
    assert (order["amount"], order["shipping"]["country"]) == (500, "GB")


# --- keys -------------------------------------------------------------------------------------


@pytest.mark.effect_of("keys roll", "--grace")
@pytest.mark.effect_of("sandbox keys roll", "--grace")
def test_rolled_key_works_through_its_grace(svc: Svc, sandbox: Sandbox) -> None:
    """Spec: the old key works for the chosen period, to the second, and then is expired."""
    made = svc.ok("sandbox", "keys", "create")
    fresh = svc.ok("sandbox", "keys", "roll", made["id"], "--grace", "7d")
    assert fresh["secret"] != made["secret"]

    def code(key: str) -> Any:
        return api(sandbox.port, "GET", "/v1/orders", key=key).get("code")

    assert (code(made["secret"]), code(fresh["secret"])) == (None, None)
    svc.ok("sandbox", "advance", "7d")
    assert (code(made["secret"]), code(fresh["secret"])) == ("api_key_expired", None)
    at_once = svc.ok("sandbox", "keys", "roll", fresh["id"])
    assert (code(fresh["secret"]), code(at_once["secret"])) == ("api_key_expired", None)


@pytest.mark.effect_of("sandbox keys create", "--permission")
def test_restricted_key_is_made_by_its_permissions(svc: Svc, sandbox: Sandbox) -> None:
    """`all` first, single resources over it; a person is told how to use the key."""
    argv = ("--permission", "all=read", "--permission", "refunds=write")
    made = svc("sandbox", "keys", "create", *argv, "-o", "human")
    assert made.err.startswith("Use it: export SVC_API_KEY=rk_test_")
    key = made.err.strip().partition("=")[2]
    env = {"SVC_API_KEY": key}
    assert svc("orders", "list", env=env).code == 0
    assert svc(*CREATE, env=env).error["code"] == "permission_denied"
    nothing = svc("refunds", "create", "--payment", "pay_none", env=env)
    assert nothing.error["code"] == "resource_missing"


# --- faults -----------------------------------------------------------------------------------


@pytest.mark.effect_of("sandbox fault add", "--after", "--connection", "--method", "--path")
def test_lost_answer_is_made_good_by_a_retry(svc: Svc, sandbox: Sandbox) -> None:
    """R90: the change is committed and the answer lost; the client's retry finds the one order."""
    rule = ("--method", "POST", "--path", "/v1/orders", "--after", "--connection", "reset")
    svc.ok("sandbox", "fault", "add", *rule)
    made = svc.ok(*CREATE)
    listed = api(sandbox.port, "GET", "/v1/orders")["data"]
    assert [order["id"] for order in listed] == [made["id"]]
    (fault,) = svc.ok("sandbox", "fault", "list")["data"]
    assert fault["fired"] == 1
    statuses = [entry["replayed"] for entry in svc.ok("sandbox", "requests")["data"]]
    assert statuses[-2:] == [True, False]


@pytest.mark.effect_of(
    "sandbox fault add",
    "--body",
    "--count",
    "--delay-ms",
    "--endpoint",
    "--idempotency-key",
    "--retry-after",
    "--skip",
    "--times",
    "--type",
    "--webhook",
)
def test_every_option_of_a_rule_reaches_the_sandbox(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Both kinds, with all their words; a body may come from a file."""
    page = tmp_path / "page.html"
    page.write_text("<html>down</html>")
    rule = ("--method", "POST", "--path", "/v1/*", "--idempotency-key", "k", "--skip", "1")
    answer = ("--times", "2", "--status", "503", "--retry-after", "9", "--delay-ms", "1")
    made = svc.ok("sandbox", "fault", "add", *rule, *answer, "--body", f"@{page}", "--after")
    assert {name: made[name] for name in ("match", "skip", "times", "phase", "effect")} == {
        "match": {"method": "POST", "path": "/v1/*", "idempotency_key": "k"},
        "skip": 1,
        "times": 2,
        "phase": "after",
        "effect": {
            "status": 503,
            "retry_after": 9,
            "body": "<html>down</html>",
            "delay_ms": 1,
        },
    }
    webhook = ("--webhook", "duplicate", "--type", "order.*", "--endpoint", "we_1", "--count", "3")
    other = svc.ok("sandbox", "fault", "add", *webhook, "--times", "4", "--delay-ms", "5")
    assert (other["match"], other["effect"]) == (
        {"type": "order.*", "endpoint": "we_1"},
        "duplicate",
    )
    assert (other["count"], other["times"], other["delay_ms"]) == (3, 4, 5)
    listed = svc.ok("sandbox", "fault", "list")["data"]
    assert [each["id"] for each in listed] == [made["id"], other["id"]]
    assert svc.ok("sandbox", "fault", "clear", other["id"])["deleted"] == 1
    assert svc("sandbox", "fault", "clear", other["id"]).code == 5
    assert svc("sandbox", "fault", "clear", "-o", "human").out == "1 rule removed.\n"


# --- looking and carrying about ---------------------------------------------------------------


@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_logs_are_whole_at_any_width(
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    width: str,
) -> None:
    """R63: ids, paths, codes and subjects stand there to be copied; a delivery names its event."""
    endpoint = {"url": f"http://127.0.0.1:9/{'long/' * 10}hook", "events": ["order.cancelled"]}
    api(sandbox.port, "POST", "/v1/webhook_endpoints", endpoint)
    told = sandbox.control("POST", "/events/trigger", {"type": "order.cancelled"})
    sandbox.control("POST", "/clock/advance", {"seconds": 4 * 86400})
    api(sandbox.port, "GET", f"/v1/orders/{told['created'][0]['id']}x")
    (mail,) = sandbox.control("GET", "/emails")["data"]
    monkeypatch.setenv("COLUMNS", width)

    def shown(verb: str) -> str:
        assert main(["sandbox", verb, "-o", "human"]) == 0
        return capsys.readouterr().out

    deliveries, requests = shown("deliveries"), shown("requests")
    assert deliveries.count(told["event"]["id"]) == 15
    assert len(re.findall(r"\d\d:\d\d", deliveries)) >= 15
    assert f"/v1/orders/{told['created'][0]['id']}x" in requests
    assert "resource_missing" in requests
    words = " ".join(shown("emails").split())
    assert mail["id"] in words
    assert mail["subject"] in words


@pytest.mark.effect_of("sandbox events", "--limit", "--type")
def test_events_are_listed_by_type_and_page(svc: Svc, sandbox: Sandbox) -> None:
    """`/v1` has no such list; the sandbox has one, and says how to go on."""
    for _ in range(2):
        sandbox.control("POST", "/events/trigger", {"type": "order.paid"})
    listed = svc.ok("sandbox", "events", "--type", "order.paid")["data"]
    assert {event["type"] for event in listed} == {"order.paid"}
    page = svc("sandbox", "events", "--type", "order.paid", "--limit", "1", "-o", "human")
    following = page.out.splitlines()[-1].removeprefix("Next page: svc ")
    (second,) = svc.ok(*following.split())["data"]
    assert second["id"] == listed[1]["id"]


@pytest.mark.effect_of("sandbox export", "--force")
def test_state_is_carried_to_another_sandbox(
    svc: Svc, sandbox: Sandbox, start: Start, tmp_path: Path
) -> None:
    """`export` and `import`: objects, events, clock, settings and the next id go along."""
    svc.ok("sandbox", "reset", "--yes", "--seed", "3", "--fixture", "demo")
    sandbox.control("POST", "/clock", {"mode": "frozen"})
    state = tmp_path / "state.json"
    assert svc.ok("sandbox", "export", str(state))["file"] == str(state)
    assert state.stat().st_mode & 0o777 == 0o600
    taken = svc("sandbox", "export", str(state))
    assert (taken.code, "--force" in taken.error["message"]) == (10, True)
    piped = svc.ok("sandbox", "export")
    assert piped == json.loads(state.read_text())
    there = start("--db", ":memory:")
    env = {"SVC_BASE_URL": there["url"]}
    svc.ok("sandbox", "import", str(state), env=env)
    one, two = (api(port, "POST", "/v1/orders", ORDER) for port in (sandbox.port, there["port"]))
    assert one == two
    assert svc.ok("sandbox", "clock", env=env)["mode"] == "frozen"
    broken = svc("sandbox", "import", "-", stdin='{"object": "sandbox_state"}', env=env)
    assert (broken.code, broken.error["code"]) == (3, "state_invalid")
    assert svc("sandbox", "import", "-", stdin="no json", env=env).code == 2
    assert svc("sandbox", "import", "nowhere.json", env=env).code == 10


@pytest.mark.effect_of("sandbox endpoints roll-secret", "--grace")
def test_endpoints_are_looked_after(svc: Svc, sandbox: Sandbox) -> None:
    """What the dashboard does: list, disable, enable, a new secret, delete."""
    address = {"url": "http://127.0.0.1:9/hook", "events": ["order.paid"]}
    made = api(sandbox.port, "POST", "/v1/webhook_endpoints", address)
    identity = made["id"]
    assert svc.ok("sandbox", "endpoints", "disable", identity)["status"] == "disabled"
    assert svc.ok("sandbox", "endpoints", "enable", identity)["status"] == "enabled"
    rolled = svc.ok("sandbox", "endpoints", "roll-secret", identity, "--grace", "1h")
    assert rolled["secret"] not in ("", made["secret"])
    longest = svc.ok("sandbox", "endpoints", "roll-secret", identity)
    assert longest["secret"] not in ("", rolled["secret"])
    assert svc.ok("sandbox", "endpoints", "delete", identity)["deleted"] is True
    assert svc.ok("sandbox", "endpoints", "list")["data"] == []


def test_customs_may_charge_nothing(svc: Svc, sandbox: Sandbox) -> None:
    order = svc.ok("sandbox", "trigger", "order.paid")["created"][0]["id"]
    assert svc.ok("sandbox", "customs", order, "--charged", "0")["id"] == order


@pytest.mark.effect_of("sandbox settle", "--sent")
def test_payout_is_only_handed_over(svc: Svc, sandbox: Sandbox) -> None:
    """`settle --sent` stops at the local network."""
    told = sandbox.control("POST", "/events/trigger", {"type": "payout.created"})
    payout = told["created"][0]["id"]
    assert svc.ok("sandbox", "settle", payout, "--sent")["status"] == "sent"
    assert svc.ok("sandbox", "settle", payout)["status"] == "paid"


def test_job_that_breaks_is_told_and_stops_nothing(svc: Svc, start: Start, tmp_path: Path) -> None:
    """It is counted, explained in the log, and nobody else waits for it; a refund still comes."""
    file = tmp_path / "sandbox.db"
    start("--db", str(file))
    told = svc.ok("sandbox", "trigger", "refund.created")
    svc.ok("sandbox", "stop")
    with closing(sqlite3.connect(file)) as database, database:
        copied = "SELECT 1, mode, 'nobody''s job', subject, args, lane FROM jobs LIMIT 1"
        database.execute(f"INSERT INTO jobs(due, mode, name, subject, args, lane) {copied}")
    start("--db", str(file))
    advanced = svc("sandbox", "advance", "1m")
    assert advanced.json["broken_jobs"] == 1
    assert "svc sandbox logs" in advanced.err
    assert "svc sandbox logs" in svc("sandbox", "clock").err
    assert "the job nobody's job of" in svc("sandbox", "logs").out
    refund = next(doc["id"] for doc in told["created"] if doc["object"] == "refund")
    assert svc.ok("refunds", "retrieve", refund)["status"] == "succeeded"


# --- scenarios ---------------------------------------------------------------------


def test_a_file_that_export_wrote_is_imported_in_pieces_and_any_other_as_a_whole(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one that an editor has written in another form: what comes of it is the same."""
    whole: list[str] = []

    def read_whole(*asked: Any, **more: Any) -> dict[str, Any]:
        whole.append(asked[1])
        return exported.read_state(*asked, **more)

    monkeypatch.setattr(state_commands, "read_state", read_whole)
    svc.ok("sandbox", "reset", "--yes", "--seed", "3", "--fixture", "demo")
    sandbox.control("POST", "/clock", {"mode": "frozen"})
    kept, edited, again = (tmp_path / name for name in ("kept", "edited", "again"))
    svc.ok("sandbox", "export", str(kept))
    edited.write_text(json.dumps(json.loads(kept.read_text()), indent=1))
    tables = json.loads(kept.read_text())["tables"]
    for file, times in ((kept, 0), (edited, 1)):
        svc.ok("sandbox", "reset", "--yes")
        svc.ok("sandbox", "import", str(file))
        assert len(whole) == times
        svc.ok("sandbox", "export", str(again), "--force")
        found = json.loads(again.read_text())["tables"]
        assert {**found, "meta": []} == {**tables, "meta": []}  # it counts the starts


@pytest.mark.parametrize("size", [1, 7, 1024 * 1024])
@pytest.mark.parametrize("rows", [0, 1, 499, 500, 501])
def test_a_state_is_read_in_pieces(size: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a piece of the file ends, its rows are whole."""
    monkeypatch.setattr(exported, "_PIECE_CHARACTERS", size)
    table = [{"id": f"x{n}", "body": '{"a":"}],\\"é"}', "n": n, "none": None} for n in range(rows)]
    state = {"object": "sandbox_state", "format": 12, "tables": {"docs": table, "meta": []}}
    text = json.dumps(state, separators=(",", ":")) + "\n"
    pieces = StatePieces(io.StringIO(text))
    found: dict[str, list[Any]] = {}
    for name, some in pieces.read():
        assert len(some) <= 500
        found.setdefault(name, []).extend(some)
    assert (pieces.format, found) == (12, state["tables"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format":1,"object":"sandbox_state","tables":{}}',
        '{"object":"sandbox_state","format":1,"tables":{}}',
        '{"object":"sandbox_state","format":1,"tables":{"docs":[{"a":1}',
        '{"object":"sandbox_state","format":1,"tables":{"docs":[{"a":1}]}',
        '{"object":"sandbox_state","format":1,"tables":{"docs":[{"a":1}]}} x',
        '{"object":"sandbox_state","format":1,"tables":{"docs":{"a":1}}}',
        '{"object":"sandbox_state","format":1,"tables":{"docs":[nonsense]}}',
    ],
)
def test_another_form_is_not_read_in_pieces(text: str) -> None:
    """It is read as a whole then, and refused with a reason."""
    with pytest.raises(ValueError, match=r".*"):
        list(StatePieces(io.StringIO(text)).read())


@pytest.mark.effect_of("sandbox import", "--allow-remote")
@pytest.mark.parametrize("url", ["https://shop.example/hook", "http://shop.example/hook"])
def test_import_of_a_state_that_sends_elsewhere_is_agreed_to(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, url: str
) -> None:
    """Without a terminal it needs --allow-remote, and --yes is no answer to it."""
    state = tmp_path / "state.json"
    svc.ok(
        "webhook-endpoints",
        "create",
        "--url",
        "https://shop.example/hook",
        "--events",
        "order.paid",
    )
    svc.ok("sandbox", "settings", "allow_remote_webhooks=true")
    svc.ok("sandbox", "export", str(state))
    state.write_text(state.read_text().replace("https://shop.example/hook", url))
    svc.ok("sandbox", "reset", "--yes")
    for more in ((), ("--yes",), ("--no-input",)):
        refused = svc("sandbox", "import", str(state), *more)
        assert refused.code == 2
        error = refused.error
        assert (error["code"], error["param"]) == ("confirmation_required", "--allow-remote")
        assert url in error["message"]
        assert ("in plain text" in error["message"]) is url.startswith("http:")
    assert svc.ok("sandbox", "settings")["allow_remote_webhooks"] is False
    svc.ok("sandbox", "import", str(state), "--allow-remote")
    assert svc.ok("sandbox", "settings")["allow_remote_webhooks"] is True


def test_import_of_a_state_that_sends_to_this_machine_asks_nothing(
    svc: Svc, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Nor one whose receivers are elsewhere while nothing leaves the machine."""
    state = str(tmp_path / "state.json")
    for url in ("http://localhost:3000/hook", "https://shop.example/hook"):
        svc.ok("webhook-endpoints", "create", "--url", url, "--events", "order.paid")
    svc.ok("sandbox", "export", state)
    shown = svc("sandbox", "import", state, "-o", "human")
    assert shown.code == 0
    labels = [line.split()[0] for line in shown.out.splitlines() if line.startswith("  ")]
    assert labels == ["Sandbox", "Kept", "Version", "State"]


def test_lint_fails_a_build_and_names_what_is_wrong(svc: Svc, sandbox: Sandbox) -> None:
    """Exit 11 and JSON for CI, lines for people; 0 where nothing is found."""
    assert svc.ok("sandbox", "lint")["findings"] == []
    api(sandbox.port, "POST", "/v1/orders", ORDER)
    found = svc("sandbox", "lint")
    assert (found.code, found.error["code"]) == (11, "lint_findings")
    kinds = len(json.loads(found.out)["findings"])
    assert found.error["message"].startswith(f"{kinds} kinds of mistakes were found")
    rules = {each["rule"] for each in json.loads(found.out)["findings"]}
    assert {"post_without_key", "no_version"} <= rules
    told = svc("sandbox", "lint", env={"SVC_OUTPUT": "human"})
    assert told.code == 11
    assert "post_without_key (1): A POST had no Idempotency-Key" in told.out


@pytest.mark.effect_of("sandbox requests", "--clear", "--method", "--status", "--verify")
def test_requests_are_verified_and_cleared(svc: Svc, sandbox: Sandbox) -> None:
    """A count that differs is exit 11; after --clear nothing was asked."""
    api(sandbox.port, "POST", "/v1/orders", ORDER)
    which = ("sandbox", "requests", "--method", "POST", "--status", "200")
    assert svc.ok(*which, "--verify", "1")["ok"] is True
    differs = svc(*which, "--verify", "2")
    assert (differs.code, differs.error["code"]) == (11, "requests_differ")
    svc.ok("sandbox", "requests", "--clear")
    assert svc.ok(*which)["data"] == []


# --- TLS --------------------------------------------------------------------------------------


def test_order_is_created_over_https_with_verification(
    svc: Svc, start: Start, isolated: Path
) -> None:
    """`--tls` needs no openssl program; only its user trusts it, and plain HTTP on its port is 401."""
    env = {"PATH": str(isolated)}
    argv = ("sandbox", "start", "--detach", "--port", "0", "--db", ":memory:", "--tls")
    started = svc.ok(*argv, env=env)
    assert started["url"].startswith("https://127.0.0.1:")
    assert svc.ok(*CREATE)["object"] == "order"
    assert svc.ok("sandbox", "settings")["object"] == "settings"
    assert svc.ok("sandbox", "status")[0]["status"] == "running"
    exports = svc.ok("sandbox", "env", "-o", "json")
    assert exports["SVC_CA_BUNDLE"] == started["certificate"]
    other = {f"SVC_{name}_DIR": str(isolated / "other") for name in ("CONFIG", "STATE")}
    env = {**other, "SVC_API_KEY": "sk_test_sandbox"}
    elsewhere = svc(*CREATE, env={**env, "SVC_BASE_URL": started["url"]})
    assert elsewhere.code == 8
    assert "certificate" in elsewhere.error["message"]
    plain = api(started["port"], "POST", "/v1/orders", ORDER)
    assert (plain["type"], plain["code"]) == ("authentication_error", "https_required")
    names = {"authority.pem", "certificate.pem", "private-key.pem"}
    files = {path.name: path for path in Path(started["certificate"]).parent.iterdir()}
    assert set(files) == names
    assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o600}


# --- determinism ------------------------------------------------------------------------------


@pytest.mark.effect_of("sandbox reset", "--fixture")
@pytest.mark.effect_of("sandbox start", "--detach", "--fixture", "--seed")
def test_seed_and_fixture_of_an_old_sandbox_are_not_taken_silently(svc: Svc, start: Start) -> None:
    """A file that exists keeps its ids and objects, and the user is told what to do instead."""
    start("--seed", "1")
    svc.ok("sandbox", "stop")
    argv = ("sandbox", "start", "--detach", "--port", "0", "--seed", "2", "--fixture", "demo")
    again = svc(*argv)
    assert again.code == 0
    assert again.err.startswith("Warning: ")
    assert "svc sandbox reset --seed 2 --fixture demo" in again.err
    assert api(again.json["port"], "GET", "/v1/orders")["data"] == []


@pytest.mark.effect_of("sandbox start", "--import", "--allow-remote")
def test_sandbox_begins_with_a_state(svc: Svc, start: Start, tmp_path: Path) -> None:
    """Objects, clock and settings are those of the state; an old sandbox stays as it is."""
    first = start("--fixture", "demo")
    state, orders = tmp_path / "state.json", api(first["port"], "GET", "/v1/orders")["data"]
    assert len(orders) >= 4
    svc.ok("sandbox", "settings", "allow_remote_webhooks=true")
    svc.ok(
        "webhook-endpoints", "create", "--url", "https://shop.example/x", "--events", "order.paid"
    )
    svc.ok("sandbox", "export", str(state))
    svc.ok("sandbox", "stop")
    refused = svc("sandbox", "start", "--port", "0", "--db", ":memory:", "--import", str(state))
    assert (refused.code, refused.error["param"]) == (2, "--allow-remote")
    assert "https://shop.example/x" in refused.error["message"]
    begun = start("--db", ":memory:", "--import", str(state), "--allow-remote")
    assert api(begun["port"], "GET", "/v1/orders")["data"] == orders
    svc.ok("sandbox", "stop")
    again = svc(*DETACHED, "--import", str(state), "--allow-remote")
    assert f"svc sandbox import {state}" in " ".join(again.err.split())
    svc.ok("sandbox", "stop")
    state.write_text('{"object": "sandbox_state", "format": 1, "tables": {}}')
    broken = svc(*DETACHED, "--db", ":memory:", "--import", str(state))
    assert (broken.code, broken.error["code"]) == (10, "state_invalid")
    both = svc(*DETACHED, "--import", str(state), "--fixture", "demo")
    assert (both.code, both.error["param"]) == (2, "--fixture")


@pytest.mark.effect_of("sandbox start", "--bind", "--allow-host")
def test_sandbox_bound_elsewhere_is_found_and_says_who_reaches_it(svc: Svc, start: Start) -> None:
    """It answers on loopback as any other: status, env and stop know it."""
    begun = svc(*DETACHED, "--db", ":memory:", "--bind", "127.0.0.3", "--allow-host", "Svc.shop")
    assert begun.code == 0, begun.err
    assert begun.err.count("Warning: ") == 1
    assert "It answers to the names svc.shop, 127.0.0.3, localhost." in " ".join(begun.err.split())
    assert (begun.json["url"], begun.json["bind"]) == (
        f"http://127.0.0.1:{begun.json['port']}",
        "127.0.0.3",
    )
    there = f"http://127.0.0.3:{begun.json['port']}"
    env = {"SVC_BASE_URL": there, "SVC_API_KEY": "sk_test_sandbox"}
    assert svc.ok("orders", "list", env=env)["data"] == []
    assert svc.ok("sandbox", "status")[0]["bind"] == "127.0.0.3"
    assert svc("sandbox", "stop").json[0]["result"] == "stopped"
    loopback = start("--db", ":memory:")
    assert loopback["bind"] is None


# --- time -------------------------------------------------------------------------------------


def test_clock_runs_or_stands_still(svc: Svc, sandbox: Sandbox) -> None:
    """Frozen, it moves by advance only; in real time what is due happens by itself."""
    frozen = svc.ok("sandbox", "clock", "frozen", "--to", "2041-05-06T07:08:09Z")
    assert (frozen["mode"], frozen["now"]) == ("frozen", "2041-05-06T07:08:09Z")
    order = api(sandbox.port, "POST", "/v1/orders", ORDER)["id"]
    svc.ok("sandbox", "pay", order, "--method", "sepa_debit")
    assert svc.ok("sandbox", "advance", "4s")["now"] == "2041-05-06T07:08:13Z"
    assert api(sandbox.port, "GET", f"/v1/orders/{order}")["status"] == "processing"
    svc.ok("sandbox", "clock", "realtime")
    until(lambda: api(sandbox.port, "GET", f"/v1/orders/{order}")["status"] == "paid")
    assert svc("sandbox", "clock", "--to", "2001-01-01T00:00:00Z").code == 3


# --- only a sandbox ---------------------------------------------------------------------------


@pytest.mark.effect_of("svc", "--max-time")
def test_deadline_holds_for_a_control(svc: Svc) -> None:
    """R9: a sandbox that answers nothing ends the command at --max-time."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        ended = svc("sandbox", "settings", "--base-url", url, "--max-time", "1")
    assert ended.code == 8
    assert time.monotonic() - begun < 4


def test_ignored_hangup_stays_ignored(isolated: Path) -> None:
    """`nohup` means it: a detached sandbox that inherits an ignored SIGHUP goes on."""
    options = launch_options(isolated / "state").to_json()

    with subprocess.Popen(
        ["nohup", sys.executable, "-m", "svc.sandbox", options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())["ready"]
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        assert api(ready["port"], "GET", "/v1/orders")["object"] == "list"
        process.send_signal(signal.SIGTERM)
        process.wait()
    assert process.returncode == -signal.SIGTERM


@pytest.mark.effect_of("sandbox fault add", "--status")
def test_counters_that_are_zero_are_left_out_for_people(svc: Svc, sandbox: Sandbox) -> None:
    """A program still reads them; a list of faults keeps its column."""
    human = {"SVC_OUTPUT": "human"}
    advanced = svc("sandbox", "advance", "1m", env=human).out
    assert "Now" in advanced
    assert not [word for word in ("Jobs done", "Broken jobs", "Deliveries") if word in advanced]
    assert svc.ok("sandbox", "advance", "1m")["broken_jobs"] == 0
    added = svc("sandbox", "fault", "add", "--status", "429", env=human).out
    assert "Status" in added
    assert "Fired" not in added
    assert "Skip" not in added
    assert "FIRED" in svc("sandbox", "fault", "list", env=human).out


@pytest.mark.effect_of("sandbox settings", "--of")
def test_settings_of_one_order_leave_the_others_alone(svc: Svc, sandbox: Sandbox) -> None:
    """`--of` sets and shows them; one that there is not is refused, and nothing is set."""
    made = svc.ok("sandbox", "trigger", "payment.authorized")["event"]["data"]["object"]["order"]
    svc.ok("sandbox", "settings", "voucher_days=3", "--of", made)
    assert svc.ok("sandbox", "settings", "--of", made)["voucher_days"] == 3
    assert svc.ok("sandbox", "settings")["voucher_days"] == 0
    assert svc("sandbox", "settings", "voucher_days=3", "--of", "ord_none").code == 3
    assert svc.ok("sandbox", "settings")["voucher_days"] == 0
