"""Makes a noun's operations: method, path, parameters, and the function that runs.

Each noun calls `operations` with its description of `svc.service` and the functions of its POSTs;
lists and retrievals come by themselves. `openapi.document` collects the `ApiOperation`s,
`api.requests` finds and runs them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from svc.sandbox.parameters.described import ObjectRule, example, parameters, schema_name
from svc.sandbox.parameters.kinds import Integer, Text, Timestamp
from svc.sandbox.parameters.problems import resource_missing
from svc.sandbox.parameters.tables import NO_CODES, Codes, Fields, Object, Parameter, Params
from svc.sandbox.store.documents import Doc, public
from svc.sandbox.store.transaction import Transaction
from svc.service.facts import LIMIT_DEFAULT, LIMIT_MAX
from svc.service.model import Action, Resource

CarryOut: TypeAlias = Callable[[Transaction, Doc, Params], Doc]

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

    `permission` is what a restricted key needs, `id` and `summary` are what the OpenAPI document
    calls it, `answer` names the schema of what it answers, and `example` is a body that is carried
    out as it stands. `run` gets the transaction, the object named in the path ({} without one) and
    the parameters. `kind` is that object's, `partial` marks an update. `refuses` are the error
    codes beyond those of `fields`: what relations and states forbid. `reveals` names the
    permission for what an object shows beside its own: a restricted key needs both. `encoding` is
    what the specification shows for its body.
    """

    method: str
    path: str
    permission: str
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
    encoding: Literal["json", "form"] = "json"

    @property
    def level(self) -> str:
        """What a restricted key needs for it, on the resource of its permission."""
        return "write" if self.method == "POST" else "read"


def operations(
    noun: Resource, rules: Mapping[str, ObjectRule] | None = None, **steps: Callable[..., Doc]
) -> tuple[ApiOperation, ...]:
    """The operations of a noun as its description has them.

    `steps` carry out its POSTs, by their verbs: `create` gets the transaction and the parameters,
    every other one also the object, between the two. `rules` check a field that is an object.
    """
    return tuple(_operation(noun, action, steps, rules or {}) for action in noun.actions)


def _operation(
    noun: Resource,
    action: Action,
    steps: Mapping[str, Callable[..., Doc]],
    rules: Mapping[str, ObjectRule],
) -> ApiOperation:
    fields = parameters(noun, action.verb, rules)
    one = schema_name(action.answers[0] if action.answers else noun.name)
    title = noun.short or schema_name(noun.name)
    if action.verb == "list":
        run, names = _make_list(noun, tuple(field.name for field in fields)), f"{one}List"
        fields, title = (*_PAGING, *fields, _CREATED), f"{title}s"
    elif action.verb == "retrieve":
        run, names = (lambda _tx, target, _params: public(target)), one
    elif action.verb == "create":
        run, names = (
            _creation(noun, steps["create"]),
            f"New{one}" if _list_shown_once(noun) else one,
        )
    else:
        run, names = _step(steps[action.verb]), one
    return ApiOperation(
        action.method,
        noun.path_of(action).replace("*", ID),
        action.permission or noun.permission,
        f"{action.verb}{title}",
        action.summary.removesuffix("."),
        names,
        run,
        fields,
        noun.name if action.is_on_one else None,
        action.verb == "update",
        frozenset(action.refuses),
        example(noun, action.verb) if action.verb == "create" else None,
        encoding=action.encoding,
    )


def _list_shown_once(noun: Resource) -> list[str]:
    """The fields that only the answer to a creation shows."""
    return [field.name for field in noun.fields if field.answered == "create"]


def _creation(noun: Resource, make: Callable[[Transaction, Params], Doc]) -> CarryOut:
    """The answer to a creation, the only one that shows what is secret."""
    kept_as = {name: name for name in ("id", "object", *(field.name for field in noun.fields))}
    kept_as.update({name: f"_{name}" for name in _list_shown_once(noun)})

    def made(tx: Transaction, _: Doc, params: Params) -> Doc:
        doc = make(tx, params)
        return {name: doc[kept] for name, kept in kept_as.items() if kept in doc}

    return made


def _step(act: Callable[[Transaction, Doc, Params], Doc]) -> CarryOut:
    def done(tx: Transaction, target: Doc, params: Params) -> Doc:
        return public(act(tx, target, params))

    return done


def _make_list(noun: Resource, filters: tuple[str, ...]) -> CarryOut:
    """A page of a list; `filters` are fields that the store can compare (assumptions: Lists)."""

    def listed(tx: Transaction, _: Doc, params: Params) -> Doc:
        after = params.get("starting_after")
        try:
            docs, more = tx.page(
                noun.name,
                equals={name: params[name] for name in filters if name in params},
                bounds=params.get("created", {}),
                limit=params.get("limit", LIMIT_DEFAULT),
                after=after,
            )
        except KeyError:
            raise resource_missing(noun.name, str(after), "starting_after", 400) from None
        data = [public(doc) for doc in docs]
        return {"object": "list", "url": noun.path, "data": data, "has_more": more}

    return listed


def find_named(tx: Transaction, kind: str, identity: str, param: str = "id") -> Doc:
    """The document that a caller named in a parameter; raises Problem if there is none."""
    found = tx.get(kind, identity)
    if found is None:
        raise resource_missing(kind, identity, param)
    return found


def target_of(tx: Transaction, operation: ApiOperation, identity: str) -> Doc:
    """The object that a path names; raises Problem if this mode has none."""
    if operation.kind is None:
        return {}
    return find_named(tx, operation.kind, identity)
