"""Builds the call for a path or an id: for `svc get`, `svc post` and requests of the journal.

`delivery` builds its look-ups with it too. The answer to a POST to a documented path is checked as
the operation demands: that of `svc post /v1/refunds`, or of a refund resumed from the journal, like
that of `svc refunds create`. Of a GET by its path only the path is checked.
"""

from collections.abc import Mapping

from svc import service
from svc.client import operations
from svc.client.call import Body, Call, Encoding, QueryPairs, QueryParams, check_id, query_of
from svc.client.operations import action_at, build_list, retrieval
from svc.client.request import check_path
from svc.errors import UsageError
from svc.service.facts import ID_PREFIXES
from svc.service.model import Resource


def get(path: str, query: QueryParams = ()) -> Call:
    """Builds a GET of any path of the API; a query that is part of `path` comes first.

    Raises:
        UsageError: the path would leave the API (promise R25).
    """
    plain, mark, text = path.partition("?")
    pairs = (*(_parse_query(text) if mark else ()), *query_of(query))
    check_path(plain)
    noun = service.resource_at(plain)
    if noun is not None and noun.path == plain and noun.action("list") is not None:
        return build_list(noun.name, pairs)
    return Call("GET", plain, query=pairs)


def post(path: str, body: Body | None = None, *, encoding: Encoding = "json") -> Call:
    """Builds a POST to any path of the API; raises UsageError: the path would leave it (R25)."""
    known = action_at(check_path(path))
    if known is None:
        return Call("POST", path, body=body, encoding=encoding)
    noun, action, identifier = known
    return operations.post(f"{noun.word}.{action.verb}", body or {}, encoding, identifier)


def retrieve(identifier: str) -> Call:
    """Builds the GET of the object with an id.

    Raises:
        UsageError: no GET is known for the prefix of the id; the error names those that have one.
    """
    identifier = check_id(identifier, "id")
    if (found := resource_of(identifier)) is not None:
        return retrieval(found.name, identifier)
    known = " ".join(noun.prefix for noun in service.nouns() if noun.action("retrieve"))
    paths = (noun.path for noun in service.nouns() if noun.word == identifier)
    listed = next((f"svc get {path}" for path in paths if path), None)
    raise UsageError(
        f"{identifier!r} does not begin with a prefix that svc get knows.",
        code="id_invalid",
        param="id",
        hint=listed
        or f"Ids that can be retrieved begin with: {known}. Or give a path such as /v1/orders.",
    )


def resource_of(identifier: str) -> Resource | None:
    """The resource whose objects can be retrieved by an id of this prefix; None where none can."""
    for kind, prefix in ID_PREFIXES.items():
        noun = service.noun(kind) if identifier.startswith(prefix) else None
        if noun is not None and noun.action("retrieve") is not None:
            return noun
    return None


def money_of(call: Call) -> Call | None:
    """Builds the GET of the object whose money a POST moves; None if the POST names none."""
    known = service.operation(call.operation)
    of = known[1].money_of if known is not None else ""
    identifier = dict(call.names).get(of)
    return retrieval(of, str(identifier)) if identifier else None


def amounts_of(data: Mapping[str, object]) -> tuple[object, object]:
    """The amount of an object that a POST can move, and the part that has already been moved."""
    noun = service.noun(str(data.get("object")))
    whole, taken = noun.money if noun is not None else ("amount", "")
    return data.get(whole), data.get(taken) or 0


def _parse_query(text: str) -> QueryPairs:
    from urllib.parse import parse_qsl

    try:
        return tuple(parse_qsl(text, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        raise UsageError(f"The query {text!r} is malformed.", code="path_invalid") from None
