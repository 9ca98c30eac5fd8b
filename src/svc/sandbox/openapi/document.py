"""Builds the OpenAPI document of `/v1` from the tables of operations and fields (promise R88).

`OPERATIONS` collects the operations of all nouns of `resources`: `app` routes `/v1` requests by
them, and has `control` serve the document. Tests of other tools send requests by it. Each operation
has its error answers: one for each status, with its possible codes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from svc import service
from svc.sandbox.api.idempotency import KEY_PATTERN
from svc.sandbox.parameters import tables
from svc.sandbox.parameters.bodies import FORM_TYPE, JSON_TYPE
from svc.sandbox.parameters.described import answer, schema_name
from svc.sandbox.parameters.kinds import Metadata
from svc.sandbox.parameters.schema import (
    BLANK,
    BOOLEAN,
    EMPTY,
    SHARED,
    TEXT,
    Schema,
    build_strict,
    identifier,
    ref,
)
from svc.sandbox.parameters.tables import Codes, Object, Parameter, schema_of
from svc.sandbox.resources.operation import ID, ApiOperation
from svc.sandbox.store.documents import Doc
from svc.service import events as event
from svc.service.errors import IDEMPOTENCY, codes_of, type_of
from svc.service.facts import (
    ATTEMPT_HEADER,
    DELIVERY_ID_HEADER,
    EVENT_ID_HEADER,
    EVENT_TYPES,
    ID_PREFIXES,
    IDEMPOTENCY_HEADER,
    LIMIT_MAX,
    NEWEST_VERSION,
    NOUNS,
    REPLAYED_HEADER,
    REQUEST_ID_HEADER,
    SIGNATURE_HEADER,
    VERSION_HEADER,
    VERSIONS,
)

# In the specification's order; the resource is what a restricted key needs.
OPERATIONS: Final[tuple[ApiOperation, ...]] = tuple(
    operation
    for name, noun in NOUNS.items()
    if noun.summary
    for operation in import_module(f"svc.sandbox.resources.{name}s").OPERATIONS
)
_ABOUT: Final = (
    "A local sandbox of the cross-border order service. Where the service's specification is "
    "silent this document shows what the sandbox does; `svc help assumptions` tells the two apart. "
    "Every POST takes JSON or a form; in forms, nested names are written in brackets: "
    "`shipping[country]=DE`, `items[0][name]=Jacket`, `events[]=order.paid`."
)
_ID: Final[Doc] = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "pattern": "^[^/]+$"},
}
_VERSION: Final[Doc] = {
    "name": VERSION_HEADER,
    "in": "header",
    "description": "Tries another version for this request.",
    "schema": {"type": "string", "enum": list(VERSIONS)},
}
_IDEMPOTENCY_KEY: Final[Doc] = {
    "name": IDEMPOTENCY_HEADER,
    "in": "header",
    "description": "A retry with the same key within 24 hours returns the original result.",
    "schema": {"type": "string", "pattern": f"^{KEY_PATTERN}$"},
}
_REPLAYED: Final[Doc] = {
    REPLAYED_HEADER: {
        "description": "There when the result of an earlier request is returned.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}


# The section of the specification that each permission is about.
_TAGS: Final = {noun.permission: noun.section for noun in service.nouns()}
_FIRST: Final = "$response.body#/data/0/id"
_OWN: Final = "$response.body#/id"
# Which operations take the id of what another one answers.
_FOLLOWING: Final[Mapping[str, tuple[str, ...]]] = {
    schema_name(noun.name): tuple(each.id for each in OPERATIONS if each.kind == noun.name)
    for noun in service.nouns()
}


def _objects() -> dict[str, Schema]:
    """The schemas of all objects and lists, by name; an answer has exactly their fields."""
    found: dict[str, Schema] = {}
    for noun in service.nouns():
        name = schema_name(noun.name)
        found[name] = answer(noun)
        if any(field.answered == "create" for field in noun.fields):
            found[f"New{name}"] = answer(noun, made=True)
        if noun.action("list") is not None:
            found[f"{name}List"] = build_strict(
                {
                    "object": {"const": "list"},
                    "url": {"type": "string"},
                    "data": {"type": "array", "items": ref(name), "maxItems": LIMIT_MAX},
                    "has_more": BOOLEAN,
                }
            )
    return found


def _events() -> dict[str, Schema]:
    """The schemas of all event types with their objects, and their union."""
    shape = answer(event.RESOURCE)["properties"]
    found: dict[str, Schema] = {}
    for kind in EVENT_TYPES:
        data = build_strict({"object": ref(schema_name(kind.partition(".")[0]))})
        found[_name_of(kind)] = build_strict({**shape, "type": {"const": kind}, "data": data})
    mapping = {kind: ref(_name_of(kind))["$ref"] for kind in EVENT_TYPES}
    either = [{"$ref": target} for target in mapping.values()]
    one = {"oneOf": either, "discriminator": {"propertyName": "type", "mapping": mapping}}
    return {**found, "Event": one}


def _name_of(kind: str) -> str:
    return f"{schema_name(kind.replace('.', '_'))}Event"


def document(operations: Iterable[ApiOperation] = OPERATIONS) -> Doc:
    """Builds the document as JSON; equal tables give equal documents.

    Raises:
        KeyError, TypeError: an operation or a kind of value has no description.
    """
    paths: Doc = {}
    for operation in operations:
        path = operation.path.replace(ID, "{id}")
        paths.setdefault(path, {})[operation.method.lower()] = _describe(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cross-border order service (sandbox)",
            "version": NEWEST_VERSION,
            "description": _ABOUT,
        },
        "servers": [{"url": "/"}],
        "security": [{"basic": []}, {"bearer": []}],
        "paths": paths,
        "webhooks": {kind: {"post": _delivery(kind)} for kind in EVENT_TYPES},
        "components": {
            "schemas": {**SHARED, **_objects(), **_events()},
            "responses": responses(),
            "securitySchemes": {
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "The key is the user name; the password is empty.",
                },
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _delivery(kind: str) -> Doc:
    return {
        "summary": f"A delivery of {kind}, signed over its raw bytes.",
        "tags": [event.RESOURCE.section],
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": TEXT}
            for name in (SIGNATURE_HEADER, EVENT_ID_HEADER, DELIVERY_ID_HEADER, ATTEMPT_HEADER)
        ],
        "requestBody": {
            "required": True,
            "content": {JSON_TYPE: {"schema": ref(_name_of(kind))}},
        },
        "responses": {"2XX": {"description": "Taken; anything else is a failure, and repeated."}},
    }


def _describe(operation: ApiOperation) -> Doc:
    described = {
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [_TAGS[operation.permission]],
        "parameters": _parameters(operation),
        "responses": {"200": _describe_answer(operation), **describe_errors(operation)},
    }
    if operation.method == "POST":
        described["requestBody"] = _body(operation)
    return described


def _parameters(operation: ApiOperation) -> list[Doc]:
    path = [_ID] if ID in operation.path else []
    if operation.method == "POST":
        return [*path, _VERSION, _IDEMPOTENCY_KEY]
    return [*path, _VERSION, *map(_query, operation.fields)]


def _query(field: Parameter) -> Doc:
    nested = {"style": "deepObject", "explode": True} if isinstance(field.kind, Object) else {}
    return {"name": field.name, "in": "query", **nested, "schema": field.kind.schema(BLANK)}


def _body(operation: ApiOperation) -> Doc:
    schema = schema_of(operation.fields, EMPTY, partial=operation.partial)
    form = schema_of(operation.fields, BLANK, partial=operation.partial)
    example = {"example": operation.example} if operation.example else {}
    nested = {
        field.name: {"style": "deepObject", "explode": True}
        for field in operation.fields
        if isinstance(field.kind, Object | Metadata)
    }
    encoding = {"encoding": nested} if nested else {}
    return {
        "required": "required" in schema,
        "content": {
            JSON_TYPE: {"schema": schema, **example},
            FORM_TYPE: {"schema": form, **encoding},
        },
    }


def _describe_answer(operation: ApiOperation) -> Doc:
    replayed = _REPLAYED if operation.method == "POST" else {}
    shown = {
        "description": "Done.",
        "headers": {**EVERY_ANSWER, **replayed},
        "content": {JSON_TYPE: {"schema": ref(operation.answer)}},
    }
    links = _links_from(operation.answer)
    return {**shown, "links": links} if links else shown


def _links_from(answer: str) -> dict[str, Any]:
    """The OpenAPI links of an answer: the operations that take one of its ids."""
    single = answer.removesuffix("List").removeprefix("New")
    place = _FIRST if single != answer else _OWN
    links = {
        target: {"operationId": target, "parameters": {"id": place}}
        for target in _FOLLOWING.get(single, ())
    }
    if single == "Payment":
        links["createRefund"] = {"operationId": "createRefund", "requestBody": {"payment": place}}
    return links


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
        "content": {JSON_TYPE: {"schema": schema}},
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
