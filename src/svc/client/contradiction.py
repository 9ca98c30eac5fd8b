"""Finds contradictions between an answer and its request: object, mode, amount or currency.

`client` calls `refuse_contradiction` with each successful answer; `Contradiction` is what a command
then ends with, and what the journal records. `reply` looks for other ids before that: such an
answer counts as another request's and the attempt is repeated.
"""

from collections.abc import Mapping
from typing import Any, Final

from svc.client.call import Call, is_id
from svc.client.exchange import Headers, header
from svc.client.operations import find_failing_fields
from svc.client.retry import AttemptResult, explain_repeat
from svc.errors import Outcome, ReplyContradiction
from svc.redaction import one_line
from svc.service.facts import ID_PREFIXES, SANDBOX_WORLD_HEADER

# The code of an error: mode, amount or currency of the answer are not the request's.
CONTRADICTED: Final = "reply_contradiction"

_NUMBER_MARKS: Final = frozenset("0123456789+-.eE")  # what a number of JSON is spelled with
_MODES = {True: "live", False: "test"}


class Contradiction(ReplyContradiction):
    """An answer contradicts its request; the error has the id of its object.

    Attributes:
        object_id: the id of the object that was created or changed, or None.
        world: as `Reply.world`.
    """

    def __init__(
        self, message: str, *, object_id: str | None, world: str | None = None, **fields: Any
    ) -> None:
        super().__init__(message, **fields)
        self.object_id = object_id
        self.world = world


def world_of(headers: Headers) -> str | None:
    """The id of the sandbox's state: after a reset a sandbox may use the same ids again."""
    return header(headers, SANDBOX_WORLD_HEADER)


def refuse_contradiction(
    call: Call, finding: AttemptResult, *, mode: str, idempotency_key: str | None
) -> None:
    """Compares the mode of an answer, and what it must repeat, with its request (promise R15).

    It must repeat amounts and currencies (`Call.checks`), a retrieved object its id.
    An object that was changed is named in the path, so the change was done. An object that was
    created may be another request's: the outcome stays unknown, and the request is safe to send
    again with its own key (promise R93).

    Raises:
        Contradiction: the message has both values.
    """
    said = _contradiction(call, finding.data, mode)
    if said is None:
        return
    object_id = id_in(finding.data) if call.changes else None
    about = f" It is about {object_id}." if object_id else ""
    outcome: Outcome | None = None
    if call.changes:
        names_it = call.method != "POST" or (bool(call.operation) and not call.creates)
        outcome = "done" if names_it else "unknown"
    raise Contradiction(
        f"The service's answer to {call.method} {call.path} contradicts the request: {said}."
        f"{about}",
        object_id=object_id,
        world=world_of(finding.raw.headers) if finding.raw else None,
        code=CONTRADICTED,
        status=finding.status,
        request_id=finding.request_id,
        outcome=outcome,
        retryable=outcome == "unknown",
        idempotency_key=idempotency_key,
        hint=explain_repeat(idempotency_key)
        if outcome == "unknown"
        else "Do not repeat it. Retrieve the object and ask the service, naming the request id.",
    )


def id_in(data: object) -> str | None:
    """The id of an object in an answer, or None if there is no valid one."""
    found = data.get("id") if isinstance(data, Mapping) else None
    return found if isinstance(found, str) and is_id(found) else None


def find_other_object(data: Any, call: Call) -> str | None:
    """Describes an id in the answer that differs from the one in the request; None if all agree.

    An id with the prefix of another kind is a difference as well. A field that the answer leaves
    out is none. The answer may have an object in place of its id.
    """
    made = id_in(data) or ""
    kind = next((kind for kind, start in ID_PREFIXES.items() if made.startswith(start)), None)
    if call.expects and kind is not None and kind != (data.get("object") or kind):
        return f"its id is {data['id']}, which is of {kind.replace('_', ' ')}"
    for field, wanted in call.names:
        said = data.get("id") if _is_a(data, field) else data.get(field)
        if isinstance(wanted, Mapping):
            other = _other_part(said, wanted)
        else:
            found = said.get("id") if isinstance(said, Mapping) else said
            other = None if found in (None, wanted) else str(found)
        if other is not None:
            return f"its {field} is {one_line(other)}, not the one asked for"
    return None


def _is_a(data: Mapping[str, Any], kind: str) -> bool:
    """Whether an answer is an object of a kind, by its `object`, else by the prefix of its id."""
    prefix = ID_PREFIXES.get(kind)
    marked = data.get("object")
    if marked is None and prefix is not None:
        return str(data.get("id")).startswith(prefix)
    return bool(marked == kind)


def _other_part(said: object, wanted: Mapping[str, object]) -> str | None:
    """Compares the last characters of account numbers; only these prove another destination (R119).

    An answer may contain no more of a number, or asterisks for the rest.
    """
    if not isinstance(said, Mapping):
        return None
    number = wanted.get("iban") or wanted.get("account_number")
    for name, ours in (*wanted.items(), ("last4", number)):
        end = _normalize_text(said.get(name) or "")[-4:]
        if (
            name in _NUMBERS
            and ours is not None
            and end.isalnum()
            and _normalize_text(ours)[-4:] != end
        ):
            return f"{name} {said[name]}"
    return None


def find_differences(data: Any, call: Call) -> tuple[str, ...]:
    """Lists names, banks and countries of a recipient that the answer spells differently (R119).

    A bank may transliterate and shorten a name: a difference is a warning and proves nothing.
    """
    found: list[str] = []
    for field, wanted in call.names:
        if not isinstance(wanted, Mapping) or not isinstance(said := data.get(field), Mapping):
            continue
        for name, ours in wanted.items():
            theirs = said.get(name)
            if (
                name in _NUMBERS
                or None in (ours, theirs)
                or _normalize_text(ours) == _normalize_text(theirs)
            ):
                continue
            found.append(
                f"{name} is {one_line(str(theirs))!r} in the answer and {one_line(str(ours))!r} "
                "in the request"
            )
    return tuple(found)


_NUMBERS: Final = ("iban", "account_number", "last4")


def _normalize_text(value: object) -> str:
    """Normalises text for a comparison of names: blanks, case and Unicode form are ignored."""
    text = "".join(str(value).split())
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFKC", text)
    return text.casefold()


def _contradiction(call: Call, data: Any, mode: str) -> str | None:
    if not isinstance(data, Mapping):
        return None
    entries = data["data"] if "list" in call.expects else [data]
    for entry in entries:
        livemode = entry.get("livemode")
        if isinstance(livemode, bool) and _MODES[livemode] != mode:
            return f"it is of {_MODES[livemode]} mode, the request was of {mode} mode"
    failed = find_failing_fields(call, data)  # nothing captured is a failure, and told as one
    for name, wanted in call.checks:
        if name not in failed and not _agrees(data.get(name), wanted):
            said = one_line(str(data[name]))
            return f"{name} is {said}, the request said {wanted!s}"
    return None


def _agrees(said: object, wanted: object) -> bool:
    """Compares text as text, and amounts by value, because a form has 100 as text.

    An absent value and an object in the answer are no contradiction.
    """
    if said is None or isinstance(said, (dict, list)) or str(said) == str(wanted):
        return True
    if isinstance(said, str) and isinstance(wanted, str):
        return False
    # Decimal reads `1_015`, blanks and digits of every script, none of which is an amount.
    if not _NUMBER_MARKS.issuperset(f"{said!s}{wanted!s}"):
        return False
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(str(said)) == Decimal(str(wanted))
    except InvalidOperation:
        return False
