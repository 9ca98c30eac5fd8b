"""Times as people write them, and by whose clock it is late: the service's (promise R109)."""

from email.utils import formatdate
from pathlib import Path

import pytest

from support.listeners import Listen, Pay
from support.orders import CREATE_ORDER as CREATE
from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer

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


@pytest.mark.effect_of("sandbox advance", "--to")
@pytest.mark.effect_of("sandbox clock", "--to")
def test_the_clock_is_turned_to_a_time_ahead(svc: Svc, sandbox: Sandbox) -> None:
    """So long from what it shows, or a day; without a zone in the zone of the machine."""
    svc.ok("sandbox", "clock", "frozen", "--to", "2090-01-01T09:00")
    assert svc.ok("sandbox", "advance", "--to", "2d")["now"] == "2090-01-03T09:00:00Z"
    assert svc.ok("sandbox", "advance", "--to", "tomorrow")["now"] == "2090-01-04T00:00:00Z"
    assert svc.ok("sandbox", "clock", "--to", "2090-02-01")["now"] == "2090-02-01T00:00:00Z"


@pytest.mark.effect_of("sandbox dispute", "--evidence-due-by")
def test_evidence_is_due_to_the_end_of_a_day(svc: Svc, sandbox: Sandbox) -> None:
    """A day that something is due by is whole."""
    svc.ok("sandbox", "trigger", "payment.captured")
    payment = svc.ok("payments", "list")["data"][0]["id"]
    words = ("sandbox", "dispute", payment, "--evidence-due-by")
    assert svc.ok(*words, "2090-01-15")["evidence_due_by"] == "2090-01-15T23:59:59Z"


@pytest.mark.parametrize("days", [0, 10])
def test_words_follow_the_clock_of_the_sandbox(svc: Svc, sandbox: Sandbox, days: int) -> None:
    """An order of this second is of now, and a dispute is due in the days that it has."""
    sandbox.control("POST", "/events/trigger", {"type": "dispute.opened"})
    sandbox.control("POST", "/clock/advance", {"seconds": days * DAY})
    made = svc(*CREATE, "-o", "human")
    assert "just now" in made.out, made.out
    left = 14 - days
    listed = svc("disputes", "list", "-o", "human").out
    assert f"in {left} days" in listed or f"in {left + 1} days" in listed, listed
    told = svc("sandbox", "clock", "-o", "human").out
    assert "just now" in told, told


def test_words_follow_the_clock_in_a_list_of_many_pages(svc: Svc, sandbox: Sandbox) -> None:
    """Those that are streamed as well."""
    sandbox.control("POST", "/clock/advance", {"seconds": 10 * DAY})
    sandbox.control("POST", "/events/trigger", {"type": "dispute.opened"})
    listed = svc("disputes", "list", "--all", "-o", "human").out
    assert "in 14 days" in listed or "in 15 days" in listed, listed


def test_whoami_tells_the_service_s_time(svc: Svc, sandbox: Sandbox) -> None:
    """For recipes that compare: the same as on the sandbox's clock."""
    sandbox.control("POST", "/clock/advance", {"seconds": 10 * DAY})
    told = svc.ok("whoami")["service_time"]
    assert told[:13] == svc.ok("sandbox", "clock")["now"][:13]
    assert svc.ok("whoami", "--query", "service_time")[:13] == told[:13]


def test_a_kept_delivery_is_dated_by_two_clocks(
    svc: Svc, sandbox: Sandbox, pay: Pay, listen: Listen, tmp_path: Path
) -> None:
    """R109: its payload by the sandbox's, and when it came by this machine's."""
    sandbox.control("POST", "/clock/advance", {"seconds": 20 * DAY})
    with listen(tmp_path) as it:
        pay()
        it.wait("event", 2)
        it.end()
    kept = svc.ok("events", "inbox", "--type", "order.paid")[0]["id"]
    shown = svc("events", "inbox", "show", kept, "-o", "human").out
    assert "days" not in shown, shown
    assert shown.count("just now") > 1, shown


def test_a_turned_clock_is_told_as_such(svc: Svc, sandbox: Sandbox) -> None:
    """It is no fault of this machine, but no agreement either."""
    sandbox.control("POST", "/clock/advance", {"seconds": 20 * DAY})
    found = {each["name"]: each for each in svc("doctor", "-o", "json").json}
    assert found["clock"]["status"] == "ok"
    assert found["clock"]["detail"].endswith(", in 20 days by this machine's")
    assert "in 20 days" in svc("whoami", "-o", "human").out


@pytest.mark.parametrize("date", [True, False])
def test_words_follow_the_date_that_a_service_sends(
    svc: Svc, server: ScriptedServer, date: bool
) -> None:
    """Where this machine's clock is wrong by a day, the answer says so; without it, ours holds."""
    served = 1_700_000_000
    headers = {"Date": formatdate(served, usegmt=True)} if date else {}
    order = {"object": "order", "id": "ord_1", "livemode": False, "status": "paid"}
    created = {"created": "2023-11-14T20:13:20Z"}  # two hours before
    server.play(server.reply(200, {**order, **created}, headers))
    env = {"SVC_BASE_URL": server.url, "SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc"}
    shown = svc("orders", "retrieve", "ord_1", "-o", "human", env=env).out
    assert ("2 h ago" in shown or "2 hours ago" in shown) == date, shown


@pytest.mark.effect_of("disputes list", "--due")
def test_what_is_due_is_listed(svc: Svc, sandbox: Sandbox) -> None:
    """Within so long by the service's clock, of all pages; what is past is due no more."""
    for _ in range(2):
        sandbox.control("POST", "/events/trigger", {"type": "dispute.opened"})
        sandbox.control("POST", "/clock/advance", {"seconds": 2 * DAY})
    ids = [one["id"] for one in svc.ok("disputes", "list")["data"]]
    assert svc.ok("disputes", "list", "--due", "9d") == []
    shown = svc("disputes", "list", "--due", "10d", "-o", "human").out
    # It is due at the end of that day: rounded, before noon it is another day away.
    assert "in 10 days" in shown or "in 11 days" in shown
    assert ids[0] not in shown
    assert [one["id"] for one in svc.ok("disputes", "list", "--due", "11d")] == ids[1:]
    assert svc("disputes", "list", "--due", "13d", "--limit", "1", "-o", "id").out.split() == ids
    svc.ok("disputes", "accept", ids[1])
    assert [one["id"] for one in svc.ok("disputes", "list", "--due", "13d")] == ids[:1]
