"""Times as people write them: by whose clock they are, and what lies ahead."""

import pytest

from support.running import Sandbox, Svc

DAY = 86400


def test_a_duration_is_back_from_the_sandbox_s_clock(svc: Svc, sandbox: Sandbox) -> None:
    """Of a turned clock the last week is another than this machine's."""
    sandbox.control("POST", "/events/trigger", {"type": "order.paid"})
    sandbox.control("POST", "/clock/advance", {"seconds": 10 * DAY})
    sandbox.control("POST", "/events/trigger", {"type": "order.paid"})
    ids = [one["id"] for one in svc.ok("orders", "list")["data"]]
    week = svc.ok("orders", "list", "--created-gte", "7d")["data"]
    before = svc.ok("orders", "list", "--all", "--created-lt", "7d")
    assert [one["id"] for one in [*week, *before]] == ids
    assert [len(week), len(before)] == [1, 1]


def test_the_clock_is_turned_to_a_time_ahead(svc: Svc, sandbox: Sandbox) -> None:
    """So long from what it shows, or a day; without a zone in the zone of the machine."""
    svc.ok("sandbox", "clock", "frozen", "--to", "2090-01-01T09:00")
    assert svc.ok("sandbox", "advance", "--to", "2d")["now"] == "2090-01-03T09:00:00Z"
    assert svc.ok("sandbox", "advance", "--to", "tomorrow")["now"] == "2090-01-04T00:00:00Z"
    assert svc.ok("sandbox", "clock", "--to", "2090-02-01")["now"] == "2090-02-01T00:00:00Z"


def test_evidence_is_due_to_the_end_of_a_day(svc: Svc, sandbox: Sandbox) -> None:
    """A day that something is due by is whole."""
    svc.ok("sandbox", "trigger", "payment.captured")
    payment = svc.ok("payments", "list")["data"][0]["id"]
    words = ("sandbox", "dispute", payment, "--evidence-due-by")
    assert svc.ok(*words, "2090-01-15")["evidence_due_by"] == "2090-01-15T23:59:59Z"


@pytest.mark.parametrize(
    "words",
    [
        "orders list --created-lt",
        "events inbox --since",
        "events verify --header t=1,v1=00 --now",
        "sandbox advance --to",
        "sandbox clock --to",
        "sandbox dispute pay_1 --evidence-due-by",
    ],
)
def test_what_is_no_time_is_refused_alike(svc: Svc, sandbox: Sandbox, words: str) -> None:
    """One sentence, with examples, before anything is sent."""
    refused = svc(*words.split(), "soon", "-o", "json")
    assert (refused.code, refused.error["param"]) == (2, words.rpartition(" ")[2])
    assert "is no time. Write 2026-11-21, 2026-11-21T09:00, " in refused.error["message"]


def test_the_inbox_takes_a_day(svc: Svc, sandbox: Sandbox) -> None:
    """It lies on this machine, whose clock it is asked by."""
    for since in ("yesterday", "2026-01-01", "2h"):
        assert svc("events", "inbox", "--since", since).code == 0
