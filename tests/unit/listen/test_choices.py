"""What a user may say: routes, targets, events, ends."""

import pytest

from svc.errors import UsageError
from svc.listen.forward.retry import delay_after, rest_seconds, retry_in
from svc.listen.http.connection import TargetReply
from svc.listen.progress import Until
from svc.listen.routes import Routes, select_events
from svc.listen.targets import Target
from svc.service.facts import EVENT_TYPES

TARGETS = [
    ("3000", "http://localhost:3000"),
    (":3000", "http://localhost:3000"),
    ("3000/hooks", "http://localhost:3000/hooks"),
    (":3000/hooks?a=b", "http://localhost:3000/hooks?a=b"),
    ("localhost:3000/x", "http://localhost:3000/x"),
    ("http://localhost", "http://localhost"),
    ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
    ("http://127.9.9.9:1", "http://127.9.9.9:1"),
    ("https://LOCALHOST:8443/a", "https://localhost:8443/a"),
    ("http://[::1]:3000/x", "http://[::1]:3000/x"),
    ("app.test:3000", "http://app.test:3000"),
    ("cafe:3000", "http://cafe:3000"),
]


@pytest.mark.parametrize(("text", "expected"), TARGETS)
def test_target_is_spelled_out(text: str, expected: str) -> None:
    """Short forms become whole addresses, so that what is shown is what is used."""
    assert str(Target.parse(text)) == expected


REFUSED = [
    "",
    "localhost",
    "x",
    ":0",
    ":65536",
    ":99999999",
    "ftp://localhost:1",
    "http://",
    "http://a b:1",
    "http://user@localhost:1",
    "http://localhost:1/#f",
    "http://localhost:1/\x1b",
    "http://localhost:1/é",
    "http://10.0.0.1:1",
    "http://192.168.1.1:1",
    "http://172.16.0.1:1",
    "http://127.1:1",
    "http://2130706433:1",
    "http://0x7f000001:1",
    "http://0x7f.1:1",
    "http://0177.0.0.1:1",
    "http://127.0.0.01:1",
    "http://[::ffff:127.0.0.1]:1",
    "http://93.184.216.34",
    "http://[::1",
    "http://localhost\\@evil.example:1",
]


@pytest.mark.parametrize("text", REFUSED)
def test_target_elsewhere_is_refused(text: str) -> None:
    """R53: only this machine, and no address in a form that is read in two ways."""
    with pytest.raises(UsageError) as caught:
        Target.parse(text)
    assert caught.value.hint


def urls(routes: Routes, event_type: str) -> list[str]:
    return [str(target) for target in routes.match(event_type)]


def test_routes_by_glob_with_a_default() -> None:
    """Every route whose glob matches gets the event; the rest goes to the targets without one."""
    routes = Routes.parse(["order.*=3001", "order.paid=3002/paid", "3003", "localhost:3004"])
    assert urls(routes, "order.paid") == ["http://localhost:3001", "http://localhost:3002/paid"]
    assert urls(routes, "order.cancelled") == ["http://localhost:3001"]
    assert urls(routes, "payout.paid") == ["http://localhost:3003", "http://localhost:3004"]
    assert urls(routes, "something.new") == ["http://localhost:3003", "http://localhost:3004"]
    assert len(routes.targets) == 4


def test_no_route_is_forgotten_or_doubled() -> None:
    """The last flag does not win: all targets count, and the same one twice counts once."""
    routes = Routes.parse(["3000", "3001", ":3000", "http://localhost:3000/?glob=order.paid"])
    assert len(urls(routes, "order.paid")) == 3
    assert urls(Routes.parse([]), "order.paid") == []
    assert urls(Routes.parse(["order.*=3000", "*.paid=3000"]), "order.paid") == [
        "http://localhost:3000"
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("order.payed=3000", "order.paid"),
        ("orders.*=3000", "order.*"),
        ("*.payed=3000", "*.paid"),
        ("refund=3000", "refund.*"),
        ("Order.Paid=3000", "order.paid"),
        ("xyz=3000", None),
    ],
)
def test_route_that_matches_nothing_is_refused(text: str, meant: str | None) -> None:
    """A misspelled type is an error with a suggestion, not a listener that stays silent."""
    with pytest.raises(UsageError) as caught:
        Routes.parse([text])
    near = f" Did you mean {meant!r}?" if meant else ""
    said = f"--forward-to is {text.partition('=')[0]!r}.{near} Use one of: order.paid, "
    assert caught.value.message.startswith(said)


def test_routes_are_told_with_what_is_left_over_last() -> None:
    """Whichever was given first."""
    routes = Routes.parse(["3000", "refund.*=3001"])
    assert routes.describe_routes() == [
        "refund.* to http://localhost:3001",
        "all others to http://localhost:3000",
    ]


def test_select_events_takes_names_and_globs() -> None:
    """`--events`: names, globs and commas; in their fixed order; all 18 by default."""
    assert select_events([]) == EVENT_TYPES
    assert select_events(["payout.paid,order.*", "order.paid"]) == (
        "order.paid",
        "order.cancelled",
        "payout.paid",
    )
    with pytest.raises(UsageError) as caught:
        select_events(["charge.*"])
    assert "charge.*" in caught.value.message


def test_until_is_read() -> None:
    """`--until TYPE[:N]`."""
    assert Until.parse("order.paid") == Until("order.paid", 1)
    assert Until.parse("refund.*:3") == Until("refund.*", 3)
    for wrong in (
        "order.payed",
        "order.paid:",
        "order.paid:0",
        "order.paid:x",
        "order.paid:-1",
        "order.paid:²",
    ):
        with pytest.raises(UsageError):
            Until.parse(wrong)


def test_retry_decisions() -> None:
    """Fast waits for a target that is away and tries again what may pass, off tries once."""
    away, closed = TargetReply(1.0, trouble="unreachable"), TargetReply(1.0, trouble="closed")
    late, broken = TargetReply(1.0, trouble="timeout"), TargetReply(1.0, trouble="unreadable")
    answers = {status: TargetReply(1.0, status=status) for status in (400, 404, 408, 422, 425)}
    answers |= {status: TargetReply(1.0, status=status) for status in (302, 429, 500, 503)}
    for retry in ("fast", "real", "off"):
        assert retry_in(retry, TargetReply(1.0, status=204), 1) is None
    assert {retry_in("fast", one, 2) for one in (closed, late, broken)} == {10}
    again = [status for status, one in answers.items() if retry_in("fast", one, 1)]
    assert again == [408, 425, 429, 500, 503]
    assert retry_in("fast", TargetReply(1.0, trouble="forbidden"), 1) is None
    assert {retry_in("off", one, 1) for one in (away, closed, late, answers[503])} == {None}
    assert retry_in("real", away, 1) == retry_in("real", answers[404], 1) == 60


def test_fast_schedule_is_the_one_that_is_promised() -> None:
    """2 s, 10 s, 1 min, 10 min and then hourly, for three days as the service."""
    delays: list[float] = []
    while (delay := delay_after("fast", len(delays) + 1)) is not None:
        delays.append(delay)
    assert delays[:5] == [2, 10, 60, 600, 3600]
    assert set(delays[5:]) == {3600}
    assert 71 * 3600 < sum(delays) <= 72 * 3600


def test_real_schedule_is_the_services() -> None:
    """15 attempts at 0, 1 min, 11 min, 1 h 11 min and then every 6 h to 67 h 11 min (R83)."""
    at, times, attempt = 0.0, [0.0], 1
    while (delay := delay_after("real", attempt)) is not None:
        at += delay
        times.append(at)
        attempt += 1
    assert times[:5] == [0, 60, 660, 4260, 4260 + 21600]
    assert len(times) == 15
    assert times[-1] == (67 * 60 + 11) * 60


def test_rest_grows_from_one_second_to_thirty() -> None:
    """An unfit target is probed ever more seldom, but at least twice a minute."""
    assert [rest_seconds(n) for n in (1, 2, 3, 4, 5, 6, 7, 500)] == [1, 2, 4, 8, 16, 30, 30, 30]
