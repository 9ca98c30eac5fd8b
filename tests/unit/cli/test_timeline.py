"""A story's steps and gaps, one by one: what each source tells, in which words and which order."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from svc.cli import timeline
from svc.cli.timeline import (
    Family,
    gaps_of_event,
    gaps_of_object,
    gaps_of_request,
    ids_in,
    main_amount,
    reduce_for_people,
    sort_key,
    step_of_request,
    steps_of_event,
    steps_of_object,
)
from svc.client.reply import Reply
from svc.errors import NotFound
from svc.listen.inbox.history import AtTarget

AT, TIME = 1_700_000_000.0, "2023-11-14T22:13:20Z"
MONTH = 30 * 86400
ORDER = {"object": "order", "id": "ord_1", "created": TIME, "status": "open"}
PAID = {**ORDER, "status": "paid", "paid_at": "2023-11-14T22:13:21Z"}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (ORDER, [(TIME, "order created")]),
        (PAID, [(TIME, "order created"), (PAID["paid_at"], "order.paid")]),
        ({**PAID, "paid_at": TIME}, [(TIME, "order.paid")]),
        ({**ORDER, "object": "refund", "id": "rf_1"}, [(TIME, "refund.created")]),
    ],
)
def test_an_object_tells_its_beginning_once(data: dict[str, Any], told: list[Any]) -> None:
    """By an event of that moment, or in words."""
    steps = [*steps_of_object(data)]
    assert [(one["time"], one["what"]) for one in steps] == told
    assert {(one["source"], one["id"]) for one in steps} == {("service", data["id"])}


def request(**more: Any) -> Any:
    stored = SimpleNamespace(path="/v1/refunds")
    return SimpleNamespace(
        **{"id": "rq_1", "created_at": AT, "stored": stored, "settled": None, "sendings": 1, **more}
    )


def test_a_request_tells_its_outcome_and_what_to_do() -> None:
    """About the object that it made; how often it was sent, if more than once."""
    made = SimpleNamespace(object_id="rf_1", error_code=None)
    refused = SimpleNamespace(object_id=None, error_code="amount_too_large")
    told = {"time": TIME, "source": "request", "request": "rq_1"}
    lost = {**told, "what": "refunds.create: unknown", "id": "rq_1"}
    assert step_of_request(request(), "unknown") == lost
    done = {**told, "what": "refunds.create: done, sent 2 times", "id": "rf_1"}
    assert step_of_request(request(settled=made, sendings=2), "done") == done
    wrong = {**told, "what": "refunds.create: not sent, amount_too_large", "id": "rq_1"}
    assert step_of_request(request(settled=refused), "not_sent") == wrong
    gap = {
        "what": "The outcome of refunds.create is not known",
        "id": "rq_1",
        "next": "svc requests resume rq_1",
    }
    gaps = {one: [*gaps_of_request(request(), one)] for one in ("unresolved", "unknown", "done")}
    assert gaps == {"unresolved": [gap], "unknown": [gap], "done": []}


EVENT: Any = SimpleNamespace(
    id="evt_1", seq=1, type="order.paid", object_id="ord_1", received_at=AT
)


def test_an_event_tells_of_each_attempt_and_each_target_that_lacks_it() -> None:
    """Programs by their exit code, web servers by their status, both by what was the matter."""
    row = {"replay": 0, "status": 200, "url": "http://a/x", "error": None, "started_at": AT + 1}
    rows = (
        (row, "forwarded to a/x: 200"),
        ({**row, "status": 500, "replay": 1}, "replayed to a/x: 500, not taken"),
        ({**row, "status": None, "error": "refused"}, "forwarded to a/x: refused, not taken"),
        ({**row, "url": "https://a/", "error": "late"}, "forwarded to https://a/: 200"),
        ({**row, "url": "run:x"}, "forwarded to run:x: exit code 0"),
        ({**row, "url": "run:x", "status": 500, "error": "exit code 1"}, "forwarded to run:x: exit code 1, not taken"),
    )  # fmt: skip
    at = AtTarget("http://a/x", "failed", 1, 500, None, None)
    targets = [
        (at, "failed for a/x: 500"),
        (
            AtTarget("run:x", "pending", 0, None, "exit code 1", None),
            "waits for run:x: exit code 1",
        ),
        (AtTarget("http://b/", "waiting", 0, None, None, None), "waits for b/"),
        (AtTarget("http://c/", "forwarded", 1, 200, None, None), None),
    ]
    archive: Any = SimpleNamespace(
        forwards=lambda _: [one for one, _ in rows],
        at_targets=lambda _: [one for one, _ in targets],
    )
    about = {"id": "ord_1", "event": "evt_1"}
    came = {"time": TIME, "source": "event", "what": "order.paid received", **about}
    sent = {"time": "2023-11-14T22:13:21Z", "source": "target", **about}
    assert [*steps_of_event(archive, EVENT)] == [
        came,
        *({**sent, "what": f"order.paid {words}"} for _, words in rows),
    ]
    replay = {"id": "evt_1", "next": "svc events replay evt_1"}
    assert [*gaps_of_event(archive, EVENT)] == [
        {"what": f"order.paid {words}", **replay} for _, words in targets if words
    ]


@pytest.mark.parametrize(
    ("later", "missing", "awaited"),
    [
        (0.0, False, True),
        (59.5, False, True),
        (60.0, True, False),
        (MONTH, True, False),
        (MONTH + 1.0, False, False),
    ],
)
def test_what_did_not_come_is_a_gap_for_a_month(later: float, missing: bool, awaited: bool) -> None:
    """Not in its first minute, and not where it came or was never to come."""
    names: list[str] = []
    data = {**ORDER, "status": "paid", "paid_at": TIME}
    gap = {"what": "order.paid was not received", "id": "ord_1", "next": "svc get ord_1"}
    found = [*gaps_of_object(data, {"order.paid"}, (), AT + later, names)]
    assert (found, names) == ([gap] if missing else [], ["order.paid"] if awaited else [])
    for types, came in ((("refund.created",), ()), (("order.paid",), {("order.paid", "ord_1")})):
        assert [*gaps_of_object(data, types, came, AT + 60, [])] == []


def test_what_leads_to_what_is_told_first() -> None:
    """In one second: the request, the service by cause, then what came of it, as it came."""
    order = [
        (None, "service", "refund.created"),
        ("1", "target", "z"),
        ("2", "request", "payouts.create: done"),
        ("2", "service", "order created"),
        ("2", "service", "payment.captured"),
        ("2", "service", "order.paid"),
        ("2", "service", "refund.created"),
        ("2", "service", "payout.created"),
        ("2", "service", "dispute.opened"),
        ("2", "target", "y"),
        ("2", "event", "x"),
        ("3", "request", "z"),
    ]
    rows = [{"time": time, "source": source, "what": what} for time, source, what in order]
    mixed = [*rows[:2], *reversed(rows[2:9]), *rows[9:]]
    assert sorted(mixed, key=sort_key) == rows


def test_ids_are_named_where_two_objects_are_of_one_kind() -> None:
    """Else the words say which is meant; what was not refunded has no amount of that."""
    one = {"status": "paid", "amount": 500, "amount_refunded": 0, "currency": "EUR"}
    other = {**one, "amount_refunded": 100, "currency": None}
    objects = [
        {"id": "ord_1", "object": "order", **one},
        {"id": "rf_1", "object": "refund", **one, "amount_refunded": 5},
        {"id": "rf_2", "object": "refund", **other},
    ]
    steps = [
        {"time": TIME, "source": "service", "what": "order.paid", "id": "ord_1"},
        {"time": TIME, "source": "event", "what": "came", "id": "rf_1"},
    ]
    gaps = [{"what": "lost", "id": "rf_2", "next": "x"}]
    told = {"object": "timeline", "id": "ord_1", "objects": objects, "steps": steps, "gaps": gaps}
    shown = {"status": "paid", "amount": "5.00 EUR"}
    assert reduce_for_people(told) == {
        "object": "timeline",
        "id": "ord_1",
        "objects": [
            {"id": "ord_1", **shown, "amount_refunded": None},
            {"id": "rf_1", **shown, "amount_refunded": "0.05 EUR"},
            {"id": "rf_2", "status": "paid", "amount": None, "amount_refunded": None},
        ],
        "steps": [
            {"time": TIME, "what": "service: order.paid"},
            {"time": TIME, "what": "here: came (rf_1)"},
        ],
        "gaps": [{"what": "lost (rf_2)"}],
    }


def test_the_main_amount_is_that_of_lists() -> None:
    """An order's total, or what stands for it; nothing of a kind that has none."""
    order = {"object": "order", "amount": 100, "amount_total": 119}
    assert main_amount(order) == 119
    assert main_amount({**order, "amount_total": None}) == 100
    assert main_amount({"object": "payout", "amount": 7, "source_amount": 9}) == 7
    assert main_amount({"object": "event", "amount": 7}) is None
    assert main_amount({}) is None


class _KnownObjects:
    """Payments of one order, each of which names it; a service of few more words."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.asked: list[str] = []

    def send(self, call: Any) -> Reply:
        self.asked.append(call.path)
        name = call.path.rpartition("/")[2]
        if name not in self.known:
            raise NotFound("There is none.")
        data = {"id": name, "order": "ord_1", "latest_payment": self.known[-1]}
        return SimpleNamespace(data=data)  # type: ignore[return-value]


def test_a_family_is_read_once_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the service does not know is noted; what is more than is read is said."""

    def listed(*_: Any, **__: Any) -> Iterator[Any]:
        yield from ()

    monkeypatch.setattr(timeline, "pages", listed)
    service = _KnownObjects("ord_1", "pay_1")
    family = Family(service)  # type: ignore[arg-type]
    family.read(["pay_1", "cus_1", "pay_2", "pay_1", "pay_2"])
    assert ([*family.objects], family.absent, family.is_cut) == (
        ["pay_1", "ord_1"],
        ["pay_2"],
        False,
    )
    assert len(service.asked) == 3
    monkeypatch.setattr(timeline, "_MOST", 1)
    family = Family(service)  # type: ignore[arg-type]
    family.read(["pay_1"])
    assert ([*family.objects], family.is_cut) == (["pay_1"], True)


def test_ids_are_found_in_a_text_once_in_their_order() -> None:
    assert ids_in("/v1/orders/ord_2/x?a=pay_1 {ord_2} word_1 xpay_3 rf_9z") == [
        "ord_2",
        "pay_1",
        "rf_9z",
    ]
