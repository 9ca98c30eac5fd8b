"""The error answers of the documented API: one response a status, with the codes it may carry."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from svc.sandbox.parameters.schema import TEXT, Schema, identifier, strict
from svc.sandbox.parameters.tables import Codes, codes_of
from svc.sandbox.resources.operation import ApiOperation
from svc.spec import ID_PREFIXES, REQUEST_ID_HEADER, VERSION_HEADER, VERSIONS

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


def refusals_of(operation: ApiOperation) -> Codes:
    """The codes of type `invalid_request_error` that an operation answers with status 400."""
    codes = _ALWAYS | codes_of(operation.fields) | operation.refuses
    if operation.method == "POST":
        return codes | _WRITING
    # A list starts after an object; a cursor that names none is 400 (assumptions: Error codes).
    return codes | {"resource_missing"} if operation.kind is None else codes


_REQUEST_ID: Final = identifier(ID_PREFIXES["request"])
JSON: Final = "application/json"

EVERY_ANSWER: Final[dict[str, Any]] = {
    REQUEST_ID_HEADER: {"required": True, "schema": _REQUEST_ID},
    VERSION_HEADER: {"required": True, "schema": {"type": "string", "enum": list(VERSIONS)}},
}
_MORE_HEADERS: Final[dict[int, dict[str, Any]]] = {
    401: {"WWW-Authenticate": {"required": True, "schema": TEXT}},
    405: {"Allow": {"required": True, "schema": TEXT}},
    429: {"Retry-After": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
    503: {"Retry-After": {"schema": {"type": "integer", "minimum": 0}}},
}
_MEANINGS: Final = {
    400: "The request is refused; nothing was done.",
    401: "No key, an unknown or expired key, or plain HTTP.",
    403: "The key may not do this.",
    404: "There is no such object in this mode, or no such endpoint.",
    405: "The path does not take this method.",
    408: "The body was not there in time.",
    409: "A request with this idempotency key is running; try again.",
    413: "The body has more than 1 MiB.",
    415: "The body is neither JSON nor a form.",
    429: "Too many requests.",
    500: "Something went wrong inside.",
    502: "Something went wrong inside.",
    503: "The service is not available now.",
    504: "Something inside took too long.",
}
_POST_ONLY: Final = (408, 409, 413, 415)


def responses() -> dict[str, Any]:
    """The responses that operations share, by status; 400 is each operation's own."""
    return {
        str(status): response(status, error(kind, codes))
        for status, (kind, codes) in BY_STATUS.items()
    }


def refused(operation: ApiOperation) -> dict[str, Any]:
    """Every error response of an operation."""
    codes = refusals_of(operation)
    schema = error(INVALID_REQUEST, sorted(codes))
    if operation.method == "POST":
        reused = error(IDEMPOTENCY, (KEY_REUSED,))
        schema = {"oneOf": [schema, reused]}
    shared = [s for s in BY_STATUS if operation.method == "POST" or s not in _POST_ONLY]
    return {
        "400": response(400, schema),
        **{str(s): {"$ref": f"#/components/responses/{s}"} for s in shared},
    }


def response(status: int, schema: Schema) -> dict[str, Any]:
    """One error response."""
    return {
        "description": _MEANINGS[status],
        "headers": {**EVERY_ANSWER, **_MORE_HEADERS.get(status, {})},
        "content": {JSON: {"schema": schema}},
    }


def error(kind: str, codes: Iterable[str]) -> Schema:
    """The flat error body; which of the optional fields are there says the code."""
    return strict(
        {
            "type": {"const": kind},
            "code": {"type": "string", "enum": list(codes)},
            "message": {"type": "string", "minLength": 1},
            "param": TEXT,
            "current_status": TEXT,
            "request_id": _REQUEST_ID,
        },
        optional=("param", "current_status"),
    )
