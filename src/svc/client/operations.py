"""Builds the call of a documented operation from `svc.service`, with the checks of its answer.

An undocumented path is sent unchanged, and any JSON is a valid answer to it.

The commands of nouns (`cli.framework.nouns`) and the rows of a batch (`batch.operations`) are built
by it. Other functions say of a call whether it moves money, and of an answer whether it has failed.
"""

from collections.abc import Iterator, Mapping
from functools import cache

from svc import service
from svc.client.call import Body, Call, Encoding, QueryParams, check_id, pattern_of, query_of
from svc.redaction import one_line
from svc.service import noun
from svc.service.model import Action, Field, Resource


class _Named(dict[str, object]):
    """The ids that a call names, for messages; a missing name has a placeholder."""

    def __missing__(self, name: str) -> str:
        return "(of the body)"


def applies_to(action: Action, body: Body | None) -> bool:
    """Whether a request with this body moves the action's money, and can fail as it does.

    Some actions do so only with a field that is true, such as `submit` for evidence of a dispute.
    """
    return not action.only_with or (body or {}).get(action.only_with) in (True, "true")


def action_of(call: Call) -> str:
    """Describes a POST that moves money, such as `capture order ord_1`; empty for any other POST.

    An undocumented POST may move money, and is described by its path.
    """
    known = service.operation(call.operation)
    if known is None:
        return f"POST to {call.path}"
    _, action = known
    return action.money.format_map(_Named(call.names)) if applies_to(action, call.body) else ""


def moves_all(call: Call) -> bool:
    """Whether a POST without an amount moves the whole amount."""
    known = service.operation(call.operation)
    return known is not None and known[1].whole


def is_only_final(call: Call) -> bool:
    """Whether a POST needs confirmation because it cannot be undone, and moves no money."""
    known = service.operation(call.operation)
    return known is not None and bool(known[1].only_with)


def find_failing_fields(call: Call, data: object) -> tuple[str, ...]:
    """The fields of an answer whose values mean that the request's effect has failed."""
    known = service.operation(call.operation)
    if known is None or not isinstance(data, Mapping) or not applies_to(known[1], call.body):
        return ()
    return tuple(name for name, values in known[1].fails if str(data.get(name)) in values)


def has_failed(data: object) -> bool:
    """Whether the status of an object means that it has failed, for any request."""
    if not isinstance(data, Mapping):
        return False
    resource = noun(str(data.get("object")))
    return resource is not None and data.get("status") in resource.failures


def failure_of(call: Call, data: object) -> str | None:
    """Returns why the effect of a request has failed according to an answer, or None (R117).

    `data` is the answer to `call`, or the same object read later.
    """
    fields = find_failing_fields(call, data)
    if not fields or not isinstance(data, Mapping):
        return None
    why = data.get("failure_reason") or data.get("failure_code")
    said = f"the {fields[0]} of {data.get('id', 'the object')} is {data[fields[0]]}"
    return one_line(f"{said} ({why})" if why else said)


def find_undocumented_status(call: Call, data: object) -> str | None:
    """The status of an object in the answer if it is not documented, or None."""
    if not call.changes or not isinstance(data, Mapping):
        return None
    status, noun = data.get("status"), service.noun(str(data.get("object")))
    known = noun.statuses if noun is not None else ()
    if not isinstance(status, str) or not known or status in known:
        return None
    return one_line(status)


def post(name: str, body: Body | None, encoding: Encoding | None, identifier: str = "") -> Call:
    """Builds the call of an operation; `identifier` is the id of the object that it changes.

    The default encoding is that of the specification.

    Raises:
        UsageError: the id, or one in the body, is malformed (promise R25).
        KeyError: there is no such operation.
    """
    known = service.operation(name)
    if known is None:
        raise KeyError(name)
    noun, action = known
    fields = body or {}
    given_ids = (one for one in _identifiers_of(name) if fields.get(one) is not None)
    if ids := {one: check_id(fields[one], one) for one in given_ids}:
        body = fields = {**fields, **ids}
    identifier = check_id(identifier, "id") if action.is_on_one else ""
    about = ((noun.name, identifier),) if action.is_on_one else ()
    proofs = _proofs_of(name)
    given = {one: fields[one] for one in proofs if fields.get(one) not in (None, "")}
    return Call(
        "POST",
        noun.path_of(action).replace("*", identifier),
        body=body,
        encoding=encoding or action.encoding,
        expects=action.answers or (noun.name,),
        checks=tuple(_name_proofs(proofs, given, "equal")),
        assumed=action.assumed,
        operation=name,
        creates=action.verb == "create",
        names=(*about, *_name_proofs(proofs, given, "same")),
    )


@cache  # a batch asks for each of its rows
def _proofs_of(name: str) -> Mapping[str, Field]:
    """The fields whose values must be equal in the request and its answer."""
    noun, action = service.operation(name) or (None, None)
    fields = (*noun.fields, *action.fields) if noun is not None and action is not None else ()
    return {field.name: field for field in fields if field.proof}


@cache
def _identifiers_of(name: str) -> tuple[str, ...]:
    noun, action = service.operation(name) or (None, None)
    fields = noun.list_given(action.verb) if noun is not None and action is not None else ()
    return tuple(field.name for field in fields if field.kind.type == "identifier")


def _name_proofs(
    proofs: Mapping[str, Field], given: Mapping[str, object], proof: str
) -> Iterator[tuple[str, object]]:
    """Yields the values that the answer must repeat, with their names in the answer."""
    for name, value in given.items():
        if proofs[name].proof == proof:
            yield proofs[name].answered_as or name, value


def action_at(path: str) -> tuple[Resource, Action, str] | None:
    """The noun and action of a POST to a path, and the id in the path; None if it is unknown."""
    noun = service.resource_at(path)
    if noun is None:
        return None
    identifier, slash, rest = path.removeprefix(noun.path).removeprefix("/").partition("/")
    step = f"{slash}{rest}"
    for action in noun.actions:
        if action.method == "POST" and action.is_on_one == bool(identifier) and action.step == step:
            return noun, action, identifier
    return None


def suggest_command(call: Call) -> str | None:
    """The command for the documented path that is most similar to an unknown path, or None."""
    from svc.nearest import find_near_words

    method = "POST" if call.changes else "GET"
    pattern, identifier = pattern_of(call.path)
    paths = dict.fromkeys(
        noun.path_of(action)
        for noun in service.nouns()
        for action in noun.actions
        if action.method == method
    )
    alike = (path for path in paths if path != pattern and path.count("/") == pattern.count("/"))
    near = find_near_words(pattern, alike)
    verb = "post" if call.changes else "get"
    return f"svc {verb} {near[0].replace('*', identifier)}" if near else None


def retrieval(kind: str, identifier: str) -> Call:
    """Builds the call that reads one object; raises UsageError: the id is malformed (R25)."""
    (noun, action), identifier = _find_action(kind, "retrieve"), check_id(identifier, "id")
    return Call(
        "GET",
        f"{noun.path}/{identifier}",
        expects=(kind,),
        checks=(("id", identifier),),
        assumed=action.assumed,
    )


def build_list(kind: str, params: QueryParams) -> Call:
    """Builds the call that lists objects, newest first, with filters and paging."""
    noun, action = _find_action(kind, "list")
    return Call("GET", noun.path, query=query_of(params), expects=("list",), assumed=action.assumed)


def _find_action(kind: str, verb: str) -> tuple[Resource, Action]:
    noun = service.noun(kind)
    action = noun.action(verb) if noun is not None else None
    if noun is None or action is None:
        raise KeyError(kind)
    return noun, action
