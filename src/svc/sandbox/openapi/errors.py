"""The error answers in the OpenAPI document: one for each status, with its possible codes.

`document` adds them to each operation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from svc.sandbox.parameters import tables
from svc.sandbox.parameters.schema import TEXT, Schema, build_strict, identifier
from svc.sandbox.parameters.tables import Codes
from svc.sandbox.resources.operation import ApiOperation
from svc.service.errors import IDEMPOTENCY, codes_of, type_of
from svc.service.facts import ID_PREFIXES, REQUEST_ID_HEADER, VERSION_HEADER, VERSIONS


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """What a status means, and the headers that come with it."""

    meaning: str
    headers: Mapping[str, Any] = field(default_factory=dict)
    post_only: bool = False


def _header(schema: Schema) -> Schema:
    return {"required": True, "schema": schema}


# Every status but 400, whose codes are each operation's own.
BY_STATUS: Final[Mapping[int, ErrorAnswer]] = {
    401: ErrorAnswer(
        "No key, an unknown or expired key, or plain HTTP.", {"WWW-Authenticate": _header(TEXT)}
    ),
    403: ErrorAnswer("The key may not do this."),
    404: ErrorAnswer("There is no such object in this mode, or no such endpoint."),
    405: ErrorAnswer("The path does not take this method.", {"Allow": _header(TEXT)}),
    409: ErrorAnswer("A request with this idempotency key is running; try again.", post_only=True),
    408: ErrorAnswer("The body was not there in time.", post_only=True),
    413: ErrorAnswer("The body has more than 1 MiB.", post_only=True),
    415: ErrorAnswer("The body is neither JSON nor a form.", post_only=True),
    429: ErrorAnswer(
        "Too many requests.", {"Retry-After": _header({"type": "integer", "minimum": 1})}
    ),
    500: ErrorAnswer("Something went wrong inside."),
    502: ErrorAnswer("Something went wrong inside."),
    503: ErrorAnswer(
        "The service is not available now.",
        {"Retry-After": {"schema": {"type": "integer", "minimum": 0}}},
    ),
    504: ErrorAnswer("Something inside took too long."),
    507: ErrorAnswer("The disk is full; nothing was done.", post_only=True),
}
KEY_REUSED: Final = "idempotency_key_reused"

_ALWAYS: Final = frozenset(
    {"version_invalid", "parameter_unknown", "body_invalid", "http_invalid", "sandbox_reset"}
)
_WRITING: Final = frozenset({"idempotency_key_invalid", "idempotency_key_missing"})


def refusals_of(operation: ApiOperation) -> Codes:
    """The codes of type `invalid_request_error` that an operation answers with status 400."""
    codes = _ALWAYS | tables.codes_of(operation.fields) | operation.refuses
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


def responses() -> dict[str, Any]:
    """The responses that operations share, by status; 400 is each operation's own."""
    return {
        str(status): response(
            answer.meaning, error(type_of(status), codes_of(status)), answer.headers
        )
        for status, answer in BY_STATUS.items()
    }


def describe_errors(operation: ApiOperation) -> dict[str, Any]:
    """Every error response of an operation."""
    codes = refusals_of(operation)
    schema, writes = error(type_of(400), sorted(codes)), operation.method == "POST"
    if writes:
        schema = {"oneOf": [schema, error(IDEMPOTENCY, (KEY_REUSED,))]}
    shared = [status for status, answer in BY_STATUS.items() if writes or not answer.post_only]
    return {
        "400": response("The request is refused; nothing was done.", schema),
        **{str(s): {"$ref": f"#/components/responses/{s}"} for s in shared},
    }


def response(
    meaning: str, schema: Schema, headers: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """One error response; `headers` are those that it has beside the usual ones."""
    return {
        "description": meaning,
        "headers": {**EVERY_ANSWER, **headers},
        "content": {JSON: {"schema": schema}},
    }


def error(kind: str, codes: Iterable[str]) -> Schema:
    """The flat error body; which of the optional fields are there says the code."""
    return build_strict(
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
