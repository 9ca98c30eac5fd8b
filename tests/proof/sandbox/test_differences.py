"""`svc sandbox compare` before a sandbox of which a proxy changes one behaviour at a time.

Each is found by its own row. One in twenty in a slow run; SVC_TEST_LONG=1 tries all of them.
"""

import json
import os
import re
from typing import Any, Final

import pytest

from support.running import Sandbox, Svc
from support.servers.differing import Passing, differing

# ROW | REQUEST (a pattern) | WHAT CHANGES, and behind ++ the rows that change with it.
# `<` changes the request. A pattern is found in METHOD TARGET BODY TYPE KEY SCHEME, and for an
# answer STATUS CODE behind it.
PLANTED: Final = r"""
order.object | ^POST /v1/orders .* 200 | body.object="purchase"
order.status | ^POST /v1/orders .* 200 | body.status="open"
order.amount | ^POST /v1/orders .*12900.* 200 | body.amount="12900"
order.currency | ^POST /v1/orders .* 200 | body.currency="eur"
order.settlement_currency | ^POST /v1/orders .*manual.* 200 | body.settlement_currency="EUR"
default settlement currency | ^POST /v1/orders .*12900.* 200 | body.settlement_currency="EUR"
order.shipping | ^POST /v1/orders .*12900.* 200 | body.shipping.postal_code-
order.items | ^POST /v1/orders .*12900.* 200 | body.items.0.hs_code-
items: origin_country | ^POST /v1/orders .*12900.* 200 | body.items.0.origin_country-
automatic | ^POST /v1/orders .*12900.* 200 | body.capture_method="immediate"
manual | ^POST /v1/orders .*manual.* 200 | body.capture_method="later"
order.client_secret | ^POST /v1/orders .* 200 | body.client_secret-
order.methods | ^POST /v1/orders .*12900.* 200 | body.methods=["card"]
order.landed_cost | ^POST /v1/orders .*12900.* 200 | body.landed_cost.duty="0"
landed_cost: more | ^POST /v1/orders .*12900.* 200 | body.landed_cost.quote-
order.amount_total | ^POST /v1/orders .*12900.* 200 | body.amount_total=12900
order.amount_captured | ^POST /v1/orders .* 200 | body.amount_captured-
order.amount_refunded | ^POST /v1/orders .* 200 | body.amount_refunded-
order.latest_payment | ^POST /v1/orders .* 200 | body.latest_payment-
null | ^POST /v1/orders .* 200 | body.paid_at-
order.livemode | ^POST /v1/orders .* 200 | body.livemode-
order.metadata | ^POST /v1/orders .*manual.* 200 | body.metadata={}
order.created | ^POST /v1/orders .*manual.* 200 | body.created=1790000000
timestamp precision | ^POST /v1/orders .*12900.* 200 | body.created="2026-11-24T00:00:00.000Z"
shipping: more | ^POST /v1/orders .*manual.* 200 | body.shipping.name-
status of success | ^POST /v1/orders .* 200 | status=201
answers | ^POST /v1/orders .* 200 | header.content-type-
Request-Id | ^GET /v1/orders/ord_0+ .* 404 | header.request-id- ++ request_id
Idempotency-Key | ^POST /v1/orders .*12900.*json.* 200 .*replayed | body.id="ord_other"
Idempotent-Replayed | ^POST /v1/orders .*replayed | header.idempotent-replayed-
same request | ^POST /v1/orders .*form.* 200 | body.id="ord_other"
what is kept | ^POST /v1/orders .*"amount": ?100,.* 200 | status=400
form of a key | < ^POST .*two words | ask.Idempotency-Key="two-words"
on GET | < ^GET .*compare | refuse
idempotency_key_reused | idempotency_key_reused | status=409
idempotency_key_invalid | idempotency_key_invalid | body.code="key_invalid"
parameter_missing | ^POST /v1/orders .*items.* 400 parameter_missing | status=422
order: required | ^POST /v1/orders .*"DE"}} .* 400 parameter_missing | status=422
GET /v1/orders/:id | ^GET /v1/orders/ord_.* 200 | body.id="ord_other"
client_secret afterwards | ^GET /v1/orders/ord_.* 200 | body.client_secret="x"
GET /v1/orders | ^GET /v1/orders\?limit=100 .* 200 | status=400
list object | ^GET /v1/orders\?limit=100 .* 200 | body.object="page"
list url | ^GET /v1/orders\?limit=100 .* 200 | body.url-
order of lists | ^GET /v1/orders\?limit=100 .* 200 | reverse
pinned to | ^GET /v1/orders\?limit=100 .* 200 | header.svc-version="2026-03-01"
has_more | ^GET /v1/orders\?limit=1 .* 200 | body.has_more=false
starting_after | < starting_after=ord_[^0] | query.starting_after-
limit | < limit=101 | query.limit-
parameter_invalid_integer | limit=0 .* 400 | body.code="invalid"
unknown cursor | starting_after=ord_0+ | status=404
status filter | < status=cancelled | query.status-
parent filters | < payments.order= | query.order-
created filters | < 2099-01-01T | query.created-
times in filters | < 2099-01-01(?!T) | refuse
parameter_invalid_timestamp | soon .* 400 | body.code="invalid"
resource_missing | ^GET /v1/orders/ord_0+ .* 404 | status=410
type, code, message | ^GET /v1/orders/ord_0+ .* 404 | body.message-
request_id | ^GET /v1/orders/ord_0+ .* 404 | body.request_id-
flat | [45]0[0-9] [a-z_]+ $ | wrap
endpoint_unknown | no_such_thing | body.code="not_found"
method_not_allowed | ^DELETE | status=404
no key | api_key_missing | status=403
api_key_missing | api_key_missing | body.code="unauthorized"
api_key_invalid | api_key_invalid | body.code="unauthorized"
WWW-Authenticate | api_key_missing | header.www-authenticate-
basic | < Basic c2tfdGVzdF9zYW5kYm94Og== | refuse
basic password | < Basic c2tfdGVzdF9zYW5kYm94Ong6 | refuse
Svc-Version | < 2026-03-01 | ask.Svc-Version-
version_invalid | version_invalid | body.code="bad_version"
POST /v1/orders/:id | ^POST /v1/orders/ord_\w+ .*12800.* 200 | body.id="ord_other"
order: update | ^POST /v1/orders/ord_\w+ .*12800.* 200 | body.amount=12900
metadata | ^POST /v1/orders/ord_\w+ .*12800.* 200 | body.metadata={"more": "2"}
both encodings | < ^POST /v1/orders/ord_\w+ metadata | refuse
require_idempotency_key | < ^POST /v1/orders/ord_\w+ .*"4" | refuse
clearing | ^POST /v1/orders/ord_\w+ .*"compare":.* 200 | body.metadata={"compare": ""}
unknown_parameters | parameter_unknown | status=200
parameter_unknown | parameter_unknown | body.code="extra"
currency_invalid | currency_invalid | body.code="currency"
param | currency_invalid | body.param-
currency_unsupported | currency_unsupported | body.code="currency"
country_code_invalid | country_code_invalid | status=422
amount_too_small | amount_too_small | status=422
amount_too_large | amount_too_large | status=422
empty amounts | parameter_invalid_empty | status=200
parameter_invalid_empty | parameter_invalid_empty | body.code="empty"
parameter_invalid_type | parameter_invalid_type | status=422
parameter_invalid_value | "later".* 400 | status=422
hs_code_invalid | hs_code_invalid | status=422
unsupported_media_type | unsupported_media_type | status=400
body_invalid | body_invalid | body.code="json"
refused actions | capture .*order_unexpected_state | body.current_status-
state errors | capture .*order_unexpected_state | status=409
order_unexpected_state | capture .*order_unexpected_state | body.code="state"
capture_not_allowed | capture_not_allowed | status=409
order: cancel | rain | status=200
cancelled | cancel .*abandoned.* 200 | body.status="canceled"
order.cancelled_at | cancel .*abandoned.* 200 | body.cancelled_at-
order.cancellation_reason | cancel .*abandoned.* 200 | body.cancellation_reason-
only unpaid orders are updated | ^POST /v1/orders/ord_\w+ .*4000.* 400 | status=200
POST /v1/landed-cost/quotes | < ^POST /v1/landed-cost/quotes .*Jacket | refuse
landed_cost_quote.guaranteed | ^POST /v1/landed-cost/quotes .*Jacket | body.guaranteed=false
landed_cost_quote.ship_from_country | ^POST /v1/landed-cost/quotes .*Jacket | body.ship_from_country="DE"
landed_cost_quote.total | ^POST /v1/landed-cost/quotes .*Jacket | body.total=1
landed_cost_quote.expires_at | ^POST /v1/landed-cost/quotes .*Jacket | body.expires_at-
landed_cost_quote.warnings | ^POST /v1/landed-cost/quotes .*Mug | body.warnings.0.code="short"
warnings: item | ^POST /v1/landed-cost/quotes .*Mug | body.warnings.0.item="0"
GET /v1/landed-cost/quotes/:id | ^GET /v1/landed-cost/quotes | status=404
POST /v1/payouts | < ^POST /v1/payouts .*3704.*DE89|^POST /v1/payouts .*DE89 | refuse
payout.status | ^POST /v1/payouts .*DE89 | body.status="pending"
payout.fx_rate | ^POST /v1/payouts .*DE89 | body.fx_rate-
payout.source_amount | ^POST /v1/payouts .*DE89 | body.source_amount-
payout.network_fees | ^POST /v1/payouts .*DE89 | body.network_fees-
payout.destination | ^POST /v1/payouts .*DE89 | body.destination.last4-
iban_invalid | iban_invalid | status=200
GET /v1/refunds | < ^GET /v1/refunds\?limit | refuse
GET /v1/disputes/:id | ^GET /v1/disputes/dp_ | status=404
payment.status | ^GET /v1/payments\?limit | body.data.0.status="paid"
payment.method | ^GET /v1/payments\?limit | body.data.0.method-
refund.status | ^GET /v1/refunds\?limit | body.data.0.status="done"
dispute.status | ^GET /v1/disputes\?limit | body.data.0.status="open"
POST /v1/webhook_endpoints | < ^POST /v1/webhook_endpoints .*compare.invalid.*dispute.lost | refuse
webhook_endpoint.secret | ^POST /v1/webhook_endpoints .* 200 | body.secret-
webhook_endpoint.events | ^POST /v1/webhook_endpoints .* 200 | body.events-
event_type_unknown | event_type_unknown | status=200
"""
ROWS: Final = PLANTED.strip().splitlines()
LONG: Final = os.environ.get("SVC_TEST_LONG") == "1"


def words_of(one: Passing) -> str:
    """What a pattern is found in."""
    found = one.headers
    text = f"{one.method} {one.target} {one.body.decode()} {found.get('Content-Type')} "
    text += f"{found.get('Idempotency-Key')} {found.get('Svc-Version')} "
    text += str(found.get("Authorization"))
    if one.status:
        code = one.data.get("code") if isinstance(one.data, dict) else None
        replayed = "replayed" if "idempotent-replayed" in one.answered else ""
        text += f" {one.status} {code} {replayed}"
    return text


def change(one: Passing, what: str) -> None:
    """Changes a request or an answer as a word of the table says."""
    where, _, name = what.partition(".")
    name, has_value, value = name.partition("=")
    if what == "refuse":
        one.status, one.data = 400, {"type": "t", "code": "not_here", "message": "No."}
        one.answered = {"content-type": "application/json"}
    elif what == "reverse":
        one.data["data"].reverse()
    elif what == "wrap":
        one.data = {"error": one.data}
    elif what.startswith("status="):
        one.status = int(what.partition("=")[2])
    elif where == "query":
        path, _, query = one.target.partition("?")
        kept = [each for each in query.split("&") if not each.startswith(name.removesuffix("-"))]
        one.target = f"{path}?{'&'.join(kept)}"
    else:
        holder: Any = {"ask": one.headers, "header": one.answered}.get(where, one.data)
        steps = name.removesuffix("-").split(".") if where == "body" else [name.removesuffix("-")]
        for step in steps[:-1]:
            holder = holder[int(step) if step.isdigit() else step]
        if has_value:
            holder[steps[-1]] = json.loads(value)
        else:
            del holder[steps[-1]]


def test_the_table_is_long_enough_and_has_each_row_once() -> None:
    """At least 60, each of a row of its own."""
    names = [line.partition(" | ")[0] for line in ROWS]
    assert len(set(names)) == len(names) >= 60


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("line", ROWS if LONG else ROWS[::20])
def test_planted_difference_is_found_by_its_own_row(sandbox: Sandbox, svc: Svc, line: str) -> None:
    """And by none besides, but for those that the table names with it."""
    row, pattern, what = line.split(" | ")
    what, _, also = what.partition(" ++ ")
    planted = 0

    def meet(one: Passing) -> None:
        nonlocal planted
        if re.search(pattern.removeprefix("< "), words_of(one)):
            planted += 1
            change(one, what)

    sandbox.control("POST", "/reset", {"seed": 1, "fixture": "demo"})
    way: Any = {"asked" if pattern.startswith("< ") else "answered": meet}
    with differing(sandbox.port, **way) as origin:
        env = {"SVC_BASE_URL": origin}
        found = svc("sandbox", "compare", "--endpoint", "-o", "json", env=env)
    assert found.code == 11, (planted, found.err)
    report = json.loads(found.out)
    different = {each["name"] for each in report["findings"] if each["result"] == "different"}
    assert different == {row, *filter(None, also.split(", "))}
    assert planted
    assert len(report["objects"]) <= 40
