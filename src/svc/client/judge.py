"""From what the wire brought to what it means for the request; without input or output."""

from collections.abc import Callable
from typing import TypeAlias

from svc.client.attempts import Finding, Meaning
from svc.client.call import Call
from svc.client.cleaning import one_line
from svc.client.exchange import Failure, RawReply, Trouble, header
from svc.client.refusals import read
from svc.client.replies import id_in, is_replayed, not_ours, understood, world_of
from svc.client.retry import meaning_of
from svc.client.waiting import retry_after

# Whether an object (its id, and the sandbox's world) is on record under another idempotency key.
IsTaken: TypeAlias = Callable[[str, str | None], bool]

_FINAL_UNSENT = (Trouble.CERTIFICATE, Trouble.PROXY)
_LOCATION_MAX = 200


def judged(
    result: RawReply | Failure,
    call: Call,
    now: float,
    is_taken: IsTaken | None = None,
) -> Finding:
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
    return Finding(
        meaning,
        detail=_moved(result) if meaning is Meaning.REDIRECT else _said(result, refusal.message),
        raw=result,
        refusal=refusal,
        retry_after=retry_after(result.headers, now),
        request_id=refusal.request_id,
    )


def _failed(failure: Failure) -> Finding:
    words = one_line(failure.detail)
    detail = f"{failure.trouble.value} ({words})" if words else failure.trouble.value
    return Finding(_meaning_of_failure(failure), detail=detail, trouble=failure.trouble)


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
