"""Calls by path or by id, for `svc get` and `svc post`, and calls recovered from their path.

A path that is one of the documented ones gets that call's checks, so that a payment sent by
`svc post /v1/refunds` or resumed from the journal is judged like one sent by `svc refunds create`.
"""

from svc.client import operations
from svc.client.call import Body, Call, Encoding, QueryPairs, QueryParams, query_of, segment
from svc.client.operations import COLLECTIONS, OPERATIONS, listing, operation_at, retrieval
from svc.client.request import checked_path
from svc.errors import UsageError
from svc.service.facts import ID_PREFIXES


def get(path: str, query: QueryParams = ()) -> Call:
    """Retrieves any path of the API; a query that is part of `path` comes first.

    Raises:
        UsageError: on a path that would leave the API (promise R25).
    """
    plain, mark, text = path.partition("?")
    pairs = (*(_parsed(text) if mark else ()), *query_of(query))
    checked_path(plain)
    for kind, known in COLLECTIONS.items():
        if known.lists and known.path == plain:
            return listing(kind, pairs)
    return Call("GET", plain, query=pairs)


def post(path: str, body: Body | None = None, *, encoding: Encoding = "json") -> Call:
    """Posts to any path of the API.

    Raises:
        UsageError: on a path that would leave the API (promise R25).
    """
    known = operation_at(checked_path(path))
    if known is None:
        return Call("POST", path, body=body, encoding=encoding)
    name, identifier = known
    return operations.post(name, body or {}, encoding, identifier)


def retrieve(identifier: str) -> Call:
    """Retrieves the object that an id's prefix points to.

    Raises:
        UsageError: on a prefix that has no GET, naming those that have one.
    """
    identifier = segment(identifier)
    for kind in COLLECTIONS:
        if identifier.startswith(ID_PREFIXES[kind]):
            return retrieval(kind, identifier)
    known = " ".join(ID_PREFIXES[kind] for kind in COLLECTIONS)
    raise UsageError(
        f"{identifier!r} begins with no prefix that can be retrieved.",
        code="id_invalid",
        param="id",
        hint=f"Ids that can be retrieved begin with: {known}. Or give a path such as /v1/orders.",
    )


def money_of(call: Call) -> Call | None:
    """The call that reads the object whose money a POST moves; None where it names none."""
    known = OPERATIONS.get(call.operation)
    identifier = dict(call.names).get(known.money_of) if known is not None else None
    return retrieval(known.money_of, str(identifier)) if known and identifier else None


def _parsed(text: str) -> QueryPairs:
    from urllib.parse import parse_qsl

    try:
        return tuple(parse_qsl(text, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        raise UsageError(f"The query {text!r} is malformed.", code="path_invalid") from None
