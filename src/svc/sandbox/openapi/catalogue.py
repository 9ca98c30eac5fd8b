"""The error catalogue of the documented API: which codes an answer may carry."""

from collections.abc import Mapping
from typing import Final

from svc.sandbox import checks
from svc.sandbox.operations import Operation
from svc.sandbox.params import Field, Fields, Kind, ListOf, Object

Codes = frozenset[str]

INVALID_REQUEST: Final = "invalid_request_error"
IDEMPOTENCY: Final = "idempotency_error"

# Every status but 400: its type and its codes.
BY_STATUS: Final[Mapping[int, tuple[str, tuple[str, ...]]]] = {
    401: (
        "authentication_error",
        ("https_required", "api_key_missing", "api_key_invalid", "api_key_expired"),
    ),
    403: ("permission_error", ("permission_denied", "secret_key_required")),
    404: (INVALID_REQUEST, ("resource_missing", "endpoint_unknown")),
    405: (INVALID_REQUEST, ("method_not_allowed",)),
    409: (IDEMPOTENCY, ("idempotency_key_in_use",)),
    408: (INVALID_REQUEST, ("request_timeout",)),
    413: (INVALID_REQUEST, ("request_too_large",)),
    415: (INVALID_REQUEST, ("unsupported_media_type",)),
    429: ("rate_limit_error", ("rate_limit",)),
    500: ("api_error", ("internal_error",)),
    502: ("api_error", ("bad_gateway",)),
    503: ("api_error", ("service_unavailable",)),
    504: ("api_error", ("gateway_timeout",)),
}
KEY_REUSED: Final = "idempotency_key_reused"

_ALWAYS: Final = frozenset({"version_invalid", "parameter_unknown", "body_invalid", "http_invalid"})
_WRITING: Final = frozenset({"idempotency_key_invalid"})
_STRING: Final = frozenset({"parameter_invalid_type"})
_NUMBER: Final = frozenset({"parameter_invalid_integer"})
_LIST: Final = _STRING | {"parameter_too_long", "parameter_invalid_empty"}

# What an operation refuses beyond its parameter table: relations and states.
OWN: Final[Mapping[str, Codes]] = {
    "POST /v1/orders": frozenset({"amount_too_large"}),
    "POST /v1/orders/:id": frozenset({"order_unexpected_state", "amount_too_large"}),
    "POST /v1/orders/:id/cancel": frozenset({"order_unexpected_state"}),
    "POST /v1/orders/:id/capture": frozenset(
        {"capture_not_allowed", "order_unexpected_state", "amount_too_large"}
    ),
    "POST /v1/refunds": frozenset(
        {
            "payment_not_refundable",
            "payment_already_refunded",
            "payment_disputed",
            "amount_too_large",
        }
    ),
    "POST /v1/payouts": frozenset(
        {"parameters_exclusive", "parameter_missing", "iban_invalid", "balance_insufficient"}
    ),
    "POST /v1/landed-cost/quotes": frozenset({"amount_too_large"}),
    "POST /v1/webhook_endpoints": frozenset({"webhook_endpoint_limit"}),
    "POST /v1/disputes/:id": frozenset({"dispute_unexpected_state", "evidence_missing"}),
    "POST /v1/disputes/:id/accept": frozenset({"dispute_unexpected_state"}),
}
_NO_CODES: Final[Codes] = frozenset()


def refusals_of(operation: Operation) -> Codes:
    """The codes of type `invalid_request_error` that an operation answers with status 400."""
    codes = _ALWAYS | codes_of(operation.fields) | own(operation)
    if operation.method == "POST":
        return codes | _WRITING
    # A list starts after an object; a cursor that names none is 400 (assumptions: Error codes).
    return codes | {"resource_missing"} if operation.kind is None else codes


def own(operation: Operation) -> Codes:
    """What no parameter table can say."""
    return OWN.get(f"{operation.method} {operation.path}", _NO_CODES)


def codes_of(fields: Fields) -> Codes:
    """The codes that a parameter table can answer with."""
    return _NO_CODES.union(*map(_codes_of_field, fields))


def _codes_of_field(field: Field) -> Codes:
    codes = codes_of_kind(field.kind)
    if field.required:
        return codes | {"parameter_missing", "parameter_invalid_empty"}
    return codes if field.clearable else codes | {"parameter_invalid_empty"}


def codes_of_kind(kind: Kind) -> Codes:
    """The codes that a kind of value can answer with.

    Raises:
        KeyError: a kind that nobody has looked at yet.
    """
    if isinstance(kind, Object):
        return _STRING | codes_of(kind.fields)
    if isinstance(kind, ListOf):
        return _LIST | codes_of_kind(kind.kind)
    return _BY_KIND[type(kind)]


_BY_KIND: Final[Mapping[type[Kind], Codes]] = {
    checks.Text: _STRING | {"parameter_too_long"},
    checks.Shaped: _STRING | {"parameter_invalid_value"},
    checks.Choice: _STRING | {"parameter_invalid_value"},
    checks.Integer: _NUMBER,
    checks.Amount: _NUMBER | {"amount_too_small", "amount_too_large"},
    checks.Boolean: frozenset({"parameter_invalid_boolean"}),
    checks.Timestamp: _STRING | {"parameter_invalid_timestamp"},
    checks.Currency: _STRING | {"currency_invalid", "currency_unsupported"},
    checks.Country: _STRING | {"country_code_invalid"},
    checks.HsCode: _STRING | {"hs_code_invalid"},
    checks.EventType: _STRING | {"event_type_unknown"},
    checks.Url: _STRING | {"url_invalid"},
    checks.Metadata: _STRING | {"parameter_too_long", "parameter_invalid_empty"},
}
