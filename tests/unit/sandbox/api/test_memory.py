"""The log of requests in memory: what is shown of a request, and how much."""

from typing import Any

import pytest

from support.sandbox_calls import AsgiSandbox
from svc.sandbox.api.memory import mask
from svc.sandbox.faults.api import BrokenByRuleError

SHOWN: list[tuple[Any, Any]] = [
    ({"number": "4242424242424242", "cvc": "123"}, {"number": "…4242", "cvc": "…"}),
    ({"iban": "DE123", "account_number": "1234"}, {"iban": "…E123", "account_number": "…"}),
    ({"client_secret": "abcdef", "secret": 123456}, {"client_secret": "…cdef", "secret": "…"}),
    ({"amount": 12900, "note": "number"}, {"amount": 12900, "note": "number"}),
    ([{"card": {"number": "424242"}}, None, 7], [{"card": {"number": "…4242"}}, None, 7]),
    ({"a": {"b": {"c": {"d": {"e": "x"}}}}}, {"a": {"b": {"c": {"d": {"e": "x"}}}}}),
    ({"a": {"b": {"c": {"d": {"e": {"f": "x"}}}}}}, {"a": {"b": {"c": {"d": {"e": {"f": "…"}}}}}}),
]


@pytest.mark.parametrize(("given", "shown"), SHOWN)
def test_numbers_of_accounts_and_secrets_are_masked(given: Any, shown: Any) -> None:
    """Wherever they stand but for their last four characters, where there are more than four."""
    assert mask(given) == shown


def test_parameters_of_8_kib_are_kept_and_no_more(sandbox: AsgiSandbox) -> None:
    """So that the memory of a thousand requests is bounded."""
    for size in (8192, 8193):
        sandbox.form("/v1/orders", "a=" + "x" * (size - 2))
    large, fitting = sandbox.control("/requests?limit=2", method="GET").json["data"]
    assert (large["params"], len(fitting["params"]["a"])) == (None, 8190)


def test_log_shows_the_end_of_an_account_number(sandbox: AsgiSandbox) -> None:
    sandbox.post("/v1/payouts", sandbox.payout_params)
    (shown,) = sandbox.control("/requests", method="GET").json["data"]
    assert shown["params"]["destination"]["iban"] == "…3000"


def test_log_says_whether_there_is_more(sandbox: AsgiSandbox) -> None:
    for _ in range(2):
        sandbox.get("/v1/orders")
    for limit, more in ((1, True), (2, False)):
        page = sandbox.control(f"/requests?limit={limit}", method="GET").json
        assert (len(page["data"]), page["has_more"]) == (limit, more)


def test_every_request_but_a_look_is_told(sandbox: AsgiSandbox) -> None:
    """R89: `svc sandbox start --foreground` prints them, with the status that was sent, if any."""
    told: list[tuple[str, str, int | None, float]] = []
    sandbox.app.on_served = lambda *served: told.append(served)
    sandbox.get("/v1/orders")
    sandbox.control("/clock", method="GET")
    for effect in ("close", "reset", "truncate"):
        sandbox.control("/faults", {"effect": {"connection": effect}})
        with pytest.raises(BrokenByRuleError):  # in this process there is none to break
            sandbox.get("/v1/orders")
    sandbox.get("/nowhere")
    assert [one[:3] for one in told if one[1] != "/_sandbox/faults"] == [
        ("GET", "/v1/orders", 200),
        ("GET", "/v1/orders", None),
        ("GET", "/v1/orders", None),
        ("GET", "/v1/orders", 200),
        ("GET", "/nowhere", 404),
    ]
    assert all(0 < milliseconds < 60_000 for *_, milliseconds in told)
