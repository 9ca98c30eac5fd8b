"""Which probes are sent to a service, and what is made of its answers."""

import json
from typing import Any

import pytest

from support.clocks import ManualClock
from svc.cli.sandbox.compare import asking
from svc.cli.sandbox.compare.asking import Inquiry, read, shape_of
from svc.client.exchange import Failure, RawReply, Trouble
from svc.sandbox.fidelity import ProbeRequest

POST, LOOK = "POST /v1/orders", "GET /v1/orders/{made.body.id}?limit=1"
LATE, CUT = Failure(Trouble.TIMEOUT, sent=True), Failure(Trouble.CLOSED, sent=True)


def reply(status: int, body: Any = None) -> RawReply:
    data = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
    return RawReply(status, (("x-a", "1"), ("x-a", "2")), data)


class PlayedService:
    """As much of a client as sends probes; plays its answers in turn, the last one for ever."""

    def __init__(self, *answers: RawReply | Failure) -> None:
        self.clock = ManualClock()
        self.asked: list[tuple[Any, dict[str, str], dict[str, Any]]] = []
        self._answers = [*answers]

    def ask(self, call: Any, headers: dict[str, str], **more: Any) -> RawReply | Failure:
        self.asked.append((call, headers, more))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


@pytest.fixture
def inquire(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asks a service all of these requests."""

    def ask(
        service: Any, *requests: ProbeRequest, endpoint: bool = False, limited: str = "none"
    ) -> Inquiry:
        monkeypatch.setattr(asking, "read_requests", lambda: {one.name: one for one in requests})
        inquiry = Inquiry(service, "sk_test_x", lambda call: limited in call.path)
        told: list[tuple[int, int, str]] = []
        inquiry.ask_all(lambda *now: told.append(now), endpoint=endpoint)
        assert told == [(n, len(requests), one.send) for n, one in enumerate(requests)]
        return inquiry

    return ask


def whys(inquiry: Inquiry) -> list[str]:
    return [each.why for each in inquiry.exchanges.values()]


def made(count: int = 1) -> list[ProbeRequest]:
    return [
        ProbeRequest("made" if n == 0 else f"made{n}", POST, "m", body={}) for n in range(count)
    ]


@pytest.mark.parametrize(
    ("came", "why"),
    [
        (LATE, "no answer came in time"),
        *((reply(status), f"it answered {status}") for status in (429, 500, 503)),
        *(
            (reply(status), f"it answered {status}: the key may not do this")
            for status in (401, 403)
        ),
        (reply(200, b"<html>"), "it answered 200 without JSON"),
        (reply(400, b"\xff"), "it answered 400 without JSON"),
        (reply(200, []), "it answered 200 with no object"),
        (reply(302), "it answered 302 with no object"),
        (reply(399), "it answered 399 with no object"),
    ],
)
def test_an_answer_that_tells_nothing_says_why(came: RawReply | Failure, why: str) -> None:
    assert read(came, ProbeRequest("one", POST, "m")) == (None, why)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [(200, {"id": "a7"}, {}), (400, {"error": {"code": "x"}}, {"code": "x"}),
     (499, {"error": "no"}, {"error": "no"}), (401, {"code": "y"}, {"code": "y"})],
)  # fmt: skip
def test_an_answer_is_what_probes_look_at(status: int, body: Any, error: Any) -> None:
    """A refusal of the key as well, where the probe is about keys."""
    answer, why = read(reply(status, body), ProbeRequest("one", POST, "m", auth="none"))
    assert why == ""
    assert answer == {
        "status": status,
        "done": status == 200,
        "outcome": "taken" if status == 200 else "refused",
        "headers": {"x-a": "1, 2"},
        "body": body,
        "error": error,
        "shape": {"id": "a9"} if status == 200 else body,
    }


def test_shape_has_a_nine_for_each_digit_some_levels_down() -> None:
    assert shape_of({"a": ["x12", {"b": "3"}], "n": 5}, 3) == {"a": ["x99", {"b": "9"}], "n": 5}
    assert shape_of({"a": ["x12", {"b": "3"}]}, 2) == {"a": ["x99", {"b": "3"}]}


def test_a_probe_takes_the_id_of_an_earlier_answer(inquire: Any) -> None:
    service = PlayedService(reply(200, {"id": "ord_1"}))
    inquiry = inquire(service, *made(), ProbeRequest("look", LOOK, "m"))
    assert inquiry.objects() == ["ord_1"]
    assert inquiry.exchanges["look"].sent == "GET /v1/orders/ord_1?limit=1"
    (create, _, first), (look, _, second) = service.asked
    assert (create.method, create.path, create.query, create.encoding) == (
        *("POST", "/v1/orders", ()),
        "json",
    )
    assert (look.method, look.path, look.query) == ("GET", "/v1/orders/ord_1", (("limit", "1"),))
    assert first["idempotency_key"] == inquiry.exchanges["made"].key
    assert (second["idempotency_key"], second["seconds"]) == (None, 10.0)


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (reply(400), "POST /v1/orders was refused"),
        (reply(200), "POST /v1/orders brought no object"),
        (reply(200, {"id": "a b"}), "POST /v1/orders brought no object"),
        (reply(403), "it answered 403: the key may not do this"),
    ],
)
def test_what_needs_an_object_that_is_not_there_is_not_asked(
    inquire: Any, first: RawReply, why: str
) -> None:
    service = PlayedService(first)
    needing = ProbeRequest("later", "GET /v1/events", "m", needs="made")
    inquiry = inquire(service, *made(), ProbeRequest("look", LOOK, "m"), needing)
    assert inquiry.exchanges["look"].why == why
    assert inquiry.exchanges["look"].target == "GET /v1/orders/:id?limit=1"
    assert (inquiry.exchanges["later"].why, len(service.asked)) == (
        ("", 2) if first.status == 200 else (why, 1)
    )
    assert inquiry.objects() == []


def test_no_answer_is_asked_for_once_more_and_four_times_at_most(inquire: Any) -> None:
    """With the same key; not where it took too long, and what comes later is not asked at all."""
    for came, times in ((CUT, 2), (LATE, 1)):
        service = PlayedService(came)
        inquiry = inquire(service, *made(6))
        assert len(service.asked) == 4 * times
        assert len({more["idempotency_key"] for *_, more in service.asked}) == 4
        unasked = "it was not asked: 4 requests before it had no usable answer"
        assert whys(inquiry) == [came.trouble.value] * 4 + [unasked] * 2
        assert [each.is_open for each in inquiry.exchanges.values()] == [True] * 4 + [False] * 2
    service = PlayedService(LATE, LATE, LATE, reply(403), LATE, LATE, LATE, reply(200))
    assert "not asked" not in str(whys(inquire(service, *made(8))))


def test_no_more_than_forty_objects_are_made(inquire: Any) -> None:
    """Repetitions included; what only looks is asked all the same."""
    service = PlayedService(CUT, reply(200, {"id": "ord_1"}))
    inquiry = inquire(service, *made(40), ProbeRequest("look", "GET /v1/orders", "m"))
    assert len(service.asked) == 41
    assert whys(inquiry) == [""] * 39 + ["40 objects may be made", ""]


def test_what_is_limited_or_stays_is_not_asked(inquire: Any) -> None:
    service = PlayedService(reply(200))
    staying = ProbeRequest("stay", "POST /v1/webhook_endpoints", "m", endpoint=True)
    inquiry = inquire(service, *made(), staying, limited="orders")
    limit = "a limit holds for what it moves, see: svc help limits"
    assert whys(inquiry) == [limit, "--endpoint registers one, which stays"]
    assert whys(inquire(service, staying, endpoint=True)) == [""]
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("auth", "sent"),
    [
        ("", None),
        ("none", ""),
        ("bearer", "Bearer sk_test_x"),
        ("basic", "Basic c2tfdGVzdF94Og=="),
        ("password", "Basic c2tfdGVzdF94Ong6"),
        ("unknown", "Bearer sk_test_000000000000000000000000"),
    ],
)
def test_a_probe_about_keys_has_its_own_header(inquire: Any, auth: str, sent: str | None) -> None:
    service = PlayedService(reply(401))
    keyed = ProbeRequest("k", POST, "m", form=True, headers={"a": "b"}, auth=auth, key="made")
    inquiry = inquire(service, *made(), keyed)
    (_, _, first), (call, headers, more) = service.asked
    assert headers == ({"a": "b"} if sent is None else {"a": "b", "Authorization": sent})
    assert (call.encoding, more["idempotency_key"]) == ("form", first["idempotency_key"])
    assert inquiry.exchanges["made"].is_open is False


@pytest.mark.parametrize(("said", "pause"), [(None, []), ("3", [3] * 4), ("60", [10] * 4)])
def test_a_service_that_asks_for_a_pause_gets_one(
    inquire: Any, said: str | None, pause: list[float]
) -> None:
    """No longer than ten seconds, and none that nobody asked for; then it is asked once more."""
    headers = () if said is None else (("retry-after", said),)
    service = PlayedService(RawReply(503, headers, b""))
    inquire(service, *made(2))
    assert (service.clock.slept, len(service.asked)) == (pause, 4)
