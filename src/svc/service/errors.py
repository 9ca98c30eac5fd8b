"""Every error code of the API, with its HTTP status and its meaning (spec: Errors).

`client.refusal` looks up the code of an error answer for a hint, and whether the code shows that
nothing was carried out. The sandbox answers with these codes; its OpenAPI document, its fault rules
and `svc help assumptions` list them. The exit code of a refused command follows from the status:
`ERROR_OF_STATUS` in `svc/errors.py`.
"""

from typing import Final, NamedTuple


class ErrorCode(NamedTuple):
    """One code of an error answer.

    Attributes:
        status: the HTTP status of the answer.
        meaning: what is wrong, as a part of a sentence.
        hint: what to do, where changing the request does not help; else empty.
        settles: the service checks for this error only after it has looked for the idempotency
            key: an answer with the code shows that nothing was carried out under that key
            (promises R94, R113).
        type: the error's type, where it is not the usual one of its status.
    """

    status: int
    meaning: str
    hint: str = ""
    settles: bool = False
    type: str = ""


def _build_late(meaning: str, status: int = 400) -> ErrorCode:
    """A code of what the service looks at last."""
    return ErrorCode(status, meaning, settles=True)


INVALID: Final = "invalid_request_error"
IDEMPOTENCY: Final = "idempotency_error"
TYPES: Final = {
    401: "authentication_error",
    402: "card_error",
    403: "permission_error",
    409: IDEMPOTENCY,
    429: "rate_limit_error",
}


def type_of(status: int) -> str:
    """The type of an error with this status, where its code has none of its own."""
    return TYPES.get(status) or (INVALID if status < 500 else "api_error")  # noqa: PLR2004


CODES: Final[dict[str, ErrorCode]] = {
    "http_invalid": ErrorCode(400, "the request is not valid HTTP/1.1"),
    "version_invalid": ErrorCode(
        400,
        "not one of the known versions",
        "Leave --api-version out to use the account's own version.",
    ),
    "idempotency_key_missing": ErrorCode(400, "none was sent, where a setting asks for one"),
    "idempotency_key_invalid": ErrorCode(400, "not 1 to 255 printable characters"),
    "idempotency_key_reused": ErrorCode(
        400,
        "the key belongs to another request",
        "The key was used with another request; use a new key for this one.",
        type=IDEMPOTENCY,
    ),
    "body_invalid": ErrorCode(400, "cannot be read, or names a member or field twice"),
    "parameter_missing": _build_late("a required field is absent"),
    "parameter_unknown": _build_late("a field that is in no table"),
    "parameter_invalid_empty": _build_late("empty where a value is needed"),
    "parameter_invalid_integer": _build_late("not an integer, or out of its range"),
    "parameter_invalid_type": _build_late("the wrong JSON type"),
    "parameter_too_long": _build_late("too long or too many"),
    "parameter_invalid_value": _build_late("not one of the allowed values"),
    "parameter_invalid_boolean": _build_late("neither true nor false"),
    "parameter_invalid_timestamp": _build_late("not a timestamp"),
    "parameters_exclusive": _build_late("both or neither of two ways to say it"),
    "currency_invalid": _build_late("not an ISO 4217 code in upper case"),
    "currency_unsupported": _build_late("no rate in the sandbox"),
    "country_code_invalid": _build_late("not an ISO 3166-1 code"),
    "hs_code_invalid": _build_late("not a tariff code"),
    "amount_too_small": _build_late("below 1, or below 0 for a price"),
    "amount_too_large": _build_late("above the maximum or what is left"),
    "iban_invalid": _build_late("wrong check digits, length or country"),
    "url_invalid": _build_late("not the address of a receiver"),
    "event_type_unknown": _build_late("not an event type; * is none"),
    "order_unexpected_state": _build_late("with current_status"),
    "capture_not_allowed": _build_late("the order's capture_method is not manual"),
    "dispute_unexpected_state": _build_late("with current_status"),
    "payment_disputed": _build_late("no refund while a dispute holds the money"),
    "payment_not_refundable": _build_late("it was not captured"),
    "payment_already_refunded": _build_late("nothing is left"),
    "balance_insufficient": _build_late("the balance is short"),
    "evidence_missing": _build_late("nothing to submit"),
    "webhook_endpoint_limit": _build_late("16 are enabled already"),
    "sandbox_reset": _build_late("a fault rule held the request back until after a reset"),
    "api_key_missing": ErrorCode(401, "no key"),
    "api_key_invalid": ErrorCode(401, "an unknown key"),
    "https_required": ErrorCode(401, "plain HTTP", "Use an https:// base URL."),
    "api_key_expired": ErrorCode(
        401,
        "a rolled key whose grace is over",
        "The key was rolled and its old value no longer works: svc keys add",
    ),
    "permission_denied": ErrorCode(403, "outside a restricted key's permissions"),
    "secret_key_required": ErrorCode(
        403,
        "a publishable key",
        "Use a secret or restricted key; a publishable key cannot read or change data.",
    ),
    "resource_missing": _build_late("no such object in this mode; 400 for a cursor", 404),
    "endpoint_unknown": ErrorCode(404, "no such path"),
    "method_not_allowed": ErrorCode(405, "with Allow"),
    "request_timeout": ErrorCode(408, "a body or head that does not come in 10 seconds"),
    "idempotency_key_in_use": ErrorCode(409, "its request is running: try again"),
    "request_too_large": ErrorCode(413, "a body over 1 MiB"),
    "unsupported_media_type": ErrorCode(415, "neither JSON nor a form"),
    "rate_limit": ErrorCode(429, "with Retry-After; that 429 exists is stated"),
    "internal_error": ErrorCode(500, "that 5xx exist is stated"),
    "bad_gateway": ErrorCode(502, "on demand only"),
    "service_unavailable": ErrorCode(503, "on demand, and where a stop cuts a request off"),
    "gateway_timeout": ErrorCode(504, "on demand only"),
    "storage_full": ErrorCode(507, "the disk is full; nothing was done"),
}


def codes_of(status: int) -> tuple[str, ...]:
    """The codes that an answer with this status may have."""
    return tuple(name for name, code in CODES.items() if code.status == status)
