"""By whose clock it is late: the one of the service that answered (promise R109)."""

from email.utils import formatdate

import pytest

from support.misbehaving import Server
from support.running import Sandbox, Svc

CREATE = (
    *("orders", "create", "--amount", "12900", "--currency", "EUR", "--country", "DE"),
    *("--item", "name=J,quantity=1,unit_amount=12900"),
)
DAY = 86400


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


@pytest.mark.parametrize("date", [True, False])
def test_words_follow_the_date_that_a_service_sends(svc: Svc, date: bool) -> None:
    """Where this machine's clock is wrong by a day, the answer says so; without it, ours holds."""
    server = Server()
    served = 1_700_000_000
    headers = {"Date": formatdate(served, usegmt=True)} if date else {}
    order = {"object": "order", "id": "ord_1", "livemode": False, "status": "paid"}
    created = {"created": "2023-11-14T20:13:20Z"}  # two hours before
    server.play(server.reply(200, {**order, **created}, headers))
    env = {"SVC_BASE_URL": server.url, "SVC_API_KEY": "sk_test_4eC39HqLyjWDarjtT1zdp7dc"}
    shown = svc("orders", "retrieve", "ord_1", "-o", "human", env=env).out
    server.stop()
    assert ("2 h ago" in shown or "2 hours ago" in shown) == date, shown
