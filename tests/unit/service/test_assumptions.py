"""What we assume where the specification is silent, typed once more than in the description (R134).

A wrong fact would be wrong on both sides, at the client and in the sandbox, so that no story would
notice it. These tables were typed from the assumed contract (`svc help assumptions`).
"""

import re
from base64 import b64encode

import pytest

from svc import service
from svc.service import errors, facts
from svc.service.facts import COUNTRIES, EU_COUNTRIES, EVENT_TYPES
from svc.service.model import Field, Kind

# Of each object: field, kind (with the least of a number, or the most characters of a text that is
# given), then where it may be given (`!` where it must be), and `null` where an answer may have it.
# Inside an object or a list stand its fields, indented.
TABLES = {
    "order": """
id identifier:order
status choice list
amount amount:1 create! update
currency currency create! update
settlement_currency currency create update
shipping object create! update
 country country !
 postal_code text:500 null
 name text:500
 line1 text:500
 line2 text:500
 city text:500
 state text:500
 phone text:500
items list:100 create! update
 name text:255 !
 hs_code tariff_code null
 origin_country country null
 quantity integer:1 !
 unit_amount amount:0 !
capture_method choice create update
methods list:0
landed_cost object
 duty amount:0
 vat amount:0
 fees amount:0
 total amount:0
 currency currency
 guaranteed boolean
 quote identifier:landed_cost_quote
customs object null
 charged amount:0
 covered amount:0
 paid amount:0
 paid_by choice
 currency currency
 charged_at timestamp
amount_total amount:1
amount_captured amount:0
amount_refunded amount:0
latest_payment identifier:payment null
cancellation_reason choice cancel null
cancelled_at timestamp null
paid_at timestamp null
metadata free create update
created timestamp
livemode boolean
client_secret text
""",
    "payment": """
id identifier:payment
order identifier:order list
status choice list
amount amount:1
amount_captured amount:0
amount_released amount:0
amount_refunded amount:0
currency currency
method text
card object null
 brand choice
 last4 text
payment_method object:payment_method null
retried boolean
acquirer text null
failure_code text null
failure_message text null
decline_type choice null
disputed boolean
settlement_currency currency null
settlement_amount amount:0 null
fx_rate rate null
fee amount:0 null
authorization_expires_at timestamp null
captured_at timestamp null
created timestamp
livemode boolean
""",
    "payment_method": """
id identifier:payment_method
type choice
card object
 brand choice
 last4 text
 network_token choice
 exp_month integer:1
 exp_year integer:2000
created timestamp
livemode boolean
""",
    "refund": """
id identifier:refund
payment identifier:payment create! list
order identifier:order
amount amount:1 create
currency currency
reason choice create null
status choice list
failure_reason choice null
metadata free create
created timestamp
livemode boolean
""",
    "payout": """
id identifier:payout
status choice list
amount amount:1 create!
currency currency create!
source_currency currency create
source_amount amount:1
fx_rate rate
network_fees amount:1
destination object create!
 country country !
 account_holder_name text:140 !
 iban text:64
 account_number text:0
 bank_code text:0
 bic text:40
 bank_name text:140 null
 last4 text
reference text:35 create null
failure_reason choice null
failure_message text null
estimated_arrival timestamp
sent_at timestamp null
paid_at timestamp null
failed_at timestamp null
metadata free create
created timestamp
livemode boolean
""",
    "landed_cost_quote": """
id identifier:landed_cost_quote
currency currency create!
shipping object create!
 country country !
 postal_code text:500 null
 name text:500
 line1 text:500
 line2 text:500
 city text:500
 state text:500
 phone text:500
items list:100 create!
 name text:255 !
 hs_code tariff_code null
 origin_country country null
 quantity integer:1 !
 unit_amount amount:0 !
 duty amount:0
 vat amount:0
 duty_rate_bps integer:0
ship_from_country country create
shipping_amount amount:0 create
duty amount:0
vat amount:0
fees amount:0
total amount:0
guaranteed boolean
warnings list:0
 code choice
 item text
 message text
expires_at timestamp
created timestamp
livemode boolean
""",
    "webhook_endpoint": """
id identifier:webhook_endpoint
url url create!
events list:1000 create!
secret text
status choice
description text:200 create null
api_version choice
created timestamp
livemode boolean
""",
    "event": """
id identifier:event
type event_type
created timestamp
livemode boolean
api_version choice
data object
 object object
  id text
  object text
  amount amount:0
""",
    "dispute": """
id identifier:dispute
payment identifier:payment list
order identifier:order
amount amount:1
currency currency
reason choice
status choice list
evidence object update
evidence_status choice
evidence_due_by timestamp
evidence_submitted_at timestamp null
closed_at timestamp null
created timestamp
livemode boolean
submit boolean update
""",
}
EVIDENCE = """
tracking_number shipping_carrier shipping_date shipping_address shipping_documentation customer_name
customer_email customer_purchase_ip customer_communication billing_address product_description
receipt refund_policy refund_refusal_explanation cancellation_policy cancellation_rebuttal
service_date access_activity_log duplicate_payment_id duplicate_explanation uncategorized_text
"""


def lines_of(fields: tuple[Field, ...], depth: int = 0) -> list[str]:
    """The fields as the tables above have them."""
    found = []
    for field in fields:
        given = field.given.split()
        if field.required:
            given = [f"{verb}!" if verb == "create" else verb for verb in given] or ["!"]
        words = [field.name, kind_of(field), *given, *(["null"] if field.nullable else [])]
        found.append(" " * depth + " ".join(words))
        if field.name != "evidence":
            found += lines_of(field.kind.inner, depth + 1)
    return found


def kind_of(field: Field) -> str:
    """A kind in a word, with the figure that a request is held to."""
    kind: Kind = field.kind
    is_typed = bool(field.option or field.given or field.assumed) or "name" in field.name
    match kind.type:
        case "identifier":
            return f"identifier:{kind.of}"
        case "object" if kind.of:
            return f"object:{kind.of}"
        case "amount" | "integer":
            return f"{kind.type}:{kind.minimum}"
        case "list":
            return f"list:{kind.maximum}"
        case "text" if kind.maximum and (is_typed or field.answered == "given"):
            return f"text:{kind.maximum}"
        case "text" if kind.pattern and field.answered == "never":
            return "text:0"
    return kind.type


@pytest.mark.parametrize("name", TABLES)
def test_fields(name: str) -> None:
    """Their order, kinds, bounds, where each may be given, and whether it may be null."""
    noun = service.noun(name)
    assert noun is not None
    assert lines_of(noun.fields) == TABLES[name].strip("\n").splitlines()


def test_evidence() -> None:
    """Keys and texts of at most 20,000 characters."""
    dispute = service.noun("dispute")
    assert dispute is not None
    evidence = next(field for field in dispute.fields if field.name == "evidence")
    assert [field.name for field in evidence.kind.fields] == EVIDENCE.split()
    assert {field.kind.maximum for field in evidence.kind.fields} == {20_000}


# Every set of words; of a status with those that end a wait, and those that mean a failure.
WORDS = {
    "order.status": "requires_payment processing authorized paid cancelled",
    "order.capture_method": "automatic manual",
    "order.cancellation_reason": "duplicate fraudulent requested_by_customer abandoned",
    "order.customs.paid_by": "merchant shopper",
    "payment.status": "processing authorized captured failed cancelled",
    "payment.card.brand": "visa mastercard amex jcb unionpay discover diners",
    "payment.decline_type": "soft hard",
    "payment_method.type": "card",
    "payment_method.card.brand": "visa mastercard amex jcb unionpay discover diners",
    "payment_method.card.network_token": "active suspended unavailable",
    "refund.status": "pending succeeded failed",
    "refund.reason": "duplicate fraudulent requested_by_customer",
    "refund.failure_reason": """
        lost_or_stolen_card expired_or_canceled_card insufficient_funds declined unknown""",
    "payout.status": "created sent paid failed",
    "payout.failure_reason": """
        no_account account_closed account_frozen could_not_process invalid_currency
        incorrect_account_holder_name""",
    "landed_cost_quote.items.origin_country": "XX ZZ",
    "order.items.origin_country": "XX ZZ",
    "landed_cost_quote.warnings.code": """
        hs_code_incomplete origin_country_unknown destination_not_supported""",
    "webhook_endpoint.status": "enabled disabled",
    "webhook_endpoint.api_version": "2026-03-01 2026-09-01",
    "event.api_version": "2026-03-01 2026-09-01",
    "dispute.status": "needs_response under_review won lost",
    "dispute.reason": """
        fraudulent product_not_received product_unacceptable duplicate credit_not_processed
        subscription_canceled unrecognized general""",
    "dispute.evidence_status": "none draft submitted",
}
ENDS = {
    "order": ("paid cancelled", ""),
    "payment": ("captured failed cancelled", "failed"),
    "payment_method": ("", ""),
    "refund": ("succeeded failed", "failed"),
    "payout": ("paid failed", "failed"),
    "landed_cost_quote": ("", ""),
    "webhook_endpoint": ("", ""),
    "event": ("", ""),
    "dispute": ("won lost", ""),
}


def every(fields: tuple[Field, ...], within: str) -> dict[str, Field]:
    """Each field by its path, those inside others too."""
    found = {}
    for field in fields:
        found[f"{within}.{field.name}"] = field
        found |= every(field.kind.inner, f"{within}.{field.name}")
    return found


FOUND = {
    path: field for noun in service.nouns() for path, field in every(noun.fields, noun.name).items()
}


def test_words() -> None:
    """Every word of every choice."""
    described = {path: field.kind.words for path, field in FOUND.items() if field.kind.words}
    assert described == {path: tuple(words.split()) for path, words in WORDS.items()}
    more = {path: field.kind.answered for path, field in FOUND.items() if field.kind.answered}
    assert more == {"order.cancellation_reason": ("authorization_expired",)}


def test_ends() -> None:
    """Which states end a wait, and which mean that it failed."""
    described = {noun.name: (noun.final, noun.failures) for noun in service.nouns()}
    assert described == {
        name: (tuple(final.split()), tuple(failed.split()))
        for name, (final, failed) in ENDS.items()
    }
    for noun in service.nouns():
        assert noun.statuses == tuple(WORDS.get(f"{noun.name}.status", "").split())


# What proves that an answer is the request's own (R93), and what contradicts it (R15).
PROOFS = {
    "order.amount": "equal",
    "order.currency": "equal",
    "order.settlement_currency": "equal",
    "refund.payment": "same",
    "refund.amount": "equal",
    "refund.currency": "equal",
    "payout.amount": "equal",
    "payout.currency": "equal",
    "payout.source_currency": "equal",
    "payout.destination": "same",
    "landed_cost_quote.currency": "equal",
}


def test_proofs() -> None:
    """Money is compared wherever a request says it."""
    assert {path: field.proof for path, field in FOUND.items() if field.proof} == PROOFS


# Which object an empty value cannot unset, what the client leaves to the service, what is set of
# itself, what a group has one of, and whose currency an amount is in.
def test_particulars() -> None:
    """The rest of what a request is held to."""
    assert {path for path, field in FOUND.items() if not field.clearable} == {
        "order.amount",
        "order.capture_method",
        "refund.amount",
        "payout.amount",
        "payout.source_currency",
        "landed_cost_quote.shipping_amount",
    }
    assert {path for path, field in FOUND.items() if field.assumed} == {
        f"{noun}.items.{name}"
        for noun in ("order", "landed_cost_quote")
        for name in ("name", "quantity", "unit_amount")
    }
    assert {path: field.default for path, field in FOUND.items() if field.default is not None} == {
        "order.capture_method": "automatic",
        "payment.retried": False,
        "payment.disputed": False,
        "landed_cost_quote.shipping_amount": 0,
    }
    assert FOUND["payout.destination"].kind.one_of == (("iban",), ("account_number", "bank_code"))
    others = {
        path: field.kind.currency
        for path, field in FOUND.items()
        if field.kind.type == "amount" and field.kind.currency != "currency"
    }
    assert others == {
        "payment.settlement_amount": "settlement_currency",
        "payment.fee": "settlement_currency",
        "payout.source_amount": "source_currency",
        "payout.network_fees": "source_currency",
    }
    assert {path: field.kind.pattern for path, field in FOUND.items() if field.kind.pattern} == {
        "payment.card.last4": "[0-9A-Za-z]{4}",
        "payment_method.card.last4": "[0-9A-Za-z]{4}",
        "payout.destination.account_number": "[0-9]{4,17}",
        "payout.destination.bank_code": "[0-9A-Za-z]{3,12}",
        "payout.destination.last4": "[0-9A-Za-z]{4}",
        "webhook_endpoint.secret": "whsec_[0-9A-Za-z]{32}",
    }


# Of each list: its columns, in their order; those that something inside has are below it.
COLUMNS = {
    "order": "id status amount_total created latest_payment amount_captured amount_refunded "
    "settlement_currency capture_method",
    "payment": "id status amount method created order amount_captured amount_refunded failure_code",
    "payment_method": "id",
    "refund": "id status amount created payment reason order",
    "payout": "id status amount created source_amount reference estimated_arrival",
    "landed_cost_quote": "id guaranteed total expires_at duty vat",
    "webhook_endpoint": "id status url events created",
    "event": "id type created",
    "dispute": "id status amount evidence_due_by reason evidence_status payment",
}
# What a limit of the configuration counts, and which amount holds another.
LIMITS = {
    "orders.capture": "captures",
    "refunds.create": "refunds",
    "payouts.create": "payouts",
    "disputes.accept": "disputes",
}
PARTS = {
    "order.amount_refunded": "amount_captured",
    "payment.amount_refunded": "amount_captured",
}


def test_columns_and_limits() -> None:
    """A column that is lost, or a limit that counts nothing, shows in no story of another noun."""
    for noun in service.nouns():
        listed = sorted((each.column[0], each.name) for each in noun.fields if each.column)
        assert [name for _, name in listed] == COLUMNS[noun.name].split()
    limits = {
        f"{noun.word}.{action.verb}": action.limit
        for noun in service.nouns()
        for action in noun.actions
        if action.limit
    }
    assert limits == LIMITS
    assert {path: field.part_of for path, field in FOUND.items() if field.part_of} == PARTS
    assert [path for path, field in FOUND.items() if field.due_while] == ["dispute.evidence_due_by"]


def test_what_every_event_follows_from() -> None:
    """An audit finds an event by the object that shows it; none is left out."""
    implied = {each.event for noun in service.nouns() for each in noun.implies}
    assert implied == set(EVENT_TYPES)
    for noun in service.nouns():
        assert {each.status for each in noun.implies} - {None, ""} <= {*noun.statuses}, noun.name


def test_an_example_of_a_text_has_its_form() -> None:
    """It is copied from the help, and sent."""
    shown = [(each.kind.pattern, each.example) for each in FOUND.values() if each.example]
    checked = [(pattern, example) for pattern, example in shown if pattern]
    assert len(checked) > 1
    assert [each for each in checked if not re.fullmatch(*each)] == []


def test_countries() -> None:
    """ISO 3166-1 has 249 codes; 27 of them are members of the European Union."""
    assert len(COUNTRIES) == 249
    assert len(EU_COUNTRIES) == 27
    assert EU_COUNTRIES < COUNTRIES
    assert all(len(code) == 2 and code.isupper() for code in COUNTRIES)


# Of each verb: what it does with money, whose money that is, what a batch says and adds up, and
# marks: `all` (without an amount all that there is), `settles`, `twice`, `assumed`.
ACTIONS = {
    "orders.create": "| | create {} orders | amount | twice",
    "orders.update": "| | change {} orders | amount |",
    "orders.cancel": "cancel order {order} | order | cancel {} orders | amount |",
    "orders.capture": "capture order {order} | order | capture {} orders | amount_captured | all",
    "refunds.create": "refund payment {payment} | payment | make {} refunds | amount | all settles twice",
    "refunds.list": "| | | | assumed",
    "payouts.create": "send a payout | | send {} payouts | amount | settles twice",
    "disputes.update": (
        "submit the evidence of dispute {dispute} | dispute | answer {} disputes | |"
    ),
    "disputes.accept": "accept dispute {dispute} as lost | dispute | | | assumed",
    "disputes.retrieve": "| | | | assumed",
    "disputes.list": "| | | | assumed",
}
# The nouns that have no more than these: what a restricted key needs, and the verbs.
VERBS = {
    "order": "orders: create retrieve update cancel capture list",
    "payment": "payments: retrieve list",
    "payment_method": ":",
    "refund": "refunds: create retrieve list",
    "payout": "payouts: create retrieve list",
    "landed_cost_quote": "landed_cost: create retrieve",
    "webhook_endpoint": "webhook_endpoints: create",
    "event": "events: retrieve",
    "dispute": "disputes: update retrieve list accept",
}


def test_actions() -> None:
    """What moves money asks first in live mode (promise R19)."""
    for noun in service.nouns():
        for action in noun.actions:
            marks = {
                "all": action.whole,
                "settles": action.settles,
                "twice": action.twice,
                "assumed": action.assumed,
            }
            told = (
                action.money,
                action.money_of,
                action.rows,
                action.total,
                " ".join(mark for mark, is_so in marks.items() if is_so),
            )
            typed = ACTIONS.get(f"{noun.word}.{action.verb}", "| | | |").split("|")
            assert told == tuple(part.strip() for part in typed), (noun.word, action.verb)
            own = {field.name: field.answered_as for field in action.fields}
            assert own == ({"amount": "amount_captured"} if action.verb == "capture" else {})
            answers = ("payment", "order") if action.verb == "capture" else ()
            assert action.answers == answers
            assert action.permission == ("payments" if action.verb == "capture" else "")


# Of a verb, the values of an answer that mean that what was asked for has failed (promise R117).
FAILS = {
    "orders.cancel": {"status": "requires_payment processing authorized paid"},
    "orders.capture": {"status": "failed", "amount_captured": "0"},
    "refunds.create": {"status": "failed"},
    "payouts.create": {"status": "failed"},
    "disputes.update": {"status": "needs_response", "evidence_status": "none draft"},
}


def test_fails() -> None:
    """Evidence fails only where it was to be submitted."""
    described = {
        f"{noun.word}.{action.verb}": {name: " ".join(words) for name, words in action.fails}
        for noun in service.nouns()
        for action in noun.actions
        if action.fails
    }
    assert described == FAILS
    assert {
        f"{noun.word}.{action.verb}": action.only_with
        for noun in service.nouns()
        for action in noun.actions
        if action.only_with
    } == {"disputes.update": "submit"}


# Of each status its type and its codes; what stands behind the bar is looked at only after the
# idempotency key was looked for, so that such an answer proves that nothing was carried out (R113).
ERRORS = {
    400: """invalid_request_error: http_invalid version_invalid idempotency_key_missing
        idempotency_key_invalid idempotency_key_reused body_invalid | parameter_missing
        parameter_unknown parameter_invalid_empty parameter_invalid_integer parameter_invalid_type
        parameter_too_long parameter_invalid_value parameter_invalid_boolean
        parameter_invalid_timestamp parameters_exclusive currency_invalid currency_unsupported
        country_code_invalid hs_code_invalid amount_too_small amount_too_large iban_invalid
        url_invalid event_type_unknown order_unexpected_state capture_not_allowed
        dispute_unexpected_state payment_disputed payment_not_refundable payment_already_refunded
        balance_insufficient evidence_missing webhook_endpoint_limit sandbox_reset""",
    401: "authentication_error: api_key_missing api_key_invalid https_required api_key_expired |",
    402: "card_error: |",  # of the checkout alone
    403: "permission_error: permission_denied secret_key_required |",
    404: "invalid_request_error: endpoint_unknown | resource_missing",
    405: "invalid_request_error: method_not_allowed |",
    408: "invalid_request_error: request_timeout |",
    409: "idempotency_error: idempotency_key_in_use |",
    413: "invalid_request_error: request_too_large |",
    415: "invalid_request_error: unsupported_media_type |",
    429: "rate_limit_error: rate_limit |",
    500: "api_error: internal_error |",
    502: "api_error: bad_gateway |",
    503: "api_error: service_unavailable |",
    504: "api_error: gateway_timeout |",
    507: "api_error: storage_full |",
}


def test_errors() -> None:
    """Every code, its status, the type of that status, and whether it settles a request."""
    for status, told in ERRORS.items():
        early, late = told.split(":")[1].split("|")
        codes = errors.codes_of(status)
        assert sorted(codes) == sorted((early + late).split())
        assert {one for one in codes if errors.CODES[one].settles} == {*late.split()}
        assert errors.type_of(status) == told.split(":")[0]
    assert {code.status for code in errors.CODES.values()} <= {*ERRORS}
    own_type = {name: code.type for name, code in errors.CODES.items() if code.type}
    assert own_type == {"idempotency_key_reused": "idempotency_error"}


# Names and figures of the assumed contract, and of svc's own sandbox.
FACTS = {
    "REPLAYED_HEADER": "Idempotent-Replayed",
    "REQUEST_ID_HEADER": "Request-Id",
    "EVENT_ID_HEADER": "Svc-Event-Id",
    "DELIVERY_ID_HEADER": "Svc-Delivery-Id",
    "ATTEMPT_HEADER": "Svc-Delivery-Attempt",
    "REDELIVERED_HEADER": "Svc-Redelivered",
    "ORIGINAL_SIGNATURE_HEADER": "Svc-Original-Signature",
    "SANDBOX_HEADER": "Svc-Sandbox",
    "SANDBOX_WORLD_HEADER": "Svc-Sandbox-World",
    "SANDBOX_TIME_HEADER": "Svc-Sandbox-Time",
    "SANDBOX_ROOT": "/_sandbox",
    "VERSIONS": ("2026-03-01", "2026-09-01"),
    "IDEMPOTENCY_KEY_MAX": 255,
    "WEBHOOK_SECRET_GRACE_MAX_SECONDS": 86_400,
    "AMOUNT_MAX": 10**12 - 1,
    "REQUEST_BODY_MAX": 1_048_576,
    "WEBHOOK_BODY_MAX": 1_048_576,
    "SIGNATURE_HEADER_MAX": 4096,
    "SIGNATURES_MAX": 16,
    "SANDBOX_PORT": 4242,
    "INSPECTOR_PORT": 4244,
    "SANDBOX_STATE": "sandbox_state",
    "SANDBOX_STATE_MAX": 2**30,
    "SANDBOX_EXPORT_MAX": 2**34,
    "LIMIT_GROUPS": ("refunds", "payouts", "captures", "disputes"),
}


def test_names_and_figures() -> None:
    """A receiver or a script of somebody's own has them."""
    assert {name: getattr(facts, name) for name in FACTS} == FACTS
    assert {facts.SANDBOX_KEYS[name] for name in facts.SANDBOX_KEYS} == {
        *("sk_test_sandbox", "pk_test_sandbox", "sk_live_sandbox", "pk_live_sandbox"),
        "rk_test_readonly",
    }
    for key in facts.KEY_PREFIXES_IN_BASE64:
        begin = facts.KEY_PREFIXES_IN_BASE64[key]
        assert b64encode(f"{begin}x".encode()).decode().startswith(key)
        assert begin in facts.KEY_PREFIXES
        assert len(begin) == facts.KEY_PREFIX_LENGTH
    assert len(facts.KEY_PREFIXES_IN_BASE64) == len(facts.KEY_PREFIXES)


def test_the_example_of_a_field_is_that_of_its_command() -> None:
    """What the document shows as a body is what help shows as a line to type."""
    shown = " ".join(each.example for noun in service.nouns() for each in noun.actions)
    shown = shown.replace("'", "")
    found = 0
    for name, field in FOUND.items():
        if field.option and field.example and not name.endswith((".account_number", ".bank_code")):
            examples = field.example if isinstance(field.example, list) else [field.example]
            for one in examples:
                option = field.option.split()[0]
                parts = one.items() if isinstance(one, dict) else ()
                pairs = [f"{key}={value}" for key, value in parts] or [f"{option} {one}"]
                assert [pair for pair in pairs if pair not in shown] == [], name
                found += len(pairs)
    assert found > 15


# What states and relations forbid, beyond what a field of the request may be.
REFUSES = {
    "orders.create": "amount_too_large",
    "orders.update": "order_unexpected_state amount_too_large",
    "orders.cancel": "order_unexpected_state",
    "orders.capture": "capture_not_allowed order_unexpected_state amount_too_large",
    "refunds.create": "payment_not_refundable payment_already_refunded payment_disputed "
    "balance_insufficient amount_too_large",
    "payouts.create": "parameters_exclusive parameter_missing iban_invalid balance_insufficient",
    "landed-cost-quotes.create": "amount_too_large",
    "webhook-endpoints.create": "webhook_endpoint_limit",
    "disputes.update": "dispute_unexpected_state evidence_missing",
    "disputes.accept": "dispute_unexpected_state",
}


def test_what_is_refused() -> None:
    """A client that was generated from the document knows no other code of a verb."""
    described = {
        f"{noun.word}.{action.verb}": " ".join(action.refuses)
        for noun in service.nouns()
        for action in noun.actions
        if action.refuses
    }
    assert described == REFUSES
    assert {code for codes in REFUSES.values() for code in codes.split()} <= {*errors.CODES}


def test_verbs() -> None:
    """Every verb of every noun, and its permission."""
    described = {
        noun.name: f"{noun.permission}: {' '.join(action.verb for action in noun.actions)}".strip()
        for noun in service.nouns()
    }
    assert described == VERBS


# How a field is given on a command line, in the order of help.
OPTIONS = {
    "orders.create": """
        --amount --currency --settlement-currency --country --postal-code --item --capture-method
        --metadata""",
    "orders.cancel": "--reason",
    "orders.capture": "--amount",
    "refunds.create": "--payment --amount --reason --metadata",
    "payouts.create": """
        --amount --currency --source-currency --country --account-holder-name --iban
        --account-number --bank-code --bic --bank-name --reference --metadata""",
    "landed-cost-quotes.create": """
        --currency --country --postal-code --item --ship-from-country --shipping-amount""",
    "webhook-endpoints.create": "--url --events --description",
    "disputes.update": "--tracking-number --shipping-carrier --evidence --submit",
}


@pytest.mark.parametrize("operation", OPTIONS)
def test_options(operation: str) -> None:
    """Spelled as scripts have them."""
    found = service.operation(operation)
    assert found is not None
    noun, action = found
    options = [option for field in noun.list_given(action.verb) for option in options_of(field)]
    assert options == OPTIONS[operation].split()


def options_of(field: Field) -> list[str]:
    """Its options, those of what stands inside first."""
    inside = [name for one in field.kind.fields for name in options_of(one)]
    return inside + ([field.option.split()[0]] if field.option else [])
