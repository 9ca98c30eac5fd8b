"""Answers of the service: what counts as one, and what contradicts its request."""

from collections.abc import Callable, Mapping
from sys import getsizeof
from typing import Any, Final, NamedTuple, TypeAlias

from svc.client.call import Call, is_id
from svc.client.exchange import Failure, Headers, RawReply, Trouble, header
from svc.client.json import NotJson, has_more_values, parse_given, parse_list
from svc.client.refusal import read, request_id
from svc.client.retry import AttemptResult, Meaning, meaning_of, retry_after
from svc.client.text import one_line
from svc.errors import Outcome, ReplyContradiction
from svc.spec import API_ROOT, ID_PREFIXES, REPLAYED_HEADER, SANDBOX_WORLD_HEADER

# The code of an error: what answered is the answer to another request.
NOT_OURS: Final = "reply_not_ours"
# The code of an error: mode, amount or currency of the answer are not the request's.
CONTRADICTED: Final = "reply_contradiction"
_TEXT_MAX: Final = 32 * 1024 * 1024  # of memory
_MODES = {True: "live", False: "test"}


class Contradiction(ReplyContradiction):
    """A reply that contradicts its request, and yet names what was made or changed.

    Attributes:
        object_id: of that; None where the answer names none, or nothing was changed.
        world: as `Reply.world`.
    """

    def __init__(
        self, message: str, *, object_id: str | None, world: str | None = None, **fields: Any
    ) -> None:
        super().__init__(message, **fields)
        self.object_id = object_id
        self.world = world


class Reply(NamedTuple):
    """A successful answer.

    Attributes:
        world: the state of the sandbox that answered; None of any other service.
        headers: names in lower case, in the order sent; `header(reply.headers, name)` finds one.
        text: the body exactly as sent.
        data: the body parsed; numbers with a fraction are `Spelled` and keep their text.
        slices: of a list, the exact text of each entry of `data["data"]`.
        replayed: the service says that it carried this out for an earlier request with this key.
        attempts: how many it took.
    """

    status: int
    headers: Headers
    text: str
    data: Any
    slices: tuple[str, ...]
    request_id: str | None
    replayed: bool
    attempts: int
    idempotency_key: str | None = None

    @property
    def world(self) -> str | None:
        return world_of(self.headers)


def world_of(headers: Headers) -> str | None:
    """The state of the sandbox that answered: one that was reset may give the same ids again."""
    return header(headers, SANDBOX_WORLD_HEADER)


class ReplyLimits(NamedTuple):
    """What is read of an answer: more than any has, and little enough to be held and shown.

    Attributes:
        size: in bytes.
        values: of its JSON, names not counted.
    """

    size: int
    values: int


_OBJECT = ReplyLimits(1024 * 1024, 20_000)
_PAGE = ReplyLimits(16 * 1024 * 1024, 200_000)


def limits_of(call: Call) -> ReplyLimits:
    """The limits of a call's answer: a page, or what nobody knows, may hold a hundred objects."""
    return _OBJECT if call.expects and "list" not in call.expects else _PAGE


def is_replayed(headers: Headers) -> bool:
    """Whether the service says that an answer is a stored one."""
    return (header(headers, REPLAYED_HEADER) or "").strip().lower() == "true"


def reply_of(finding: AttemptResult, *, attempts: int, idempotency_key: str | None = None) -> Reply:
    """Makes the answer of a DONE attempt."""
    assert finding.raw is not None
    return Reply(
        status=finding.raw.status,
        headers=finding.raw.headers,
        text=finding.text,
        data=finding.data,
        slices=finding.slices,
        request_id=finding.request_id,
        replayed=is_replayed(finding.raw.headers),
        attempts=attempts,
        idempotency_key=idempotency_key,
    )


def understood(raw: RawReply, call: Call) -> AttemptResult:
    """Reads a 2xx: DONE with its data, or UNREADABLE with the reason (promises R14, R99)."""
    try:
        text = raw.body.decode("utf-8").removeprefix("\ufeff")
        if is_too_much(text, limits_of(call)) and call.path.startswith(API_ROOT):
            return _unreadable(raw, "its body holds more than any answer does")
        data, slices = parse_list(text) if "list" in call.expects else (parse_given(text), ())
    except UnicodeDecodeError:
        return _unreadable(raw, "its body is not UTF-8")
    except NotJson:
        cut = " and may be cut off" if not raw.complete else ""
        return _unreadable(raw, f"its body is not JSON{cut}" if raw.body else "its body is empty")
    complaint = _complaint(data, call.expects)
    if complaint is not None:
        return _unreadable(raw, complaint)
    foreign = _other_object(data, call)
    if foreign is not None:
        return not_ours(raw, foreign)
    return AttemptResult(
        Meaning.DONE,
        raw=raw,
        data=data,
        text=text,
        slices=slices,
        request_id=request_id(raw.headers),
    )


def not_ours(raw: RawReply, why: str) -> AttemptResult:
    """What a 2xx is that answers another request: a cache's, or one that came late (R93)."""
    return AttemptResult(
        Meaning.FOREIGN,
        detail=f"the service answered {raw.status}, but {why}: it is the answer to another request",
        raw=raw,
        request_id=request_id(raw.headers),
    )


def refuse_contradiction(
    call: Call, finding: AttemptResult, *, mode: str, idempotency_key: str | None
) -> None:
    """Compares mode, ids, amounts and currencies of an answer with its request (promise R15).

    What was changed stands in the path, and is done. What was made may be somebody else's: it is
    as unknown as before, and safe to send again under its own key (promise R93).

    Raises:
        ReplyContradiction: showing both values.
    """
    said = _contradiction(call, finding.data, mode)
    if said is None:
        return
    object_id = id_in(finding.data) if call.changes else None
    about = f" It is about {object_id}." if object_id else ""
    outcome = _end_of(call)
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
        hint=f"Within 23 hours it is safe to send it again with --idempotency-key {idempotency_key}"
        if outcome == "unknown"
        else "Do not repeat it. Retrieve the object and ask the service, naming the request id.",
    )


def _end_of(call: Call) -> Outcome | None:
    """What a contradicting answer proves of a call's end."""
    if not call.changes:
        return None
    names_it = bool(call.operation) and not call.makes
    return "done" if names_it or call.method != "POST" else "unknown"


def id_in(data: object) -> str | None:
    """The id of an answered object, where it has one that an object can have."""
    found = data.get("id") if isinstance(data, Mapping) else None
    return found if isinstance(found, str) and is_id(found) else None


def is_too_much(text: str, limits: ReplyLimits) -> bool:
    """Whether a text would take too much memory once it is parsed (promise R99).

    One character outside Latin-1 makes every other one of a text two or four times as large.
    """
    if len(text) < limits.values:
        return False
    return getsizeof(text) > _TEXT_MAX or has_more_values(text, limits.values)


def _unreadable(raw: RawReply, why: str) -> AttemptResult:
    return AttemptResult(
        Meaning.UNREADABLE,
        detail=f"the service answered {raw.status}, but {why}",
        raw=raw,
        request_id=request_id(raw.headers),
    )


def _complaint(data: Any, expects: tuple[str, ...]) -> str | None:
    if not expects:
        return None
    wanted = " or ".join(expects)
    if not isinstance(data, dict):
        return f"its body is no object but {type(data).__name__}; expected {wanted}"
    if "list" in expects:
        return _list_complaint(data)
    identifier = data.get("id")
    if not isinstance(identifier, str) or not identifier:
        return f"its body has no id; expected {wanted}"
    if not is_id(identifier):
        return f"its body has an id that no object can have; expected {wanted}"
    if not isinstance(data.get("livemode"), bool | None):
        return f"its livemode is neither true nor false; expected {wanted}"
    name = data.get("object")
    # The marker is stated for every object; where it is absent, the prefix names the type too.
    known = any(identifier.startswith(ID_PREFIXES[one]) for one in expects)
    if name in expects or (name is None and known):
        return None
    return f"its body is of type {name!r}; expected {wanted}"


def _list_complaint(data: dict[str, Any]) -> str | None:
    if data.get("object", "list") != "list":
        return f"its body is of type {data['object']!r}; expected a list"
    if not isinstance(data.get("data"), list) or not isinstance(data.get("has_more"), bool):
        return "its body is no list: `data` or `has_more` is missing"
    if not all(isinstance(entry, dict) for entry in data["data"]):
        return "its list holds something else than objects"
    return None


def _other_object(data: Any, call: Call) -> str | None:
    """Says which object an answer names that its request does not, or None.

    What the answer leaves out says nothing; an object may stand for its id.
    """
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
    """Whether an answer is an object of a kind; where it has no marker, its id's prefix tells."""
    prefix = ID_PREFIXES.get(kind)
    marked = data.get("object")
    if marked is None and prefix is not None:
        return str(data.get("id")).startswith(prefix)
    return bool(marked == kind)


def _other_part(said: object, wanted: Mapping[str, object]) -> str | None:
    """Compares what both sides say of a destination; of its number only the end.

    An answer may have no more of it, or stars in place of the rest.
    """
    if not isinstance(said, Mapping):
        return None
    number = wanted.get("iban") or wanted.get("account_number")
    asked = {**wanted, "last4": None if number is None else _folded(number)[-4:]}
    for name in ("iban", "account_number"):
        number, end = wanted.get(name), _folded(said.get(name) or "")[-4:]
        if number is not None and end.isalnum() and _folded(number)[-4:] != end:
            return f"{name} {said[name]}"
    for name in ("country", "account_holder_name", "bank_name", "bic", "bank_code", "last4"):
        ours, theirs = asked.get(name), said.get(name)
        if None not in (ours, theirs) and _folded(ours) != _folded(theirs):
            return f"{name} {theirs}"
    return None


def _folded(value: object) -> str:
    """A text as banks compare it: without blanks, in one case."""
    return "".join(str(value).split()).casefold()


def _contradiction(call: Call, data: Any, mode: str) -> str | None:
    if not isinstance(data, Mapping):
        return None
    entries = data["data"] if "list" in call.expects else [data]
    for entry in entries:
        livemode = entry.get("livemode")
        if isinstance(livemode, bool) and _MODES[livemode] != mode:
            return f"it is of {_MODES[livemode]} mode, the request was of {mode} mode"
    for name, wanted in call.checks:
        if not _agrees(data.get(name), wanted):
            said = one_line(str(data[name]))
            return f"{name} is {said}, the request said {wanted!s}"
    return None


def _agrees(said: object, wanted: object) -> bool:
    """Compares text as text, and amounts by value: a form says 100 as text.

    What the answer leaves out, or says as an object, is no contradiction.
    """
    if said is None or isinstance(said, (dict, list)) or str(said) == str(wanted):
        return True
    if isinstance(said, str) and isinstance(wanted, str):
        return False
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(str(said)) == Decimal(str(wanted))
    except InvalidOperation:
        return False


# Whether an object (its id, and the sandbox's world) is on record under another idempotency key.
IsTaken: TypeAlias = Callable[[str, str | None], bool]

_FINAL_UNSENT = (Trouble.CERTIFICATE, Trouble.PROXY)
_LOCATION_MAX = 200


def classify(
    result: RawReply | Failure,
    call: Call,
    now: float,
    is_taken: IsTaken | None = None,
) -> AttemptResult:
    """Understands one attempt; `now` is wall-clock time, for dates in `Retry-After`.

    `is_taken` is as in `Client.deliver`.
    """
    if isinstance(result, Failure):
        return _failed(result)
    if 200 <= result.status < 300:  # noqa: PLR2004
        finding = understood(result, call)
        made = id_in(finding.data) if call.makes else None
        if made is not None and is_taken is not None and is_taken(made, world_of(result.headers)):
            return not_ours(result, f"it names {made}, which another request has made")
        return finding
    refusal = read(result)
    replayed = is_replayed(result.headers)
    meaning = meaning_of(call.method, result.status, refusal.code, replayed=replayed)
    return AttemptResult(
        meaning,
        detail=_moved(result) if meaning is Meaning.REDIRECT else _said(result, refusal.message),
        raw=result,
        refusal=refusal,
        retry_after=retry_after(result.headers, now),
        request_id=refusal.request_id,
    )


def _failed(failure: Failure) -> AttemptResult:
    words = one_line(failure.detail)
    detail = f"{failure.trouble.value} ({words})" if words else failure.trouble.value
    return AttemptResult(_meaning_of_failure(failure), detail=detail, trouble=failure.trouble)


def _meaning_of_failure(failure: Failure) -> Meaning:
    if not failure.sent:
        return Meaning.UNTRUSTED if failure.trouble in _FINAL_UNSENT else Meaning.UNREACHED
    return Meaning.OVERSIZED if failure.trouble is Trouble.TOO_LARGE else Meaning.LOST


def _moved(raw: RawReply) -> str:
    location = one_line(header(raw.headers, "location") or "nowhere", _LOCATION_MAX)
    return f"it answered {raw.status} and pointed to {location}; redirects are never followed"


def _said(raw: RawReply, message: str) -> str:
    words = message.removeprefix(f"The service answered {raw.status}").lstrip(":, ")
    return f"it answered {raw.status}: {words}".rstrip(".")
