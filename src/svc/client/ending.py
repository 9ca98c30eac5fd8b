"""Builds the error of a call that failed, with its outcome and the next step (R10, R11).

`client` calls `error_of` when it makes no further attempt: the last attempt in, an exception out.
"""

from typing import NamedTuple

from svc.base_url import BaseUrl
from svc.client import refusal
from svc.client.call import Call
from svc.client.exchange import Trouble
from svc.client.retry import AttemptResult, Meaning, Reason, explain_repeat
from svc.errors import NetworkError, OutcomeUnknown, RateLimited, ServerError, SvcError

_CHECK_PROXY = "Check --proxy, SVC_PROXY, HTTPS_PROXY and the profile"
PROXY_HINTS = {
    Trouble.NO_PROXY: _CHECK_PROXY,
    Trouble.PROXY: _CHECK_PROXY,
    Trouble.PROXY_LOGIN: "Give both in its address, @ and : in them as %40 and %3A: "
    "SVC_PROXY=http://USER:PASSWORD@HOST:PORT",
}
_FINAL = (Reason.KEY_AGE, Reason.CLOCK_BEHIND)
_PLAIN = (Reason.ANSWERED, Reason.ATTEMPTS)  # which the rest of the error says
_UNKNOWN = "may have been carried out, but {} gave no clear answer"
_BUSY = "was not carried out, {} takes no more requests now"
_FAILED = "failed at {}"
_UNREACHED = "was not carried out, {} was not reached"
_UNANSWERED = "got no usable answer from {}"


class CallEnd(NamedTuple):
    """The last attempt of a call, and the state before it.

    Attributes:
        key: the idempotency key.
        was_open: whether an earlier attempt may have been carried out.
    """

    call: Call
    key: str | None
    base_url: BaseUrl
    finding: AttemptResult
    reason: Reason
    attempts: int
    was_open: bool


def error_of(ending: CallEnd) -> SvcError:
    """Builds the error of a failed call: refused, outcome unknown, or not carried out."""
    if ending.finding.meaning is Meaning.REFUSED:
        return _build_refusal(ending)
    if ending.call.changes and (ending.was_open or ending.finding.meaning.is_open):
        return _build_unknown(ending)
    if ending.finding.meaning is Meaning.LIMITED:
        wait = ending.finding.retry_after
        return RateLimited(
            _line(ending, _BUSY),
            **refusal.answer_fields(ending.finding, ending.key),
            retryable=True,
            outcome="refused" if ending.call.changes else None,
            hint="Wait, then repeat it." if wait is None else f"Wait {wait:.0f} s, then repeat it.",
        )
    if ending.finding.meaning in (Meaning.FAILING, Meaning.BROKEN):
        hint = "Nothing was changed; try again later."
        fields = refusal.answer_fields(ending.finding, ending.key)
        return ServerError(_line(ending, _FAILED), **fields, retryable=True, hint=hint)
    final = ending.finding.meaning is Meaning.UNTRUSTED
    return NetworkError(
        _line(ending, _UNREACHED if ending.call.changes else _UNANSWERED),
        **refusal.answer_fields(ending.finding, ending.key),
        retryable=not final,
        outcome="not_sent" if ending.call.changes else None,
        hint=_hint_unreached(ending),
    )


def _build_refusal(ending: CallEnd) -> SvcError:
    refused = refusal.api_error(ending.call, ending.finding, idempotency_key=ending.key)
    is_late = ending.was_open or refusal.may_follow_effect(ending.finding)
    if ending.call.changes and is_late and not refused.proved:
        unknown = _build_unknown(ending)
        unknown.__cause__ = refused
        return unknown
    return refused


def _build_unknown(ending: CallEnd) -> OutcomeUnknown:
    return OutcomeUnknown(
        _line(ending, _UNKNOWN),
        **refusal.answer_fields(ending.finding, ending.key),
        retryable=ending.reason not in _FINAL,
        outcome="unknown",
        hint=_hint_unknown(ending),
    )


def _hint_unknown(ending: CallEnd) -> str:
    if ending.reason is Reason.CLOCK_BEHIND:
        return "Do not send it again before the clock is right; or look at what the service did."
    if ending.reason is Reason.KEY_AGE:
        return "Do not send it again: look at the service for what it did."
    return explain_repeat(ending.key)


def _hint_unreached(ending: CallEnd) -> str | None:
    if ending.finding.status is not None:
        return f"Check that {ending.base_url} is the address of the service."
    if ending.finding.trouble in PROXY_HINTS:
        return PROXY_HINTS[ending.finding.trouble]
    if ending.finding.meaning is Meaning.UNTRUSTED:
        return "Nothing was sent. If the authority is your own, name its file with --ca-bundle."
    if ending.base_url.is_loopback:
        return "If a sandbox is meant, start it: svc sandbox start --detach"
    return "Check the network and the base URL: svc doctor"


def _line(ending: CallEnd, what: str) -> str:
    tries = f"{ending.attempts} attempt{'s' if ending.attempts > 1 else ''}"
    end = "" if ending.reason in _PLAIN else f"; {ending.reason.value}"
    before = ""
    if ending.was_open and not ending.finding.meaning.is_open:
        before = "an earlier attempt was sent and got no clear answer; then "
    said = what.format(ending.base_url.origin)
    why = f"{before}{ending.finding.detail} ({tries}{end})"
    return f"{ending.call.method} {ending.call.path} {said}: {why}."
