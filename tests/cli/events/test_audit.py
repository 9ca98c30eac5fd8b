"""`svc events audit` against a real sandbox: what came while the listener was away."""

import json
from pathlib import Path

import pytest

from support.listeners import Listen, Pay
from support.running import Sandbox, Svc
from support.servers.memory import measure_memory, serving_orders


def refund_while_away(svc: Svc, listen: Listen, pay: Pay, folder: Path) -> str:
    """Has an order paid while a listener runs and refunded when it has ended; gives the refund."""
    with listen(folder) as running:
        order = pay()
        running.wait("event", 2)
        assert running.end() == 130
    payment = svc.ok("orders", "retrieve", order)["latest_payment"]
    refund = svc.ok("refunds", "create", "--payment", payment, "--amount", "500")["id"]
    svc.ok("sandbox", "advance", "1h")
    return str(refund)


@pytest.mark.effect_of("events audit", "--created-since")
def test_lists_what_came_while_nothing_listened(
    sandbox: Sandbox, svc: Svc, listen: Listen, pay: Pay, tmp_path: Path
) -> None:
    """The paid order's two events came, both of its refund did not; exit code 11."""
    refund = refund_while_away(svc, listen, pay, tmp_path)
    found = svc("events", "audit", "--since", "2h", "-o", "ndjson")
    assert found.code == 11
    missed = [json.loads(line) for line in found.out.splitlines()]
    assert [one["type"] for one in missed] == ["refund.created", "refund.succeeded"]
    assert {one["object_id"] for one in missed} == {refund}
    assert [one["sent_at"] for one in missed] == [missed[0]["sent_after"], None]
    error = json.loads(found.err)["error"]
    assert error["code"] == "events_missed"
    assert error["message"].startswith("2 of 4 events since ")

    shown = svc("events", "audit", "--since", "2h", "-o", "human", env={"COLUMNS": "80"})
    assert shown.code == 11
    assert shown.out.splitlines()[0].split() == ["EVENT", "OBJECT", "SENT", "TRIED", "UNTIL"]
    assert "refund.created" in shown.out
    assert "come while svc events listen runs; of the others, see what" in " ".join(
        shown.err.split()
    )
    earlier = svc("events", "audit", "--since", "2d", "-o", "human")
    assert "The first endpoint that is known here was registered at 20" in earlier.err

    # Days later the refund is older than what is asked about, and has no time of its end.
    svc.ok("sandbox", "advance", "3d")
    later = svc("events", "audit", "--since", "2d", "-o", "human")
    assert later.code == 0
    assert later.out.startswith("All came: 0 events since ")
    assert "1 event of older objects, which may have been sent before" in later.err
    recent = svc("events", "audit", "--since", "2d", "--created-since", "1h", "-o", "csv")
    assert recent.err.startswith("All came: 0 events")


@pytest.mark.effect_of("events audit", "--since")
def test_looks_only_for_what_the_endpoint_is_sent(
    sandbox: Sandbox, svc: Svc, listen: Listen, pay: Pay, tmp_path: Path
) -> None:
    """An endpoint that was registered for order.paid misses no refund."""
    with listen(tmp_path, "--events", "order.paid") as running:
        pay()
        running.wait("event")
        assert running.end() == 130
    svc.ok("sandbox", "advance", "1h")
    found = svc("events", "audit", "--since", "2h", "-o", "human")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("All came: 1 event since 2")


def test_empty_inbox_is_told(sandbox: Sandbox, svc: Svc, pay: Pay) -> None:
    pay()
    early = svc("events", "audit", "-o", "human")
    assert (early.code, early.out[:20]) == (0, "All came: 0 events s")
    kept = ["keeps forwarded events" in svc("events", "audit", "--since", "30d").err]
    far = svc("events", "audit", "--since", "31d").err
    assert (kept, "keeps forwarded events for 30 days;" in far) == ([False], True)
    assert "within the last minute, and perhaps on the way: 2 events." in early.err
    svc.ok("sandbox", "advance", "1h")
    found = svc("events", "audit", "-o", "human")
    assert found.code == 11
    assert "No event of this profile and mode was received here at all" in found.err


@pytest.mark.slow(seconds=4)
def test_an_audit_takes_the_same_memory_whatever_there_is() -> None:
    """Of 3,000 objects more, and as many missing events, at most what 300 of them would take.

    100,000 payouts, of which 300,000 events were missing, took 3 MB more than 1,000.
    """
    argv = ("events", "audit", "--since", "2026-09-30", "-o", "ndjson")
    with serving_orders(200) as url:
        _, small = measure_memory(url, *argv)
    with serving_orders(3_200) as url:
        result, large = measure_memory(url, *argv)
    assert (result.code, result.out.count('"order.paid"')) == (11, 3_200)
    assert large - small < 2 * 1024
