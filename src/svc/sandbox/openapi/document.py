"""The OpenAPI document of the `/v1` surface (promise R88), put together from the tables."""

from collections.abc import Iterable
from typing import Final

from svc.sandbox.bodies import FORM_TYPE, JSON_TYPE
from svc.sandbox.checks import Metadata
from svc.sandbox.documents import Doc
from svc.sandbox.openapi import refusals
from svc.sandbox.openapi.inputs import schema_of, table
from svc.sandbox.openapi.names import Name, links_from, name_of
from svc.sandbox.openapi.objects import OBJECTS
from svc.sandbox.openapi.shapes import BLANK, EMPTY, SHARED, Schema, ref
from svc.sandbox.operations import ID, Operation
from svc.sandbox.params import Field, Object
from svc.spec import IDEMPOTENCY_HEADER, REPLAYED_HEADER, VERSION_HEADER, VERSIONS

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
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
_REPLAYED: Final[Doc] = {
    REPLAYED_HEADER: {
        "description": "There when the result of an earlier request is returned.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}


def document(operations: Iterable[Operation]) -> Doc:
    """The whole document as JSON; equal tables give equal documents.

    Raises:
        KeyError, TypeError: an operation or a kind of value is not described yet.
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
        "components": {
            "schemas": {**SHARED, **OBJECTS},
            "responses": refusals.responses(),
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


def _paths(operations: Iterable[Operation]) -> Doc:
    paths: Doc = {}
    for operation in operations:
        path = operation.path.replace(ID, "{id}")
        paths.setdefault(path, {})[operation.method.lower()] = _described(operation)
    return paths


def _described(operation: Operation) -> Doc:
    name = name_of(operation)
    described = {
        "operationId": name.id,
        "summary": name.summary,
        "tags": [name.tag],
        "parameters": _parameters(operation),
        "responses": {"200": _answer(operation, name), **refusals.refused(operation)},
    }
    if operation.method == "POST":
        described["requestBody"] = _body(operation, name)
    return described


def _parameters(operation: Operation) -> list[Doc]:
    path = [_ID] if ID in operation.path else []
    if operation.method == "POST":
        return [*path, _VERSION, _IDEMPOTENCY_KEY]
    return [*path, _VERSION, *map(_query, operation.fields)]


def _query(field: Field) -> Doc:
    nested = {"style": "deepObject", "explode": True} if isinstance(field.kind, Object) else {}
    return {"name": field.name, "in": "query", **nested, "schema": schema_of(field.kind, BLANK)}


def _body(operation: Operation, name: Name) -> Doc:
    schema = table(operation.fields, EMPTY, partial=operation.partial)
    form = table(operation.fields, BLANK, partial=operation.partial)
    example = {"example": name.example} if name.example else {}
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


def _answer(operation: Operation, name: Name) -> Doc:
    replayed = _REPLAYED if operation.method == "POST" else {}
    answer: Schema = ref(name.answer)
    shown = {
        "description": "Done.",
        "headers": {**refusals.EVERY_ANSWER, **replayed},
        "content": {refusals.JSON: {"schema": answer}},
    }
    links = links_from(name.answer)
    return {**shown, "links": links} if links else shown
