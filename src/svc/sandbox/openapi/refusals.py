"""Error answers in the document: one response a status, with the codes that it may carry."""

from collections.abc import Iterable
from typing import Any, Final

from svc.sandbox.openapi import catalogue
from svc.sandbox.openapi.shapes import TEXT, Schema, identifier, strict
from svc.sandbox.operations import Operation
from svc.spec import ID_PREFIXES, REQUEST_ID_HEADER, VERSION_HEADER, VERSIONS

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
        for status, (kind, codes) in catalogue.BY_STATUS.items()
    }


def refused(operation: Operation) -> dict[str, Any]:
    """Every error response of an operation."""
    codes = catalogue.refusals_of(operation)
    schema = error(catalogue.INVALID_REQUEST, sorted(codes))
    if operation.method == "POST":
        reused = error(catalogue.IDEMPOTENCY, (catalogue.KEY_REUSED,))
        schema = {"oneOf": [schema, reused]}
    shared = [s for s in catalogue.BY_STATUS if operation.method == "POST" or s not in _POST_ONLY]
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
