"""Classifies the answers of the service and builds a `Reply` from a valid one.

`client` and `sandbox` call `classify` after each attempt: what came over the wire in, an
`AttemptResult` out, from which `retry` decides. `reply_of` then builds the `Reply` that commands
print and `delivery` records.
"""

from collections.abc import Callable
from sys import getsizeof
from typing import Any, Final, NamedTuple, TypeAlias

from svc.client.call import Call, is_id
from svc.client.contradiction import find_differences, find_other_object, id_in, world_of
from svc.client.exchange import Failure, Headers, RawReply, Trouble, header
from svc.client.operations import failure_of
from svc.client.refusal import is_error_body, is_replayed, read, request_id
from svc.client.retry import AttemptResult, Meaning, classify_reply, http_date, retry_after
from svc.json_text import NotJson, has_more_values, parse_given, parse_list
from svc.redaction import one_line
from svc.service.facts import (
    API_ROOT,
    ID_PREFIXES,
    SANDBOX_TIME_HEADER,
    is_success,
)

_TEXT_MAX: Final = 32 * 1024 * 1024  # of memory


# A new object that is older than its first attempt by more was made by an earlier sending (R117).
_EARLIER_SECONDS: Final = 5.0


class Reply(NamedTuple):
    """A successful answer.

    Attributes:
        world: identifies the state of the sandbox that answered; None for any other service.
        headers: names in lower case, in the order sent; `header(reply.headers, name)` finds one.
        text: the body exactly as sent; empty where the answer has no content.
        data: the body parsed; numbers with a fraction are `ExactNumber` and keep their text.
        slices: for a list, the exact text of each entry of `data["data"]`.
        replayed: the answer is marked as that of an earlier request with the same key.
        attempts: the number of attempts.
        creates: whether the answer is a new object.
        is_repeat: whether an earlier attempt of the same sending may have been carried out.
        seconds: from before the first attempt to the answer.
        warnings: differences from the request that prove no contradiction (promise R119).
        failure: why the effect of a POST has failed according to the answer, or None (R117).
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
    creates: bool = False
    is_repeat: bool = False
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def world(self) -> str | None:
        return world_of(self.headers)

    @property
    def server_time(self) -> float | None:
        """The service's clock at the time of the answer, in Unix seconds."""
        return read_server_time(self.headers)

    @property
    def created_at(self) -> float | None:
        """When the object was made, in Unix seconds, by the service's clock."""
        return _moment(self.data.get("created")) if isinstance(self.data, dict) else None

    @property
    def replayed_earlier(self) -> bool:
        """Whether the request was carried out before this sending began (promise R117).

        That is so if the answer to a first attempt is marked as replayed, or if the new object is
        older than the first attempt by the service's own clock.
        """
        if self.replayed and not self.is_repeat:
            return True
        created, served = (self.created_at, self.server_time) if self.creates else (None, None)
        if created is None or served is None:
            return False
        return created < served - self.seconds - _EARLIER_SECONDS


def _moment(text: object) -> float | None:
    """Reads a timestamp of the service (specification: ISO 8601 in UTC) to Unix seconds."""
    from datetime import UTC, datetime

    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def read_server_time(headers: Headers) -> float | None:
    """The service's clock in Unix seconds, or None; a sandbox's has a header of its own."""
    turned = header(headers, SANDBOX_TIME_HEADER)
    return http_date(header(headers, "date") or "") if turned is None else _moment(turned)


class ReplyLimits(NamedTuple):
    """The maximum size of an answer: above every real answer, and small enough for memory.

    Attributes:
        size: in bytes.
        values: the number of JSON values, without member names.
    """

    size: int
    values: int


_OBJECT = ReplyLimits(1024 * 1024, 20_000)
_PAGE = ReplyLimits(16 * 1024 * 1024, 200_000)


def limits_of(call: Call) -> ReplyLimits:
    """The limits of a call's answer; a page and an unknown kind may hold a hundred objects."""
    return _OBJECT if call.expects and "list" not in call.expects else _PAGE


def reply_of(finding: AttemptResult, call: Call) -> Reply:
    """Builds the `Reply` of a DONE attempt, as if it were the only one."""
    assert finding.raw is not None
    return Reply(
        status=finding.raw.status,
        headers=finding.raw.headers,
        text=finding.text,
        data=finding.data,
        slices=finding.slices,
        request_id=finding.request_id,
        replayed=is_replayed(finding.raw.headers),
        attempts=1,
        creates=call.creates,
        warnings=find_differences(finding.data, call),
        failure=failure_of(call, finding.data),
    )


def interpret_success(raw: RawReply, call: Call) -> AttemptResult:
    """Reads a 2xx: DONE with its data, or UNREADABLE with the reason (promises R14, R99)."""
    done = AttemptResult(Meaning.DONE, raw=raw, request_id=request_id(raw.headers))
    if not raw.body and raw.complete and _takes_anything(call):
        return done
    try:
        text = raw.body.decode("utf-8").removeprefix("\ufeff")
        if is_too_much(text, limits_of(call)) and call.path.startswith(API_ROOT):
            return _no_answer(raw, Meaning.UNREADABLE, "its body holds more than any answer does")
        data, slices = parse_list(text) if "list" in call.expects else (parse_given(text), ())
    except UnicodeDecodeError:
        return _no_answer(raw, Meaning.UNREADABLE, "its body is not UTF-8")
    except NotJson:
        cut = " and may be cut off" if not raw.complete else ""
        return _no_answer(
            raw,
            Meaning.UNREADABLE,
            f"its body is not JSON{cut}" if raw.body else "its body is empty",
        )
    complaint = _complaint(data, call)
    if complaint is not None:
        return _no_answer(raw, Meaning.UNREADABLE, complaint)
    foreign = find_other_object(data, call)
    if foreign is not None:
        return not_ours(raw, foreign)
    return done._replace(data=data, text=text, slices=slices)


def _takes_anything(call: Call) -> bool:
    """Whether a call is a POST of `svc post` to an undocumented path; any answer is valid."""
    return call.method == "POST" and not call.expects and call.path.startswith(API_ROOT)


def not_ours(raw: RawReply, why: str) -> AttemptResult:
    """Builds the result of a 2xx that answers another request: cached, or too late (R93)."""
    return _no_answer(raw, Meaning.FOREIGN, f"{why}: it is the answer to another request")


def is_too_much(text: str, limits: ReplyLimits) -> bool:
    """Whether a text would take too much memory once it is parsed (promise R99).

    With one character outside Latin-1, Python stores every character in two or four bytes.
    """
    if len(text) < limits.values:
        return False
    return getsizeof(text) > _TEXT_MAX or has_more_values(text, limits.values)


def _no_answer(raw: RawReply, meaning: Meaning, why: str) -> AttemptResult:
    return AttemptResult(
        meaning,
        detail=f"the service answered {raw.status}, but {why}",
        raw=raw,
        request_id=request_id(raw.headers),
    )


def _complaint(data: Any, call: Call) -> str | None:
    expects = call.expects
    if not expects:
        refused = _takes_anything(call) and is_error_body(data)
        return "its body is an error" if refused else None
    wanted = " or ".join(expects)
    if not isinstance(data, dict):
        return f"its body is not an object but {type(data).__name__}; expected {wanted}"
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
        return "its body is not a list: `data` or `has_more` is missing"
    if not all(isinstance(entry, dict) for entry in data["data"]):
        return "its list holds something else than objects"
    return None


# Whether an object (its id, and the sandbox's world) is on record under another idempotency key.
IsClaimedByOther: TypeAlias = Callable[[str, str | None], bool]

_FINAL_UNSENT = (Trouble.CERTIFICATE, Trouble.PROXY, Trouble.PROXY_LOGIN)
_LOCATION_MAX = 200


def classify(
    result: RawReply | Failure,
    call: Call,
    now: float,
    is_claimed_by_other: IsClaimedByOther | None = None,
) -> AttemptResult:
    """Classifies the outcome of one attempt.

    `now` is wall-clock time, for dates in `Retry-After`; `is_claimed_by_other` is as in
    `Client.deliver`.
    """
    if isinstance(result, Failure):
        return _build_failed(result)
    if is_success(result.status):
        finding = interpret_success(result, call)
        made = id_in(finding.data) if call.creates or _brings_another(finding.data, call) else None
        if (
            made is not None
            and is_claimed_by_other is not None
            and is_claimed_by_other(made, world_of(result.headers))
        ):
            return not_ours(result, f"it names {made}, which another request has made")
        return finding
    refusal = read(result)
    replayed = is_replayed(result.headers)
    meaning = classify_reply(call.method, result.status, refusal.code, replayed=replayed)
    return AttemptResult(
        meaning,
        detail=_describe_redirect(result)
        if meaning is Meaning.REDIRECT
        else _describe_answer(result, refusal.message),
        raw=result,
        refusal=refusal,
        retry_after=retry_after(result.headers, now),
        request_id=refusal.request_id,
    )


def _brings_another(data: Any, call: Call) -> bool:
    """Whether the answer is an object that the request does not name: a capture's payment."""
    found = id_in(data)
    return bool(call.names) and found not in (value for _, value in call.names)


def _build_failed(failure: Failure) -> AttemptResult:
    words = one_line(failure.detail)
    detail = f"{failure.trouble.value} ({words})" if words else failure.trouble.value
    if failure.sent:
        meaning = Meaning.OVERSIZED if failure.trouble is Trouble.TOO_LARGE else Meaning.LOST
    else:
        meaning = Meaning.UNTRUSTED if failure.trouble in _FINAL_UNSENT else Meaning.UNREACHED
    return AttemptResult(meaning, detail=detail, trouble=failure.trouble)


def _describe_redirect(raw: RawReply) -> str:
    location = one_line(header(raw.headers, "location") or "nowhere", _LOCATION_MAX)
    return f"it answered {raw.status} and pointed to {location}; redirects are never followed"


def _describe_answer(raw: RawReply, message: str) -> str:
    words = message.removeprefix(f"The service answered {raw.status}").lstrip(":, ")
    return f"it answered {raw.status}: {words}".rstrip(".")
