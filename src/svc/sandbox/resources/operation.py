"""Operations as data: what a method and path ask for, and what is needed for it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from svc.sandbox.parameters.kinds import Integer, Text, Timestamp
from svc.sandbox.parameters.problems import Problem, resource_missing
from svc.sandbox.parameters.tables import NO_CODES, Codes, Fields, Object, Parameter, Params
from svc.sandbox.store.documents import Doc, public
from svc.sandbox.store.transaction import Transaction
from svc.spec import LIMIT_DEFAULT, LIMIT_MAX

ID: Final = ":id"
_BOUNDS: Final = ("gte", "gt", "lte", "lt")
_PAGING: Final = (
    Parameter("limit", Integer(1, LIMIT_MAX), clearable=False),
    Parameter("starting_after", Text(), clearable=False),
)
_CREATED: Final = Parameter(
    "created",
    Object(tuple(Parameter(name, Timestamp(), clearable=False) for name in _BOUNDS)),
    clearable=False,
)


@dataclass(frozen=True, slots=True)
class Title:
    """What the OpenAPI document calls an operation: its id, its purpose, the schema of its answer.

    `example` is a body that is carried out as it stands.
    """

    id: str
    summary: str
    answer: str
    example: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One method on one path.

    `run` gets the transaction, the object named in the path ({} without one) and the parameters.
    `resource` and `level` are what a restricted key needs. `partial` marks an update. `refuses`
    are the error codes beyond those of `fields`: what relations and states forbid.
    """

    method: str
    path: str
    resource: str
    level: str
    run: Callable[[Transaction, Doc, Params], Doc]
    title: Title
    fields: Fields = ()
    kind: str | None = None
    partial: bool = False
    refuses: Codes = NO_CODES


class ApiRoutes:
    """Finds operations by method and path; every segment but `:id` is literal."""

    def __init__(self, operations: Iterable[ApiOperation]) -> None:
        self._operations: dict[str, dict[str, ApiOperation]] = {}
        for operation in operations:
            self._operations.setdefault(operation.path, {})[operation.method] = operation
        patterned = [path for path in self._operations if ID in path]
        self._patterns = [(re.compile(p.replace(ID, "([^/]+)")), p) for p in patterned]

    def find(self, method: str, path: str) -> tuple[ApiOperation, str]:
        """The operation and the id in the path.

        Raises:
            Problem: 404 `endpoint_unknown` or 405 `method_not_allowed` with `Allow`.
        """
        methods, identity = self._methods(path)
        if method not in methods:
            allowed = ", ".join(sorted(methods))
            message = f"{method} is not allowed here; use {allowed}."
            raise Problem(405, "method_not_allowed", message, headers={"Allow": allowed})
        return methods[method], identity

    def knows(self, path: str) -> bool:
        """Says whether any method is served on a path."""
        return path in self._operations or any(p.fullmatch(path) for p, _ in self._patterns)

    def _methods(self, path: str) -> tuple[dict[str, ApiOperation], str]:
        if path in self._operations and ID not in path:
            return self._operations[path], ""
        for pattern, template in self._patterns:
            if match := pattern.fullmatch(path):
                return self._operations[template], match[1]
        raise Problem(404, "endpoint_unknown", f"There is no endpoint {path}.")


def create(
    path: str,
    run: Callable[[Transaction, Params], Doc],
    fields: Fields,
    resource: str,
    title: Title,
    *,
    view: Callable[[Doc], Doc] = public,
    refuses: Iterable[str] = (),
) -> ApiOperation:
    """A POST on a collection."""
    return ApiOperation(
        "POST",
        path,
        resource,
        "write",
        lambda tx, _, params: view(run(tx, params)),
        title,
        fields,
        refuses=frozenset(refuses),
    )


def act(
    path: str,
    run: Callable[[Transaction, Doc, Params], Doc],
    fields: Fields,
    resource: str,
    kind: str,
    title: Title,
    *,
    partial: bool = False,
    refuses: Iterable[str] = (),
) -> ApiOperation:
    """A POST on one object."""
    return ApiOperation(
        "POST",
        path,
        resource,
        "write",
        lambda tx, target, params: public(run(tx, target, params)),
        title,
        fields,
        kind,
        partial,
        frozenset(refuses),
    )


def retrieve(path: str, resource: str, kind: str, title: Title) -> ApiOperation:
    """A GET of one object."""
    return ApiOperation(
        "GET", path, resource, "read", lambda _, target, __: public(target), title, kind=kind
    )


def listing(path: str, resource: str, kind: str, filters: Fields, title: Title) -> ApiOperation:
    """A GET of a list; `filters` are fields that the store can compare (assumptions: Lists)."""
    names = tuple(field.name for field in filters)

    def run(tx: Transaction, _: Doc, params: Params) -> Doc:
        return _page(tx, kind, names, params)

    return ApiOperation("GET", path, resource, "read", run, title, (*_PAGING, *filters, _CREATED))


def target_of(tx: Transaction, operation: ApiOperation, identity: str) -> Doc:
    """The object that a path names; raises Problem if this mode has none."""
    if operation.kind is None:
        return {}
    found = tx.get(operation.kind, identity)
    if found is None:
        raise resource_missing(operation.kind, identity, "id")
    return found


def _page(tx: Transaction, kind: str, filters: tuple[str, ...], params: Params) -> Doc:
    after = params.get("starting_after")
    try:
        docs, more = tx.page(
            kind,
            equals={name: params[name] for name in filters if name in params},
            bounds=params.get("created", {}),
            limit=params.get("limit", LIMIT_DEFAULT),
            after=after,
        )
    except KeyError:
        raise resource_missing(kind, str(after), "starting_after", 400) from None
    return {"object": "list", "data": [public(doc) for doc in docs], "has_more": more}
