"""What is shown in place of sending, and JSON for a person's eyes."""

import json
import re

import pytest

from support.on_terminal import OnTerminal
from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer

READS = {
    "orders retrieve ord_1": "/v1/orders/ord_1",
    "payments retrieve pay_1": "/v1/payments/pay_1",
    "refunds retrieve rf_1": "/v1/refunds/rf_1",
    "payouts retrieve po_1": "/v1/payouts/po_1",
    "quotes retrieve lcq_1": "/v1/landed-cost/quotes/lcq_1",
    "disputes retrieve dp_1": "/v1/disputes/dp_1",
    "events retrieve evt_1": "/v1/events/evt_1",
    "get ord_1": "/v1/orders/ord_1",
    "orders list --all --status paid": "/v1/orders?limit=100&status=paid",
    "refunds list --payment pay_1 --limit 3": "/v1/refunds?limit=3&payment=pay_1",
}
KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
PIPE = """printf 'Authorization: Bearer %s\\n' "$SVC_API_KEY" | curl"""


@pytest.mark.parametrize("line", READS)
def test_a_read_can_be_shown_instead(svc: Svc, service: ScriptedServer, line: str) -> None:
    """As JSON, and for curl; nothing is sent and the key is not in it."""
    shown = svc(*line.split(), "--dry-run")
    assert shown.json["method"] == "GET"
    assert shown.json["url"] == service.url + READS[line]
    assert "Idempotency-Key" not in shown.json["headers"]
    assert shown.json["headers"]["Authorization"] == "Bearer (redacted)"
    curl = svc(*line.split(), "--curl")
    assert curl.out.startswith(f"{PIPE} --header @- --request GET ")
    assert READS[line] in curl.out
    assert KEY not in shown.out + curl.out
    service.stop()
    assert service.connections == 0


def test_a_time_is_shown_as_it_is_sent(svc: Svc, service: ScriptedServer) -> None:
    """What `yesterday` has become can be looked at."""
    words = ("orders", "list", "--created-gte", "2026-11-20", "--created-lte", "2026-11-21")
    url = svc.ok(*words, "--dry-run")["url"]
    assert "created%5Bgte%5D=2026-11-20T00%3A00%3A00Z" in url
    assert "created%5Blt%5D=2026-11-22T00%3A00%3A00Z" in url
    refused = svc("orders", "list", "--created-gte", "last week", "--dry-run")
    assert (refused.code, refused.error["param"]) == (2, "--created-gte")
    service.stop()


@pytest.mark.parametrize("columns", [80, 40])
def test_curl_is_folded_at_its_options_for_a_person(
    on_terminal: OnTerminal, service: ScriptedServer, columns: int
) -> None:
    """Each on a line of its own, which every shell reads on; a pipe has one line."""
    item = "name=Linen jacket,quantity=1,unit_amount=1"
    shown = on_terminal(
        *("orders", "create", "--amount", "1", "--currency", "EUR", "--country", "DE"),
        *("--item", item, "--idempotency-key", "mine", "--curl"),
        columns=columns,
    )
    lines = shown.splitlines()
    assert lines[0] == f"{PIPE} \\"
    assert lines[1:4] == [
        "    --header @- \\",
        f"    --request POST {service.url}/v1/orders \\",
        "    --header 'Idempotency-Key: mine' \\",
    ]
    assert lines[-1].startswith("    --data-binary '{")
    service.stop()


def test_a_person_sees_json_in_colours(on_terminal: OnTerminal, sandbox: Sandbox) -> None:
    """What was asked for as JSON, and a request that is shown; taken without them it is JSON."""
    for words in (("whoami", "-o", "json"), ("orders", "retrieve", "ord_1", "--dry-run")):
        shown = on_terminal(*words)
        assert re.search(r'\x1b\[36m"(object|method)"\x1b\[0m: \x1b\[32m"', shown), shown
        assert json.loads(re.sub(r"\x1b\[[0-9;]*m", "", shown))


def test_json_has_no_colour_where_a_program_reads(
    on_terminal: OnTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """Neither in a pipe, whatever is asked for, nor with NO_COLOR, nor on a dumb terminal."""
    for words in (("whoami", "-o", "json"), ("whoami", "-o", "ndjson")):
        for env in ({}, {"FORCE_COLOR": "1"}, {"CLICOLOR_FORCE": "1"}):
            assert "\x1b" not in svc(*words, env=env).out
        assert "\x1b" not in svc(*words, "--color", "always").out
        assert "\x1b" not in on_terminal(*words, NO_COLOR="1")
        assert "\x1b" not in on_terminal(*words, TERM="dumb")
