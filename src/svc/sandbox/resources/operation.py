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
from svc.service.facts import LIMIT_DEFAULT, LIMIT_MAX

ID: Final = ":id"
_BOUNDS: Final = ("gte", "gt", "lte", "lt")
# Of a part of a second: objects are made at whole ones, so these begin or end with the next.
_FROM_THE_NEXT: Final = ("gte", "lt")
_PAGING: Final = (
    Parameter("limit", Integer(1, LIMIT_MAX), clearable=False),
    Parameter("starting_after", Text(), clearable=False),
)
_CREATED: Final = Parameter(
    "created",
    Object(
        tuple(
            Parameter(name, Timestamp(up=name in _FROM_THE_NEXT), clearable=False)
            for name in _BOUNDS
        )
    ),
    clearable=False,
)


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One method on one path.

    `id` and `summary` are what the OpenAPI document calls it, `answer` names the schema of what it
    answers, and `example` is a body that is carried out as it stands. `run` gets the transaction,
    the object named in the path ({} without one) and the parameters. `kind` is that object's,
    `partial` marks an update. `refuses` are the error codes beyond those of `fields`: what
    relations and states forbid. `reveals` names the resource that an object shows something of
    beside the noun's own: a restricted key has to be allowed to read both.
    """

    method: str
    path: str
    noun: "NounOperations"
    id: str
    summary: str
    answer: str
    run: Callable[[Transaction, Doc, Params], Doc]
    fields: Fields = ()
    kind: str | None = None
    partial: bool = False
    refuses: Codes = NO_CODES
    example: Mapping[str, Any] | None = None
    reveals: Callable[[Doc], str | None] = lambda _: None

    @property
    def level(self) -> str:
        """What a restricted key needs for it, on the noun's resource."""
        return "write" if self.method == "POST" else "read"


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

    def _methods(self, path: str) -> tuple[dict[str, ApiOperation], str]:
        if path in self._operations and ID not in path:
            return self._operations[path], ""
        for pattern, template in self._patterns:
            if match := pattern.fullmatch(path):
                return self._operations[template], match[1]
        raise Problem(404, "endpoint_unknown", f"There is no endpoint {path}.")


@dataclass(frozen=True, slots=True)
class NounOperations:
    """Declares the operations of one noun: the path of its collection, and what all have.

    `resource` is what a restricted key needs, `kind` what the objects are, `answer` their schema.
    """

    path: str
    resource: str
    kind: str
    answer: str

    def create(
        self,
        id: str,  # noqa: A002  OpenAPI's word, here and below
        summary: str,
        run: Callable[[Transaction, Params], Doc],
        fields: Fields,
        *,
        answer: str | None = None,
        view: Callable[[Doc], Doc] = public,
        refuses: Iterable[str] = (),
        example: Mapping[str, Any] | None = None,
    ) -> ApiOperation:
        """A POST on the collection."""

        def made(tx: Transaction, _: Doc, params: Params) -> Doc:
            return view(run(tx, params))

        codes, what = frozenset(refuses), answer or self.answer
        return ApiOperation(
            "POST", self.path, self, id, summary, what, made, fields, refuses=codes, example=example
        )

    def act(
        self,
        id: str,  # noqa: A002
        summary: str,
        run: Callable[[Transaction, Doc, Params], Doc],
        fields: Fields = (),
        *,
        step: str = "",
        partial: bool = False,
        refuses: Iterable[str] = (),
    ) -> ApiOperation:
        """A POST on one object; `step` is what its path ends with."""
        path, codes = f"{self.path}/{ID}{step}", frozenset(refuses)

        def done(tx: Transaction, target: Doc, params: Params) -> Doc:
            return public(run(tx, target, params))

        return ApiOperation(
            "POST", path, self, id, summary, self.answer, done, fields, self.kind, partial, codes
        )

    def retrieve(
        self,
        id: str,  # noqa: A002
        summary: str,
        reveals: Callable[[Doc], str | None] = lambda _: None,
    ) -> ApiOperation:
        """A GET of one object."""
        path = f"{self.path}/{ID}"

        def found(_: Transaction, target: Doc, __: Params) -> Doc:
            return public(target)

        return ApiOperation(
            "GET", path, self, id, summary, self.answer, found, kind=self.kind, reveals=reveals
        )

    def listing(self, id: str, summary: str, filters: Fields) -> ApiOperation:  # noqa: A002
        """A GET of a list; `filters` are fields that the store can compare (assumptions: Lists)."""
        names, answer = tuple(field.name for field in filters), f"{self.answer}List"

        def listed(tx: Transaction, _: Doc, params: Params) -> Doc:
            return _page(tx, self.kind, names, params)

        fields = (*_PAGING, *filters, _CREATED)
        return ApiOperation("GET", self.path, self, id, summary, answer, listed, fields)


def target_of(tx: Transaction, operation: ApiOperation, identity: str) -> Doc:
    """The object that a path names; raises Problem if this mode has none."""
    if operation.kind is None:
        return {}
    return tx.named(operation.kind, identity)


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
