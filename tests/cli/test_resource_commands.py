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


def test_words_of_a_list_may_have_blanks_between_them(svc: Svc, sandbox: Sandbox) -> None:
    """As people write lists; --fields looked for a column with a blank in its name."""
    created = svc.ok("sandbox", "trigger", "order.paid")["created"]
    order = next(one["id"] for one in created if one["object"] == "order")
    shown = svc("orders", "list", "-o", "csv", "--fields", "id, status , amount")
    assert (shown.code, shown.out.splitlines()[0]) == (0, "id,status,amount")
    waited = svc("orders", "retrieve", order, "--wait", "--until", "paid, cancelled")
    assert (waited.code, waited.json["status"]) == (0, "paid")
    events = ("--events", "order.paid, refund.created", "--events", "payout.paid")
    made = svc.ok("webhook-endpoints", "create", "--url", "https://shop.example/hook", *events)
    assert made["events"] == ["order.paid", "refund.created", "payout.paid"]
