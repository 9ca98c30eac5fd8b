"""A call as exact bytes."""

import re

import pytest

from support.calls import orders
from svc import __version__
from svc.base_url import BaseUrl
from svc.client import find
from svc.client.call import Call
from svc.client.request import Prepared, check_key, fraction, prepare, uuid4
from svc.errors import UsageError

BASE = BaseUrl.parse("https://api.example.com/pre")


def make(call: Call, key: str | None = None, version: str | None = None) -> Prepared:
    return prepare(call, BASE, new_key=lambda: "fresh", idempotency_key=key, api_version=version)


def test_a_post_has_everything_that_each_attempt_sends() -> None:
    """R1: method, path, version, key and body are fixed before the first attempt."""
    made = make(orders.create({"amount": 1}), version="2026-03-01")
    assert made.method == "POST"
    assert made.url == "https://api.example.com/pre/v1/orders"
    assert made.target == "/pre/v1/orders"
    assert made.body == b'{"amount":1}'
    assert made.idempotency_key == "fresh"
    assert dict(made.headers) == {
        "User-Agent": f"svc/{__version__}",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Svc-Version": "2026-03-01",
        "Idempotency-Key": "fresh",
        "Content-Type": "application/json",
        "Content-Length": "12",
    }


def test_a_form_says_so() -> None:
    """The encoding of the call decides the content type."""
    made = make(orders.capture("ord_1", {"amount": 5}))
    assert dict(made.headers)["Content-Type"] == "application/x-www-form-urlencoded"
    assert made.body == b"amount=5"


@pytest.mark.parametrize("body", [None, {}])
def test_a_post_without_parameters_has_no_body(body: dict[str, object] | None) -> None:
    """Such a POST has no body and no content type, but a length of zero."""
    made = make(orders.cancel("ord_1", body))
    headers = dict(made.headers)
    assert made.body == b""
    assert "Content-Type" not in headers
    assert headers["Content-Length"] == "0"


def test_a_get_carries_no_key_and_its_query() -> None:
    """R13: an idempotency key goes with a POST and with nothing else."""
    made = make(orders.list({"limit": 3, "status": "a b"}))
    assert made.target == "/pre/v1/orders?limit=3&status=a%20b"
    assert made.idempotency_key is None
    assert "Idempotency-Key" not in dict(made.headers)


def test_a_key_for_a_get_is_refused() -> None:
    """R13: a user who gives one expects something that will not happen."""
    with pytest.raises(UsageError):
        make(orders.list(), key="mine")


@pytest.mark.parametrize("key", ["a", "x" * 255, "order-42!~"])
def test_a_users_key_is_sent_as_given(key: str) -> None:
    """R13: 1 to 255 printable ASCII characters."""
    assert make(orders.create({}), key=key).idempotency_key == key


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "a\r\nX: y", "é", "a\x7f", " a", "a\t"])
def test_a_key_that_cannot_be_sent_is_refused(key: str) -> None:
    """R13: anything else is wrong use, and nothing is sent."""
    with pytest.raises(UsageError) as caught:
        check_key(key)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("version", ["2026-3-1", "", "latest", "2026-03-01\r\n", "२०२६-03-01"])
def test_a_version_that_is_no_date_is_refused(version: str) -> None:
    """Spec, Versioning: a date in the form YYYY-MM-DD."""
    with pytest.raises(UsageError):
        make(orders.list(), version=version)


def test_a_call_cannot_leave_the_api_by_its_path() -> None:
    """R25: also a call made by hand is checked against the base URL's prefix."""
    for path in ("/_sandbox/reset", "/v1/../x", "/v1/a?b=c", "v1/orders", "/v1/a//b"):
        with pytest.raises(UsageError):
            make(Call("GET", path))


def test_a_posted_path_keeps_its_bytes() -> None:
    """What is prepared twice is the same twice, but for a fresh key."""
    call = find.post("/v1/orders", {"b": 1, "a": [True]})
    assert make(call, key="k") == make(call, key="k")
    assert make(call).body == b'{"b":1,"a":[true]}'


def test_fresh_keys_are_random_uuids() -> None:
    """R1: a key of our own is a UUIDv4."""
    made = {uuid4() for _ in range(200)}
    shape = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert len(made) == 200
    assert all(shape.fullmatch(key) for key in made)


def test_chance_is_spread_over_its_range() -> None:
    """The source of jitter gives numbers from 0 up to 1."""
    drawn = [fraction() for _ in range(200)]
    assert all(0 <= number < 1 for number in drawn)
    assert min(drawn) < 0.2
    assert max(drawn) > 0.8
