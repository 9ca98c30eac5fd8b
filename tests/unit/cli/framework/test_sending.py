"""What is shown in place of a request, and the command that goes on behind a page."""

import io
import os
import shlex
from types import SimpleNamespace
from typing import Any

import pytest

from support.running import inside
from svc.cli.framework import sending
from svc.cli.framework.session import Session
from svc.cli.framework.streams import Streams

API = "https://api.example.com"
ENV = {"SVC_BASE_URL": API, "SVC_API_KEY": "sk_test_1234567890", "SVC_API_VERSION": "2026-10-01"}
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize(
    ("line", "path", "body", "headers"),
    [
        (
            "refunds create --payment pay_1 --amount 5",
            "refunds",
            {"payment": "pay_1", "amount": 5},
            JSON,
        ),
        ("orders capture ord_1", "orders/ord_1/capture", None, {}),
        ("orders capture ord_1 --amount 7", "orders/ord_1/capture", "amount=7", FORM),
        (
            "orders capture ord_1 --amount 7 --json-body",
            "orders/ord_1/capture",
            {"amount": 7},
            JSON,
        ),
        ("post /v1/x -d a=it's\\'é --idempotency-key k1", "x", {"a": "it's\\'é"}, JSON),
        ("orders list --all", "orders?limit=100", None, None),
        ("payments list --order ord_1 --max 7", "payments?limit=100&order=ord_1", None, None),
        ("orders list --max 7 --limit 3", "orders?limit=3", None, None),
        ("orders list --param a=b --limit 3", "orders?limit=3&a=b", None, None),
        ("orders list --starting-after ord_1", "orders?starting_after=ord_1", None, None),
        ("orders list --all --status paid", "orders?limit=100&status=paid", None, None),
        ("orders retrieve ord_1", "orders/ord_1", None, None),
        ("quotes retrieve lcq_1", "landed-cost/quotes/lcq_1", None, None),
        ("get ord_1", "orders/ord_1", None, None),
    ],
)
def test_a_request_is_shown_as_it_would_be_sent(
    line: str, path: str, body: object, headers: dict[str, str] | None
) -> None:
    """Without the key, and with a key of idempotency that says that it is none yet."""
    url = f"{API}/v1/{path}"
    method = "GET" if headers is None else "POST"
    shown = inside(*line.split(), "--dry-run", env=ENV).json
    assert (shown["method"], shown["url"], shown["body"]) == (method, url, body)
    given = shown["headers"]
    key = None if headers is None else "k1" if "k1" in line else "new-for-each-request"
    assert (given["Authorization"], given.get("Idempotency-Key")) == ("Bearer (redacted)", key)
    assert headers is None or headers.items() <= given.items()
    curl = inside(*line.split(), "--curl", env=ENV).out
    first, _, command = curl.partition(" | ")
    assert first == """printf 'Authorization: Bearer %s\\n' "$SVC_API_KEY\""""
    words = shlex.split(command)
    assert words[:6] == ["curl", "--header", "@-", "--request", method, url]
    assert "Svc-Version: 2026-10-01" in words
    assert [one for one in words if one.startswith("Content-Type")] == [
        f"{name}: {value}" for name, value in (headers or {}).items()
    ]
    assert any(one.startswith("Idempotency-Key: ") for one in words) == (headers is not None)
    sent = words[words.index("--data-binary") + 1] if "--data-binary" in words else None
    assert sent == (body if not isinstance(body, dict) else sent)
    assert (sent is None) == (body is None)
    assert ENV["SVC_API_KEY"] not in curl + str(shown)


@pytest.mark.parametrize(
    ("argv", "page", "line"),
    [
        ("orders list", {"has_more": True, "data": [{"id": "ord_1"}, {"id": "ord_2"}]}, "ord_2"),
        (
            "orders list --starting-after ord_0",
            {"has_more": True, "data": [{"id": "ord_2"}]},
            "ord_2",
        ),
        ("orders list", {"has_more": False, "data": [{"id": "ord_2"}]}, None),
        ("orders list", {"has_more": True, "data": []}, None),
        ("orders list", {"has_more": True, "data": None}, None),
        ("orders list", {"has_more": True, "data": ["ord_2"]}, None),
    ],
)
def test_a_page_is_followed_from_its_last_object(
    argv: str, page: dict[str, Any], line: str | None
) -> None:
    """A path that was typed takes the cursor as a parameter of its query."""
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO())
    expected = None if line is None else f"svc orders list --starting-after {line}"
    with Session(argv.split(), os.environ, streams) as session:
        assert sending._next_command(session, page, "/v1/orders") == expected
    typed = ["get", "/v1/orders?limit=2", "--param", "starting_after=x", "--param", "a=b"]
    with Session(typed, os.environ, streams) as session:
        found = sending._next_command(session, page, "/v1/orders")
    more = f"--param a=b --param starting_after={line}"
    assert found == (None if line is None else f"svc get '/v1/orders?limit=2' {more}")


@pytest.mark.parametrize(
    ("form", "path", "kind"),
    [
        ("csv", "/v1/orders", "order"),
        ("csv", "/v1/orders/ord_1", ""),
        ("csv", "/v1/nothing", ""),
        ("json", "/v1/orders", ""),
    ],
)
def test_a_csv_without_rows_has_the_columns_of_its_kind(form: str, path: str, kind: str) -> None:
    """Where the path is one of a list that is documented."""
    session: Any = SimpleNamespace(format=form)
    call: Any = SimpleNamespace(path=path)
    assert sending._kind_of(session, call) == kind
