"""A client library that is not ours drives the sandbox and verifies its webhooks."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import stripe

from support.orders import ORDER
from support.sandbox_calls import Served
from support.serving import Hook


@pytest.fixture
def client(served: Served) -> Iterator[stripe.StripeClient]:
    """stripe-python, pointed at the sandbox."""
    with requests.Session() as session:
        session.trust_env = False
        yield stripe.StripeClient(
            "sk_test_sandbox",
            base_addresses={"api": served.url},
            http_client=stripe.RequestsClient(session=session),
            max_network_retries=0,
        )


def ask(client: stripe.StripeClient, method: str, path: str, **params: Any) -> Any:
    """One call with the library, and what it makes of the answer."""
    response: Any = client.raw_request(method, path, **params)
    return client.deserialize(response, api_mode="V1")


def paid_payment(served: Served, client: stripe.StripeClient) -> Any:
    """Creates an order with the library, pays it at the checkout, and returns its payment."""
    order = ask(client, "post", "/v1/orders", **ORDER)
    card = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2090, "cvc": "123"}
    body = {"client_secret": order.client_secret, "card": card}
    key = {"Authorization": "Bearer pk_test_sandbox"}
    answer = served.ask("POST", "/_sandbox/checkout/pay", body, **key)
    assert answer.status == 200, answer.body
    return ask(client, "get", f"/v1/payments/{answer.json['payment']['id']}")


def test_library_pages_by_itself(client: stripe.StripeClient) -> None:
    """`auto_paging_iter` follows the list's `url` through all pages, each object once."""
    made = {ask(client, "post", "/v1/orders", **ORDER).id for _ in range(5)}
    page = ask(client, "get", "/v1/orders", limit=2)
    assert (page.url, page.has_more) == ("/v1/orders", True)
    found = [order.id for order in page.auto_paging_iter()]
    assert made <= set(found)
    assert len(found) == len(set(found))


def test_library_understands_errors_in_its_own_envelope_only(
    served: Served, client: stripe.StripeClient
) -> None:
    """With the nested envelope its exceptions carry our code, parameter, status and request id."""
    with pytest.raises(stripe.StripeError) as flat:
        ask(client, "post", "/v1/orders", **{**ORDER, "amount": 0})
    assert flat.value.code is None
    served.ask("POST", "/_sandbox/settings", {"error_envelope": "nested"})
    try:
        with pytest.raises(stripe.InvalidRequestError) as caught:
            ask(client, "post", "/v1/orders", **{**ORDER, "amount": 0})
        with pytest.raises(stripe.AuthenticationError):
            ask(client, "get", "/v1/orders", api_key="sk_test_nobody")
        with pytest.raises(stripe.PermissionError):
            ask(client, "post", "/v1/orders", api_key="rk_test_readonly", **ORDER)
    finally:
        served.ask("POST", "/_sandbox/settings", {"error_envelope": "flat"})
    error: Any = caught.value
    assert (error.http_status, error.code, error.param) == (400, "amount_too_small", "amount")
    assert error.request_id.startswith("req_")


@pytest.fixture
def delivered(served: Served, client: stripe.StripeClient) -> tuple[str, Hook]:
    """A signing secret and a webhook that was really delivered under it."""
    endpoint = ask(
        client, "post", "/v1/webhook_endpoints", url=served.hook_url, events=["order.paid"]
    )
    while not served.hooks.empty():
        served.hooks.get()
    paid_payment(served, client)
    hook = served.hooks.get(timeout=60)
    served.ask("POST", f"/_sandbox/webhook_endpoints/{endpoint.id}/disable", {})
    return endpoint.secret, hook


def test_library_verifies_our_deliveries(delivered: tuple[str, Hook]) -> None:
    """Its verifier accepts the bytes of a real delivery, and its age is within five minutes."""
    secret, hook = delivered
    header = hook.headers["svc-signature"]
    assert stripe.WebhookSignature.verify_header(hook.body, header, secret, tolerance=300)
    assert abs(time.time() - int(header.partition(",")[0][2:])) < 300
    assert hook.headers["content-type"] == "application/json; charset=utf-8"
