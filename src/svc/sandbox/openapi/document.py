"""Builds the OpenAPI document of `/v1` from the tables of operations and fields (promise R88).

`OPERATIONS` collects the operations of all nouns of `resources`: `app` routes `/v1` requests by
them, and has `control` serve the document. Tests of other tools send requests by it.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final

from svc import service
from svc.sandbox.api.idempotency import KEY_PATTERN
from svc.sandbox.openapi import errors
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
    ref,
)
from svc.sandbox.parameters.tables import Object, Parameter, schema_of
from svc.sandbox.resources.operation import ID, ApiOperation
from svc.sandbox.store.documents import Doc
from svc.service import events as event
from svc.service.facts import (
    ATTEMPT_HEADER,
    DELIVERY_ID_HEADER,
    EVENT_ID_HEADER,
    EVENT_TYPES,
    IDEMPOTENCY_HEADER,
    LIMIT_MAX,
    NOUNS,
    REPLAYED_HEADER,
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


def _list(name: str) -> Schema:
    return build_strict(
        {
            "object": {"const": "list"},
            "url": {"type": "string"},
            "data": {"type": "array", "items": ref(name), "maxItems": LIMIT_MAX},
            "has_more": BOOLEAN,
        }
    )


def _objects() -> dict[str, Schema]:
    """The schemas of all objects and lists, by name; an answer has exactly their fields."""
    found: dict[str, Schema] = {}
    for noun in service.nouns():
        name = schema_name(noun.name)
        found[name] = answer(noun)
        if any(field.answered == "create" for field in noun.fields):
            found[f"New{name}"] = answer(noun, made=True)
        if noun.action("list") is not None:
            found[f"{name}List"] = _list(name)
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
    """The name of the schema of an event type, such as `OrderPaidEvent`."""
    return f"{schema_name(kind.replace('.', '_'))}Event"


def document(operations: Iterable[ApiOperation] = OPERATIONS) -> Doc:
    """Builds the document as JSON; equal tables give equal documents.

    Raises:
        KeyError, TypeError: an operation or a kind of value has no description.
    """
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cross-border order service (sandbox)",
            "version": VERSIONS[-1],
            "description": _ABOUT,
        },
        "servers": [{"url": "/"}],
        "security": [{"basic": []}, {"bearer": []}],
        "paths": _paths(operations),
        "webhooks": {kind: {"post": _delivery(kind)} for kind in EVENT_TYPES},
        "components": {
            "schemas": {**SHARED, **_objects(), **_events()},
            "responses": errors.responses(),
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


def _paths(operations: Iterable[ApiOperation]) -> Doc:
    paths: Doc = {}
    for operation in operations:
        path = operation.path.replace(ID, "{id}")
        paths.setdefault(path, {})[operation.method.lower()] = _describe(operation)
    return paths


def _delivery(kind: str) -> Doc:
    """Describes the webhook of an event type."""
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
        "responses": {"200": _describe_answer(operation), **errors.describe_errors(operation)},
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
        "headers": {**errors.EVERY_ANSWER, **replayed},
        "content": {errors.JSON: {"schema": ref(operation.answer)}},
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
