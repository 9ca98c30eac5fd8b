"""The same seed and the same calls give the same ids and the same bytes."""

from typing import Any

from support.orders import ORDER
from support.sandbox_calls import PAYOUT

KEY = "sk_test_sandbox"
CARD = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2030, "cvc": "123"}
LISTS = ("orders", "payments", "refunds", "payouts", "disputes")


def story(wire: Any) -> list[bytes]:
    """One of everything, refusals and time included; the bytes of every answer."""
    answers: list[bytes] = []

    def call(method: str, path: str, body: Any = None, key: str = KEY) -> Any:
        status, raw = wire.send_raw(method, path, body, key)
        answers.append(b"%d " % status + raw)
        return raw

    def id_of(raw: bytes) -> str:
        return raw.partition(b'"id":"')[2].partition(b'"')[0].decode()

    order = id_of(call("POST", "/v1/orders", ORDER))
    call("POST", "/v1/orders", {**ORDER, "amount": 0})
    call("POST", "/_sandbox/checkout/pay", {"order": order, "card": CARD}, KEY)
    payment = id_of(call("GET", "/v1/payments"))
    call("POST", "/v1/refunds", {"payment": payment, "amount": 100})
    call("POST", "/v1/payouts", PAYOUT)
    call("POST", "/v1/landed-cost/quotes", {k: ORDER[k] for k in ("currency", "shipping", "items")})
    hook = {"url": "https://shop.example/hook", "events": ["order.paid"]}
    call("POST", "/v1/webhook_endpoints", hook)
    call("POST", "/_sandbox/clock/advance", {"seconds": 86400})
    call("POST", "/_sandbox/disputes", {"payment": payment})
    call("POST", "/_sandbox/keys", {"type": "secret"})
    for name in LISTS:
        call("GET", f"/v1/{name}?limit=100")
    call("GET", "/_sandbox/events?limit=100")
    call("GET", "/_sandbox/deliveries")
    return answers


def without_request_ids(answers: list[bytes]) -> list[bytes]:
    """Ids of HTTP exchanges are new with every one of them, whatever the seed."""
    return [answer.partition(b'"request_id"')[0] for answer in answers]


def test_same_seed_and_calls_give_the_same_bytes(make_wire: Any) -> None:
    """Two sandboxes with one seed, and one that was reset to it, answer byte for byte alike."""
    first, second = make_wire(seed=11), make_wire(seed=5)
    one = without_request_ids(story(first))
    second.reset(11)
    assert without_request_ids(story(second)) == one
    other = make_wire(seed=12)
    assert without_request_ids(story(other)) != one


def test_demo_fixture_is_the_same_every_time(make_wire: Any) -> None:
    """Fixture and seed together give the same objects, in a new sandbox and after a reset."""
    first, second = make_wire(seed=3, fixture="demo"), make_wire(seed=1)
    second.reset(3, "demo")
    for name in LISTS:
        path = f"/v1/{name}?limit=100"
        assert first.get(path) == second.get(path)
        assert first.get(path)["data"]
    assert first.look("/events?limit=100") == second.look("/events?limit=100")
    assert first.look("/keys") == second.look("/keys")
