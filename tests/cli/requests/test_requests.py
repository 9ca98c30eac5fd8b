"""`svc requests`, and what stands between a person and a second payment (R3-R5, R12, R19)."""

import json
import sqlite3
from contextlib import closing
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from support.on_terminal import AtTerminal
from support.orders import CREATE_ORDER as ORDER
from support.ring_file import FakeRing
from support.running import Sandbox, Svc

PAYOUT = (
    *("payouts", "create", "--amount", "10000", "--currency", "EUR", "--country", "DE"),
    *("--account-holder-name", "Muster GmbH", "--iban", "DE89370400440532013000"),
)
LIVE = {"SVC_API_KEY": "sk_live_sandbox"}


SOON = ("--max-time", "0.8")  # so that a call is given up before all of its attempts


def spoil(sandbox: Sandbox, times: int = 4, **rule: Any) -> None:
    """The next POSTs are carried out, but no answer comes."""
    rule = {"phase": "after", "effect": {"connection": "close"}, **rule}
    sandbox.control("POST", "/faults", {"match": {"method": "POST"}, "times": times, **rule})


def journal(home: Path) -> list[dict[str, Any]]:
    path = home / "state" / "state.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM requests ORDER BY seq")]


def age(home: Path, seconds: float) -> None:
    """Makes every recorded request that much older; a negative age puts it into the future."""
    with closing(sqlite3.connect(home / "state" / "state.db")) as connection, connection:
        connection.execute("UPDATE requests SET first_sent_at = first_sent_at - ?", (seconds,))


@pytest.fixture
def unknown(svc: Svc, sandbox: Sandbox) -> str:
    """An order that was made, though nobody knows: the id of its request."""
    spoil(sandbox)
    result = svc(*ORDER, *SOON)
    assert result.code == 7, result.err
    sandbox.control("DELETE", "/faults")
    return str(result.error["request"])


# --- list, show, resume, forget -----------------------------------------------------------------


@pytest.mark.effect_of("requests list", "--unresolved")
def test_resume_ends_in_the_one_order(svc: Svc, sandbox: Sandbox, unknown: str) -> None:
    """R3: listed, resumed, and the sandbox holds exactly one order."""
    (listed,) = svc.ok("requests", "list", "--unresolved")
    assert (listed["id"], listed["status"], listed["operation"]) == (
        unknown,
        "unknown",
        "orders.create",
    )
    before = svc.ok("requests", "show", unknown)
    sent, until = (datetime.fromisoformat(before[name]) for name in ("created", "resumable_until"))
    assert abs((until - sent).total_seconds() - 23 * 3600) < 60
    assert (before["settled"], before["http_status"], before["object_id"]) == (None, None, None)
    order = svc.ok("requests", "resume", unknown)
    assert [one["id"] for one in svc.ok("orders", "list")["data"]] == [order["id"]]
    assert svc.ok("requests", "list", "--unresolved") == []
    shown = svc.ok("requests", "show", unknown)
    assert (shown["status"], shown["object_id"], shown["sendings"]) == ("done", order["id"], 2)
    assert shown["body"]["amount"] == 12900
    assert listed["created"] <= shown["last_sent"]
    assert len({one["idempotency_key"] for one in sandbox.posts()}) == 1


def test_a_record_holds_what_was_asked_and_answered(
    svc: Svc, sandbox: Sandbox, isolated: Path
) -> None:
    """As the service has seen it; of what was refused why, and of a damaged one what is left."""
    order = svc.ok(*ORDER, "--idempotency-key", "order-1")
    refused = svc("refunds", "create", "--payment", "pay_none", "--amount", "5")
    svc.ok("profiles", "create", "other", "--base-url", sandbox.url)
    svc(*PAYOUT, "--live", "--yes", "--profile", "other", env=LIVE)
    rows = svc.ok("requests", "list")
    seen = {one["path"]: one for one in sandbox.posts()}
    for row in rows:
        assert svc.ok("requests", "show", row["id"]).items() >= row.items()
    last, missing, made = (svc.ok("requests", "show", one["id"]) for one in rows)
    there = seen["/v1/orders"]
    assert made.pop("body")["items"] == [
        {"name": "Jacket", "hs_code": "6203.39", "quantity": 1, "unit_amount": 12900}
    ]
    stored = {one["path"]: bytes(one["body"]) for one in journal(isolated)}
    assert made.pop("body_sha256") == sha256(stored["/v1/orders"]).hexdigest()
    assert made.pop("created") == made["last_sent"]
    assert (made.pop("last_sent"), made.pop("settled")) >= ("20", "20")
    assert made.pop("key_fingerprint").startswith("sk_test_\u2026")
    assert made == {
        "id": rows[2]["id"],
        "object": "request",
        "status": "done",
        "operation": "orders.create",
        "path": "/v1/orders",
        "object_id": order["id"],
        "amount": 12900,
        "currency": "EUR",
        "error_code": None,
        "mode": "test",
        "profile": "default",
        "idempotency_key": "order-1",
        "method": "POST",
        "base_url": sandbox.url,
        "api_version": None,
        "sendings": 1,
        "resumable_until": None,
        "http_status": there["status"],
        "request_id": there["id"],
        "error_message": None,
        "batch": None,
        "row": None,
    }
    error = refused.error
    assert (missing["error_code"], missing["http_status"]) == (error["code"], error["status"])
    assert missing["error_message"]
    assert error["message"].startswith(missing["error_message"])
    assert (last["mode"], last["profile"]) == ("live", "other")
    with closing(sqlite3.connect(isolated / "state" / "state.db")) as opened, opened:
        opened.execute("UPDATE requests SET body = x'ff41' WHERE path = '/v1/refunds'")
    assert svc.ok("requests", "show", missing["id"])["body"] == "\ufffdA"


def test_journal_holds_no_secret(svc: Svc, sandbox: Sandbox, isolated: Path) -> None:
    """R45: the client secret and the signing secret were printed once, and are nowhere else."""
    order = svc.ok(*ORDER)
    endpoint = svc.ok(
        "webhook-endpoints", "create", "--url", "https://a.example/", "--events", "order.paid"
    )
    kept = b"".join(path.read_bytes() for path in (isolated / "state").rglob("state.db*"))
    for secret in (order["client_secret"], endpoint["secret"], "sk_test_sandbox"):
        assert secret.encode() not in kept
    assert order["id"].encode() in kept


def test_forget_frees_the_way_for_the_same_command(
    svc: Svc, sandbox: Sandbox, unknown: str
) -> None:
    """It shows what it deletes; afterwards nothing stops the command."""
    gone = svc.ok("requests", "forget", unknown, "--yes")
    assert (gone["id"], gone["status"], gone["settled"]) == (unknown, "unknown", None)
    assert svc("requests", "show", unknown).code == 5
    assert svc(*ORDER).code == 0


def test_forgetting_what_may_have_been_carried_out_needs_a_yes(
    svc: Svc, sandbox: Sandbox, unknown: str, at_terminal: AtTerminal
) -> None:
    """The record is what keeps the same command from paying twice; a settled one needs none."""
    refused = svc("requests", "forget", unknown)
    assert (refused.code, refused.error["code"]) == (2, "confirmation_required")
    assert f"svc requests resume {unknown}" in refused.error["message"]
    asked = at_terminal("n\n", "requests", "forget", unknown, prompt="[y/N] ")
    assert "orders.create, 129.00 EUR, test mode" in " ".join((asked.out + asked.err).split())
    assert svc.ok("requests", "show", unknown)["status"] == "unknown"
    svc.ok("requests", "resume", unknown)
    assert svc.ok("requests", "forget", unknown)["status"] == "done"


def test_a_request_that_was_forgotten_is_of_no_other_mode(
    svc: Svc, sandbox: Sandbox, unknown: str
) -> None:
    """The journal shows requests of both modes: the hint to add --live led nowhere."""
    live = {"SVC_API_KEY": "sk_live_sandbox"}
    order = svc.ok(*ORDER, "--new-request", "--live", "--yes", env=live)
    (row,) = svc.ok("requests", "list", "--object", order["id"], "--live", env=live)
    svc.ok("requests", "forget", row["id"])
    refused = svc("requests", "show", row["id"])
    assert (refused.code, refused.error["code"]) == (5, "request_missing")
    assert "--live" not in refused.error["message"]


def test_list_says_that_older_requests_are_left_out(
    svc: Svc, sandbox: Sandbox, unknown: str
) -> None:
    """A list that ends at 100 looks like all that was sent."""
    svc.ok(*ORDER, "--new-request")
    assert "Only the newest 1 are shown" in svc("requests", "list", "--limit", "1").err
    assert "newest" not in svc("requests", "list", "--limit", "2").err


def test_a_forgotten_request_leaves_nothing_behind(
    svc: Svc, sandbox: Sandbox, isolated: Path
) -> None:
    """What was sent holds a bank account: it is gone from the database and from its log."""
    svc.ok(*PAYOUT)
    [made] = svc.ok("requests", "list")

    def holding() -> list[str]:
        files = (path for path in (isolated / "state").rglob("*") if path.is_file())
        return [path.name for path in files if b"DE89370400440532013000" in path.read_bytes()]

    assert holding()
    svc.ok("requests", "forget", made["id"])
    assert holding() == []


@pytest.mark.effect_of("requests list", "--max")
def test_list_fits_a_terminal(svc: Svc, sandbox: Sandbox, unknown: str) -> None:
    """People get one line a request, the newest first, and what to do about it."""
    svc.ok("landed-cost-quotes", "create", "--body", "-", stdin=json.dumps(QUOTE))
    result = svc("requests", "list", "-o", "human")
    head, newest, older = result.out.splitlines()
    assert head.split()[:3] == ["ID", "STATUS", "OPERATION"]
    assert newest.split()[1:3] == ["done", "landed-cost-quotes.create"]
    assert older.split()[:3] == [unknown, "unknown", "orders.create"]
    assert all(len(line) <= 80 for line in result.out.splitlines())
    assert "svc requests resume ID" in result.err
    assert len(svc.ok("requests", "list", "--limit", "1")) == 1
    assert len(svc.ok("requests", "list", "--max", "1")) == 1


QUOTE = {
    "currency": "EUR",
    "shipping": {"country": "DE"},
    "items": [{"name": "Jacket", "quantity": 1, "unit_amount": 12900}],
}


# --- too old, elsewhere, another key ------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "code"), [(23 * 3600, "too_old"), (-60, "clock_behind")])
def test_resume_is_refused_when_it_could_double(
    svc: Svc, sandbox: Sandbox, unknown: str, isolated: Path, seconds: float, code: str
) -> None:
    """R4: nothing is sent, the outcome stays unknown, and the error names what to look at."""
    age(isolated, seconds)
    before = len(sandbox.posts())
    result = svc("requests", "resume", unknown)
    assert result.code == 7
    assert result.error["code"].endswith(code)
    assert result.error["outcome"] == "unknown"
    assert "svc orders list --all --created-gte" in result.error["message"]
    assert len(sandbox.posts()) == before
    assert svc("requests", "resume", unknown).code == 7
    assert len(svc.ok("requests", "list", "--unresolved")) == 1


@pytest.mark.parametrize("is_made", [False, True], ids=["not carried out", "carried out"])
def test_an_update_that_a_later_one_has_overtaken_is_not_resumed(
    svc: Svc, sandbox: Sandbox, is_made: bool
) -> None:
    """Sent late, it would set the order's price back, or show it as it is no more."""
    order = svc.ok(*ORDER)["id"]
    spoil(sandbox, phase="after" if is_made else "before")
    first = svc("orders", "update", order, "--amount", "5000", *SOON).error["request"]
    sandbox.control("DELETE", "/faults")
    svc.ok("orders", "update", order, "--amount", "7000")
    refused = svc("requests", "resume", first)
    assert (refused.code, refused.error["code"]) == (6, "request_unresolved")
    assert refused.error["outcome"] == "unknown"
    assert f"svc orders retrieve {order}" in refused.error["message"]
    assert svc.ok("orders", "retrieve", order)["amount"] == 7000
    svc.ok("requests", "forget", first, "--yes")
    assert svc.ok("orders", "update", order, "--amount", "5000")["amount"] == 5000


def test_what_ends_an_object_is_not_resumed_after_a_later_update(
    svc: Svc, sandbox: Sandbox
) -> None:
    """Who changes the order, or gathers evidence, does not want it cancelled, or given up."""
    order = svc.ok(*ORDER)["id"]
    svc.ok("sandbox", "trigger", "dispute.opened")
    dispute = svc.ok("disputes", "list")["data"][0]["id"]
    spoil(sandbox, 8, phase="before")
    ends = (("orders", "cancel", order), ("disputes", "accept", dispute))
    asked = [svc(*argv, *SOON).error["request"] for argv in ends]
    sandbox.control("DELETE", "/faults")
    svc.ok("orders", "update", order, "--metadata", "a=b")
    svc.ok("disputes", "update", dispute, "--tracking-number", "1Z")
    for request in asked:
        refused = svc("requests", "resume", request)
        assert (refused.code, refused.error["code"]) == (6, "request_unresolved")


def test_an_update_of_something_else_overtakes_none(svc: Svc, sandbox: Sandbox) -> None:
    """What a later one has not said, or said alike, is not undone."""
    order = svc.ok(*ORDER)["id"]
    spoil(sandbox, phase="before")
    first = svc("orders", "update", order, "--amount", "5000", *SOON).error["request"]
    sandbox.control("DELETE", "/faults")
    svc.ok("orders", "update", order, "--amount", "5000", "--metadata", "a=b")
    svc.ok("orders", "update", order, "--metadata", "a=c")
    assert svc.ok("requests", "resume", first)["amount"] == 5000


def test_an_unknown_request_of_another_journal_is_taken_over(
    svc: Svc, sandbox: Sandbox, unknown: str, isolated: Path
) -> None:
    """Its number is in use here already; the same command is not to be sent a second time."""
    state, other = isolated / "state", isolated / "other"
    state.rename(other)
    svc.ok("refunds", "create", "--payment", paid(svc), "--amount", "5")
    adopted = svc("requests", "adopt", str(other / "state.db"))
    assert "svc requests list --unresolved" in adopted.err
    assert adopted.json == {
        "object": "adoption",
        "file": str(other / "state.db"),
        "requests": 1,
        "events": 0,
        "unresolved": 1,
        "damaged": [],
    }
    again = svc(*ORDER)
    assert (again.code, again.error["request"]) == (6, unknown)


def test_what_was_set_aside_is_named_where_one_begins_without_it(svc: Svc, isolated: Path) -> None:
    state = isolated / "state" / "state.db"
    state.parent.mkdir(mode=0o700)
    aside = [state.with_name(f"state.db.corrupt-{number}") for number in (1, 2)]
    for each in aside:
        each.write_bytes(b"no database")
    begun = svc.ok("requests", "start-empty")
    assert begun == {
        "object": "state",
        "file": str(state),
        "set_aside": [str(one) for one in aside],
    }
    told = " ".join(svc("requests", "list").err.split())
    assert [f"{one} is a damaged state database" in told for one in aside] == [True, True]


def paid(svc: Svc) -> str:
    svc.ok("sandbox", "trigger", "payment.captured")
    return str(svc.ok("payments", "list")["data"][0]["id"])


def test_resume_goes_where_the_request_went(svc: Svc, sandbox: Sandbox, unknown: str) -> None:
    """Another address in the environment is not asked, one on the command line is refused."""
    elsewhere = "http://127.0.0.1:9"
    refused = svc("requests", "resume", unknown, "--base-url", elsewhere)
    assert (refused.code, refused.error["param"]) == (2, "--base-url")
    assert svc("requests", "resume", unknown, env={"SVC_BASE_URL": elsewhere}).code == 0


def test_resume_under_another_key_must_be_confirmed(
    svc: Svc, sandbox: Sandbox, unknown: str
) -> None:
    """In another account it would be carried out a second time."""
    made = sandbox.control("POST", "/keys", {"type": "secret"}, key="sk_test_sandbox")
    other = {"SVC_API_KEY": made["secret"]}
    refused = svc("requests", "resume", unknown, env=other)
    assert (refused.code, refused.error["code"]) == (2, "confirmation_required")
    assert svc("requests", "resume", unknown, "--yes", env=other).code == 0


# --- twins and keys of one's own ----------------------------------------------------------------


@pytest.mark.effect_of("svc", "--new-request")
def test_same_command_stops_while_the_first_is_unresolved(
    svc: Svc, sandbox: Sandbox, unknown: str
) -> None:
    """R5: exit 6 before anything is sent; --new-request sends a second one."""
    before = len(sandbox.posts())
    stopped = svc(*ORDER)
    assert (stopped.code, stopped.error["request"]) == (6, unknown)
    assert f"svc requests resume {unknown}" in stopped.error["message"]
    assert len(sandbox.posts()) == before
    assert svc(*ORDER, "--metadata", "note=other").code == 0
    assert svc(*ORDER, "--new-request").code == 0
    assert len(svc.ok("orders", "list")["data"]) == 3


def test_a_corrected_name_is_no_second_payout(svc: Svc, sandbox: Sandbox) -> None:
    """R115: the first may have been carried out; typed anew with the name corrected, it stops."""
    spoil(sandbox)
    first = svc(*PAYOUT, *SOON)
    sandbox.control("DELETE", "/faults")
    corrected = [word.replace("Muster GmbH", "Muster AG") for word in PAYOUT]
    stopped = svc(*corrected)
    assert (first.code, stopped.code) == (7, 6)
    assert (stopped.error["outcome"], stopped.error["request"]) == (
        "not_sent",
        first.error["request"],
    )
    assert len(svc.ok("payouts", "list")["data"]) == 1
    assert svc(*corrected, "--new-request").code == 0
    assert len(svc.ok("payouts", "list")["data"]) == 2


def test_own_key_under_another_key_asks_for_a_resume(svc: Svc, sandbox: Sandbox) -> None:
    """R12: the same command in another account is not the same request; exit 6, nothing sent."""
    spoil(sandbox)
    own = (*ORDER, "--idempotency-key", "order-1001")
    assert svc(*own, *SOON).code == 7
    sandbox.control("DELETE", "/faults")
    before = len(sandbox.posts())
    made = sandbox.control("POST", "/keys", {"type": "secret"}, key="sk_test_sandbox")
    stopped = svc(*own, env={"SVC_API_KEY": made["secret"]})
    assert (stopped.code, stopped.error["outcome"]) == (6, "not_sent"), stopped.err
    assert f"svc requests resume {stopped.error['request']}" in stopped.error["message"]
    assert len(sandbox.posts()) == before
    assert svc(*own).code == 0


@pytest.mark.effect_of("svc", "--idempotency-key")
def test_own_key_again_is_the_same_request(svc: Svc, sandbox: Sandbox) -> None:
    """A script that repeats its command with its own key gets the first result, exit 0."""
    spoil(sandbox)
    own = (*ORDER, "--idempotency-key", "order-1001")
    assert svc(*own, *SOON).code == 7
    sandbox.control("DELETE", "/faults")
    first = svc.ok(*own)
    assert svc.ok(*own)["id"] == first["id"]
    (row,) = svc.ok("requests", "list")
    assert (row["status"], row["idempotency_key"]) == ("done", "order-1001")


def test_own_key_with_another_body_is_refused_here(svc: Svc, sandbox: Sandbox) -> None:
    """R12: exit 6, and the service never sees it."""
    assert svc(*ORDER, "--idempotency-key", "order-1001").code == 0
    refused = svc(*PAYOUT, "--idempotency-key", "order-1001")
    assert (refused.code, refused.error["code"]) == (6, "idempotency_key_reused")
    assert refused.error["outcome"] == "not_sent"
    assert len(sandbox.posts()) == 1


@pytest.mark.parametrize(
    "argv",
    [
        ("orders", "list", "--param", "x=sk_test_sandbox"),
        ("orders", "list", "--starting-after", "sk_test_sandbox"),
        ("get", "/v1/orders?x=sk_test_sandbox"),
    ],
)
def test_key_in_an_address_is_refused(svc: Svc, sandbox: Sandbox, argv: tuple[str, ...]) -> None:
    """R28: servers and proxies write addresses down."""
    refused = svc(*argv)
    assert (refused.code, refused.error["code"]) == (4, "secret_in_request")
    assert sandbox.control("GET", "/requests")["data"] == []


@pytest.mark.parametrize("way", ["--dry-run", "--curl"])
def test_what_looks_like_a_key_is_not_shown(svc: Svc, sandbox: Sandbox, way: str) -> None:
    """R39: a preview does not open the keyring, and so cannot know the key that lies there."""
    shown = svc(*ORDER, "-d", "metadata[k]=rk_live_4eC39HqLyjWDarjtT1zdp7dc", way)
    assert (shown.code, shown.out) == (4, "")
    assert "4eC39" not in shown.err


# --- live mode ----------------------------------------------------------------------------------


@pytest.mark.effect_of("svc", "--no-input")
def test_live_payout_without_a_terminal_needs_yes(
    svc: Svc, sandbox: Sandbox, isolated: Path
) -> None:
    """R19: exit 2, nothing sent, nothing recorded."""
    refused = svc(*PAYOUT, "--live", env=LIVE)
    assert (refused.code, refused.error["code"]) == (2, "confirmation_required")
    said = "100.00 EUR, to Muster GmbH, account ending in 3000; live mode, profile default"
    assert said in refused.error["message"]
    assert (sandbox.posts(), journal(isolated)) == ([], [])
    assert svc(*PAYOUT, "--live", "--no-input", env=LIVE).code == 2
    sent = svc(*PAYOUT, "--live", "--yes", env=LIVE)
    assert sent.error["outcome"] == "refused"  # there is no live balance
    assert [row["mode"] for row in journal(isolated)] == ["live"]


@pytest.mark.effect_of("svc", "--live")
def test_live_key_needs_the_flag_and_the_flag_a_live_key(svc: Svc, sandbox: Sandbox) -> None:
    """R19: the mode is the key's; a flag alone makes nothing live."""
    assert svc(*PAYOUT, "--yes", env=LIVE).code == 4
    assert svc(*PAYOUT, "--live", "--yes").code == 4
    assert sandbox.posts() == []


def test_live_request_is_resumed_with_live_only(svc: Svc, sandbox: Sandbox) -> None:
    """R10: the next command that exit 7 names is complete."""
    spoil(sandbox)
    lost = svc(*ORDER, *SOON, "--live", env=LIVE)
    sandbox.control("DELETE", "/faults")
    request = lost.error["request"]
    assert f"svc requests resume {request} --live" in lost.error["message"]
    refused = svc("requests", "resume", request, env=LIVE)
    assert (refused.code, refused.error["code"]) == (2, "mode_mismatch")
    assert svc("requests", "resume", request, "--live", env=LIVE).code == 0


def test_resume_of_a_live_payout_asks_again(svc: Svc, sandbox: Sandbox) -> None:
    """R19: what moves money is confirmed, the second time too."""
    spoil(sandbox, phase="before")
    lost = svc(*PAYOUT, *SOON, "--live", "--yes", env=LIVE)
    assert lost.code == 7
    refused = svc("requests", "resume", lost.error["request"], "--live", env=LIVE)
    assert (refused.code, refused.error["code"]) == (2, "confirmation_required")
    assert "send a payout, 100.00 EUR" in refused.error["message"]


@pytest.mark.parametrize(("answer", "sent"), [("y\n", 1), ("n\n", 0), ("\n", 0), ("\x04", 0)])
def test_person_is_asked_before_live_money_moves(
    sandbox: Sandbox, isolated: Path, at_terminal: AtTerminal, answer: str, sent: int
) -> None:
    """R19: profile, mode, amount; only yes sends, and only what is sent is recorded."""
    done = at_terminal(answer, *PAYOUT, "--live", prompt="[y/N] ", **LIVE)
    asked = done.out.partition("\n  live mode, profile default\n")[0]
    said = "send a payout, 100.00 EUR, to Muster GmbH, account ending in 3000"
    assert " ".join(asked.split()).endswith(said)
    assert len(sandbox.posts()) == len(journal(isolated)) == sent
    assert done.code == (3 if sent else 2)  # 3: there is no live balance


def test_prompt_cannot_be_drawn_over(
    sandbox: Sandbox, isolated: Path, at_terminal: AtTerminal, tmp_path: Path
) -> None:
    """R61: a name in a file with terminal codes in it is shown, not obeyed; nothing is sent."""
    name = "Ana\r\x1b[2K\x1b[1A1.00 EUR; x"
    destination = {"account_holder_name": name, "country": "DE", "iban": "DE89370400440532013000"}
    body = {"currency": "EUR", "amount": 9900, "destination": destination}
    (tmp_path / "body.json").write_text(json.dumps(body))
    argv = ("payouts", "create", "--live", "--body", str(tmp_path / "body.json"))
    done = at_terminal("n\n", *argv, prompt="[y/N] ", **LIVE)
    assert r"Ana\u{d}\u{1b}[2K" in done.out
    assert "Go ahead?" in done.out
    assert "\x1b" not in done.out
    assert done.code == 2
    assert sandbox.posts() == []


# --- what it costs ------------------------------------------------------------------------------


def test_showing_a_request_records_nothing(svc: Svc, sandbox: Sandbox, isolated: Path) -> None:
    assert svc(*ORDER, "--dry-run").code == 0
    assert svc(*ORDER, "--curl").code == 0
    assert not (isolated / "state").exists()


@pytest.mark.effect_of("requests list", "--object", "--operation", "--since")
def test_requests_are_found_by_object_time_and_operation(svc: Svc, sandbox: Sandbox) -> None:
    """With the amount of each: what was paid back, of which payment, in the last two hours."""
    payment = paid(svc)
    order = svc.ok(*ORDER)["id"]
    svc.ok("sandbox", "advance", "3d")  # the journal is by this machine's clock
    svc.ok("orders", "cancel", order)
    refund = svc.ok("refunds", "create", "--payment", payment, "--amount", "500")["id"]

    def found(*words: str) -> list[tuple[str, int | None]]:
        return [(one["operation"], one["amount"]) for one in svc.ok("requests", "list", *words)]

    assert found("--object", payment) == found("--object", refund) == [("refunds.create", 500)]
    assert found("--object", order) == [("orders.cancel", None), ("orders.create", 12900)]
    assert found("--operation", "orders.create") == [("orders.create", 12900)]
    assert found("--since", "2h", "--operation", "refunds.create") == [("refunds.create", 500)]
    assert found("--since", "tomorrow") == []
    told = svc("requests", "list", "-o", "human").out
    assert "129.00 EUR" in told
    assert " 5.00 EUR" in told  # the answer has said the currency
    whole = svc.ok("refunds", "create", "--payment", payment)["amount"]
    assert found("--max", "1") == [("refunds.create", whole)]


def test_an_older_svc_reads_and_sends_nothing(
    svc: Svc, sandbox: Sandbox, isolated: Path, fake_ring: FakeRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R2: it says what it cannot see, and offers no folder that knows of no request."""
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    svc.ok("keys", "add", "--stdin", stdin="sk_test_sandbox")  # is looked up in that database
    order = svc.ok(*ORDER)["id"]
    with closing(sqlite3.connect(isolated / "state" / "state.db")) as raw:
        raw.execute("PRAGMA user_version = 999")
    assert [one["id"] for one in svc.ok("orders", "list")["data"]] == [order]
    refused = svc(*ORDER, "-o", "human")
    assert refused.code == 10
    said = " ".join(refused.err.split())
    assert "written by a newer svc" in said
    assert "svc requests list --unresolved" in said
    assert "SVC_STATE_DIR" not in said
    assert [one["id"] for one in svc.ok("orders", "list")["data"]] == [order]
