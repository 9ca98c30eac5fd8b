"""Every command on a resource, as a process against the sandbox."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.running import Sandbox, Svc

ORDER = (
    *("orders", "create", "--amount", "12900", "--currency", "EUR"),
    *("--country", "DE", "--postal-code", "10115"),
    *("--item", "name=Linen jacket,hs_code=6203.39,quantity=1,unit_amount=12900"),
)
CARD = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2040, "cvc": "123"}


def paid_payment(svc: Svc, sandbox: Sandbox, *extra: str) -> Any:
    """Creates an order and has its shopper pay by card; gives the payment."""
    order = svc.ok(*ORDER, *extra)
    body = {"client_secret": order["client_secret"], "card": CARD}
    return sandbox.control("POST", "/checkout/pay", body, key="pk_test_sandbox")["payment"]


def test_order_is_created_retrieved_updated_listed_and_cancelled(
    svc: Svc, sandbox: Sandbox
) -> None:
    """The life of an unpaid order; the client secret is shown once (R45)."""
    order = svc.ok(*ORDER, "--metadata", "ref=A-1001")
    assert order["client_secret"].startswith(order["id"])
    assert (order["amount_total"], order["metadata"]) == (15708, {"ref": "A-1001"})

    retrieved = svc.ok("orders", "retrieve", order["id"])
    assert "client_secret" not in retrieved
    updated = svc.ok("orders", "update", order["id"], "--amount", "14900", "-d", "metadata[ref]=B")
    assert (updated["amount"], updated["metadata"]) == (14900, {"ref": "B"})
    assert [each["id"] for each in svc.ok("orders", "list")["data"]] == [order["id"]]

    cancelled = svc.ok("orders", "cancel", order["id"], "--reason", "duplicate")
    assert (cancelled["status"], cancelled["cancellation_reason"]) == ("cancelled", "duplicate")
    refused = svc("orders", "cancel", order["id"])
    assert refused.code == 3
    assert refused.error["code"] == "order_unexpected_state"


def test_capture_in_part_releases_the_rest(svc: Svc, sandbox: Sandbox) -> None:
    """A manual order is captured once; the answer is the payment."""
    payment = paid_payment(svc, sandbox, "--capture-method", "manual")
    assert payment["status"] == "authorized"
    captured = svc.ok("orders", "capture", payment["order"], "--amount", "10000")
    assert (captured["object"], captured["amount_captured"]) == ("payment", 10000)
    assert captured["amount_released"] == 5708
    assert svc.ok("payments", "retrieve", payment["id"])["status"] == "captured"


def test_refund_is_created_waited_for_and_listed(svc: Svc, sandbox: Sandbox) -> None:
    """`--wait` ends at the final state; a second refund may not exceed what is left."""
    payment = paid_payment(svc, sandbox)
    refund = svc.ok("refunds", "create", "--payment", payment["id"], "--amount", "4999")
    assert (refund["status"], refund["amount"]) == ("pending", 4999)
    sandbox.control("POST", "/clock/advance", {"until": "idle"})
    assert svc.ok("refunds", "retrieve", refund["id"])["status"] == "succeeded"
    assert svc.ok("refunds", "list", "--payment", payment["id"])["data"][0]["id"] == refund["id"]

    too_much = svc("refunds", "create", "--payment", payment["id"], "--amount", "99999")
    assert (too_much.code, too_much.error["code"]) == (3, "amount_too_large")


def test_payout_is_sent_and_failed_ones_are_found(svc: Svc, sandbox: Sandbox) -> None:
    """The arithmetic of a payout is shown as the service sends it."""
    payout = svc.ok(
        *("payouts", "create", "--amount", "10000", "--currency", "EUR"),
        *("--source-currency", "USD", "--country", "DE", "--account-holder-name", "Muster GmbH"),
        *("--iban", "DE62370400440532013001", "--reference", "INV-7"),
    )
    assert (payout["source_amount"], payout["network_fees"]) == (11200, 200)
    sandbox.control("POST", "/clock/advance", {"until": "idle"})
    failed = svc.ok("payouts", "list", "--status", "failed")["data"]
    assert [(each["id"], each["failure_reason"]) for each in failed] == [
        (payout["id"], "no_account")
    ]
    assert svc.ok("payouts", "retrieve", payout["id"])["status"] == "failed"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("post /v1/refund -d amount:=1", "Next: svc post /v1/refunds\n"),
        ("get /v1/order/ord_1", "Next: svc get /v1/orders/ord_1\n"),
        ("get /v1/nothing", "Next: What the API has: svc commands\n"),
    ],
)
def test_a_path_that_there_is_not_is_answered_with_the_nearest(
    svc: Svc, sandbox: Sandbox, line: str, meant: str
) -> None:
    """Or with the place where all that there is stands."""
    assert sandbox.port
    refused = svc(*line.split(), "-o", "human")
    assert refused.code == 5
    assert meant in refused.err


ACCOUNT = "--iban (or --account-number with --bank-code)"
TO_AMERICA = "--amount 10000 --currency USD --country US --account-holder-name Muster"


@pytest.mark.parametrize(
    ("given", "needs"),
    [
        ("", f"--amount, --currency, --country, --account-holder-name and {ACCOUNT}"),
        (TO_AMERICA, ACCOUNT),
        (f"{TO_AMERICA} --account-number 12345678", "--bank-code"),
    ],
)
def test_what_a_payout_is_said_to_need_is_all_that_it_needs(
    svc: Svc, sandbox: Sandbox, given: str, needs: str
) -> None:
    """R120: before it is sent; what is suggested has a placeholder for each, and sends nothing."""
    refused = svc("payouts", "create", *given.split(), "-o", "human")
    said = " ".join(refused.err.split())
    assert refused.code == 2
    assert f"svc payouts create needs {needs}. Next: svc " in said
    typed = said.partition("Next: svc ")[2]
    names = re.findall("--[a-z-]+", needs.partition(" (or")[0])
    assert typed.endswith(" ".join(f"{name} {placeholder(name)}" for name in names))
    assert svc(*shlex.split(typed), "--dry-run").code == (0 if "--amount 10000" in given else 2)
    assert sandbox.control("GET", "/requests")["data"] == []


def placeholder(name: str) -> str:
    return name.removeprefix("--").replace("-", "_").upper()


def test_number_is_printed_as_the_service_spells_it(svc: Svc, sandbox: Sandbox) -> None:
    """A rate never goes through binary rounding."""
    result = svc(
        *("payouts", "create", "--amount", "15000", "--currency", "JPY"),
        *("--source-currency", "USD", "--country", "JP", "--account-holder-name", "山田"),
        *("--account-number", "1234567", "--bank-code", "0001"),
    )
    assert '"fx_rate": 147.05882,' in result.out
    assert "山田" in result.out


def test_quote_warns_and_is_retrieved_by_its_short_name(svc: Svc, sandbox: Sandbox) -> None:
    """`quotes` is short for `landed-cost-quotes`."""
    quote = svc.ok(
        *("quotes", "create", "--currency", "EUR", "--country", "DE"),
        *("--item", "name=Jacket,hs_code=6203,quantity=1,unit_amount=12900"),
    )
    assert [each["code"] for each in quote["warnings"]] == [
        "hs_code_incomplete",
        "origin_country_unknown",
    ]
    assert svc.ok("landed-cost-quotes", "retrieve", quote["id"]) == quote


def test_endpoint_is_registered_form_encoded(svc: Svc, sandbox: Sandbox) -> None:
    """The secret is in the answer of the creation only."""
    endpoint = svc.ok(
        *("webhook-endpoints", "create", "--url", "https://shop.example/hooks"),
        *("--events", "order.paid,refund.failed", "--events", "payout.paid"),
    )
    assert endpoint["events"] == ["order.paid", "refund.failed", "payout.paid"]
    assert endpoint["secret"].startswith("whsec_")


def test_event_is_retrieved_by_id(svc: Svc, sandbox: Sandbox) -> None:
    """An event holds the order as it was, without its client secret."""
    paid_payment(svc, sandbox)
    listed = sandbox.control("GET", "/events?type=order.paid")["data"]
    event = svc.ok("events", "retrieve", listed[0]["id"])
    assert event["data"]["object"]["status"] == "paid"
    assert "client_secret" not in event["data"]["object"]


def test_dispute_is_answered_and_another_accepted(svc: Svc, sandbox: Sandbox) -> None:
    """Evidence stays a draft until it is submitted; accepting is final."""
    first, second = (paid_payment(svc, sandbox)["id"] for _ in range(2))
    for payment in (first, second):
        sandbox.control("POST", "/disputes", {"payment": payment})
    answered = svc.ok("disputes", "list", "--payment", first)["data"][0]["id"]
    draft = svc.ok("disputes", "update", answered, "--evidence", "customer_name=Ada")
    assert (draft["evidence_status"], draft["status"]) == ("draft", "needs_response")
    texts = ("--tracking-number", "1Z", "--shipping-carrier", "UPS", "--submit")
    submitted = svc.ok("disputes", "update", answered, *texts)
    assert submitted["status"] == "under_review"
    assert set(submitted["evidence"]) == {"customer_name", "tracking_number", "shipping_carrier"}

    accepted = svc.ok("disputes", "list", "--payment", second)["data"][0]["id"]
    assert svc.ok("disputes", "accept", accepted)["status"] == "lost"
    assert svc.ok("disputes", "retrieve", accepted)["status"] == "lost"


@pytest.mark.effect_of("get", "--param")
@pytest.mark.effect_of("svc", "--param")
def test_get_and_post_reach_any_path(svc: Svc, sandbox: Sandbox) -> None:
    order = svc.ok("post", "/v1/orders", "--body", "-", stdin=json.dumps(raw_order()))
    assert svc.ok("get", order["id"])["id"] == order["id"]
    assert svc.ok("get", "/v1/orders", "--param", "limit=1")["data"][0]["id"] == order["id"]


def raw_order() -> dict[str, Any]:
    """The body of a small order."""
    item = {"name": "Mug", "quantity": 1, "unit_amount": 900}
    return {"amount": 900, "currency": "EUR", "shipping": {"country": "FR"}, "items": [item]}


def test_pages_are_followed_and_counted(svc: Svc, sandbox: Sandbox) -> None:
    """`--all` joins the pages, `--max` stops, `--query` sees the whole, ndjson is a line each."""
    ids = [
        svc.ok("post", "/v1/orders", "--body", "-", stdin=json.dumps(raw_order()))["id"]
        for _ in range(5)
    ]
    newest_first = ids[::-1]
    assert [
        each["id"] for each in svc.ok("orders", "list", "--all", "--limit", "2")
    ] == newest_first
    assert len(svc.ok("orders", "list", "--max", "3", "--limit", "2")) == 3
    assert svc.ok("orders", "list", "--all", "--limit", "2", "--query", "length(@)") == 5
    lines = svc("orders", "list", "--all", "--limit", "2", "-o", "ndjson").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == newest_first
    page = svc("orders", "list", "--limit", "2", "-o", "human")
    assert f"svc orders list --limit 2 -o human --starting-after {newest_first[1]}" in page.out
    raw = svc("get", "/v1/orders", "--param", "limit=2", "-o", "human")
    assert f"--param limit=2 -o human --param starting_after={newest_first[1]}" in raw.out
    rest = svc("orders", "list", "--starting-after", newest_first[1], "-o", "id")
    assert rest.out.split() == newest_first[2:]


def test_dry_run_prints_the_request_and_sends_nothing(svc: Svc, sandbox: Sandbox) -> None:
    """The same input shows the same bytes (R74), the key redacted."""
    first, second = svc(*ORDER, "--dry-run"), svc(*ORDER, "--dry-run")
    assert first.out == second.out
    assert first.json["method"] == "POST"
    assert first.json["body"]["shipping"] == {"country": "DE", "postal_code": "10115"}
    assert "sk_test_sandbox" not in first.out
    assert svc.ok("orders", "list")["data"] == []


@pytest.mark.effect_of("svc", "--curl")
def test_curl_line_does_the_same(svc: Svc, sandbox: Sandbox) -> None:
    line = svc(*ORDER, "--curl", "--idempotency-key", "my-key").out.strip()
    assert "sk_test_sandbox" not in line
    sent = json.loads(
        subprocess.run(["bash", "-c", f"{line} --silent"], capture_output=True, check=True).stdout
    )
    # The same key and body through svc give the same order back.
    assert svc.ok(*ORDER, "--idempotency-key", "my-key")["id"] == sent["id"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_curl_line_shows_the_key_to_nobody(
    svc: Svc, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    """R32: curl gets it through a pipe; and the body as it was, whatever shell reads the line."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    note = "it's \\\\ \\' \"$HOME\" `id` \\u00e9 !x {a,b} \\"
    line = svc(*ORDER, "-d", f"metadata[note]={note}", "--curl", "--idempotency-key", "k").out
    recorder = tmp_path / "curl"
    recorder.write_text(
        f'#!/bin/sh\nprintf "%s\\0" "$@" > {tmp_path}/argv\ncat > {tmp_path}/stdin\n'
    )
    recorder.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([shell, "-c", line.strip()], env={**os.environ, "PATH": path}, check=True)
    argv = (tmp_path / "argv").read_text().split("\0")
    assert not [word for word in argv if "sk_test_sandbox" in word]
    assert (tmp_path / "stdin").read_text() == "Authorization: Bearer sk_test_sandbox\n"
    body = json.loads(argv[argv.index("--data-binary") + 1])
    assert body["metadata"]["note"] == note


@pytest.mark.effect_of("svc", "--form", "--json-body")
@pytest.mark.parametrize("encoding", ["--form", "--json-body"])
def test_encoding_can_be_switched(svc: Svc, sandbox: Sandbox, encoding: str) -> None:
    """Both encodings make the same order (assumptions: Requests and answers)."""
    order = svc.ok(*ORDER, encoding)
    assert (order["amount"], order["items"][0]["quantity"]) == (12900, 1)


def test_global_options_work_before_the_resource_and_after_the_verb(
    svc: Svc, sandbox: Sandbox
) -> None:
    """The verb's value wins."""
    order = svc.ok(*ORDER)["id"]
    assert svc("-o", "id", "orders", "retrieve", order).out == f"{order}\n"
    assert svc("orders", "-o", "id", "retrieve", order).out == f"{order}\n"
    assert svc("-o", "csv", "orders", "retrieve", order, "-o", "id").out == f"{order}\n"


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("orders retrieve ../../admin", 2, "not an id"),
        ("orders list --live", 4, "test key"),
        ("orders retrieve ord_none", 5, "No such order"),
        ("post /v1/orders", 3, "Missing required parameter"),
        ("refunds create --payment pay_none", 5, "No such payment"),
        ("webhook-endpoints create --url ftp://x --events order.paid", 3, "url"),
        ("orders list --base-url http://127.0.0.1:1 --max-time 0.2", 8, "127.0.0.1:1"),
    ],
)
def test_bad_input_is_one_clear_message_and_the_right_exit(
    svc: Svc, sandbox: Sandbox, line: str, code: int, words: str
) -> None:
    """R71, R73: every error is one JSON object with all keys, and says what is wrong."""
    result = svc(*shlex.split(line), "-o", "json") if "-o" not in line else svc(*shlex.split(line))
    assert (result.code, result.error["exit_code"]) == (code, code), result.err
    assert (
        words.lower() in json.dumps(result.error, ensure_ascii=False).lower() + result.err.lower()
    )
    assert result.out == ""
    assert result.error.keys() == {
        *("type", "code", "message", "param", "status", "request_id", "retryable"),
        *("retry_after", "outcome", "request", "idempotency_key", "exit_code"),
    }


def test_a_post_by_path_is_told_how_it_is_given_fields(svc: Svc, sandbox: Sandbox) -> None:
    """It has no options for them."""
    assert sandbox.port
    refused = svc("post", "/v1/orders", "-o", "human")
    assert "  Next: Fields are given by -d: -d 'amount=VALUE'\n" in refused.err


@pytest.mark.parametrize(
    "key", ["pk_test_sandbox", "sk_live_real_key_1234567890", "nonsense", "sk_test_é"]
)
def test_key_that_must_not_be_sent_is_refused_before_anything_is_sent(
    svc: Svc, sandbox: Sandbox, key: str
) -> None:
    """R21, R30: publishable, live on loopback, malformed: exit 4 or 2, and no request arrives."""
    before = len(sandbox.control("GET", "/requests")["data"])
    result = svc("orders", "list", env={"SVC_API_KEY": key})
    assert result.code in (2, 4)
    assert key not in result.err
    assert len(sandbox.control("GET", "/requests")["data"]) == before


@pytest.mark.parametrize("key", ["sk_test_unknown_1234567890", "rk_test_readonly"])
def test_refused_key_is_named_with_its_source(svc: Svc, sandbox: Sandbox, key: str) -> None:
    """Every authentication error says where the key came from."""
    refused = svc(*ORDER, "-o", "human", env={"SVC_API_KEY": key})
    assert refused.code == 4
    source = f"The key {key[:8]}…{key[-4:] if len(key) > 20 else ''} came from: SVC_API_KEY."
    told, _, step = refused.err.partition("Next: ")
    assert source in " ".join(told.split())
    assert "came from" not in step
    assert key not in refused.err
    read = svc(*ORDER, env={"SVC_API_KEY": key})
    assert source in read.error["message"]


def test_what_follows_next_of_an_unknown_key_can_be_typed(svc: Svc, sandbox: Sandbox) -> None:
    """The command stands alone: what it shows is for the message."""
    unknown = {"SVC_API_KEY": "sk_test_unknown_1234567890"}
    refused = svc(*ORDER, "-o", "human", env=unknown)
    (step,) = re.findall("Next: (.+)", refused.err)
    assert svc(*shlex.split(step)[1:], env=unknown).code == 4


def test_reply_is_read_from_a_closed_pipe_without_a_traceback(sandbox: Sandbox) -> None:
    """R77: `| head` ends the program quietly."""
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"{sys.executable} -m svc orders list --all | true; echo ${{PIPESTATUS[0]}}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() in ("0", "141")
    assert "Traceback" not in done.stderr


def test_language_of_the_shell_does_not_matter(svc: Svc, sandbox: Sandbox) -> None:
    """LANG=C, no HOME, no TERM: it works, and text stays text."""
    env = {"LANG": "C", "LC_ALL": "C", "HOME": "", "TERM": ""}
    result = svc(*ORDER, "-d", "shipping[name]=山田", "-o", "human", env=env)
    assert result.code == 0, result.err


def test_words_of_a_list_may_have_blanks_between_them(svc: Svc, sandbox: Sandbox) -> None:
    """As people write lists; --fields looked for a column with a blank in its name."""
    created = svc.ok("sandbox", "trigger", "order.paid")["created"]
    order = next(one["id"] for one in created if one["object"] == "order")
    shown = svc("orders", "list", "-o", "csv", "--fields", "id, status , amount")
    assert (shown.code, shown.out.splitlines()[0]) == (0, "id,status,amount")
    waited = svc("orders", "retrieve", order, "--wait", "--until", "paid, cancelled")
    assert (waited.code, waited.json["status"]) == (0, "paid")
    events = ("--url", "https://shop.example/hook", "--events", "order.paid, refund.created")
    made = svc.ok("webhook-endpoints", "create", *events)
    assert made["events"] == ["order.paid", "refund.created"]
