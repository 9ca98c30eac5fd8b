"""Why a request is not sent (again): one line and the exact next command (promises R4, R5, R12)."""

from typing import Any

from svc.client.reply import NOT_OURS
from svc.client.retry import CLOCK_STEP_SECONDS, KEY_SAFE_SECONDS
from svc.clock import utc
from svc.delivery.journal.commands import Say, resume_command, where_to_look
from svc.delivery.journal.entry import Intent, Settled
from svc.errors import Conflict, NotFound, Outcome, OutcomeUnknown, SvcError

_HOURS = KEY_SAFE_SECONDS // 3600


def is_too_old(intent: Intent, now: float) -> bool:
    """Whether the service may have forgotten the key, so that it would do it a second time."""
    return now - intent.first_sent_at >= KEY_SAFE_SECONDS


def is_in_the_future(intent: Intent, now: float) -> bool:
    """Whether the clock was put back, so that nobody can tell the key's age.

    Some seconds are nothing: a clock that is kept right is put back by as much now and then.
    """
    return now < intent.first_sent_at - CLOCK_STEP_SECONDS


def _about(intent: Intent, code: str, *, outcome: Outcome = "not_sent") -> dict[str, Any]:
    """What every refusal of a recorded request says of it."""
    return {
        "code": code,
        "outcome": outcome,
        "request": intent.id,
        "idempotency_key": intent.stored.idempotency_key,
    }


def unknown_request(identifier: str) -> NotFound:
    return NotFound(
        f"There is no request {identifier[:40]!r} in the journal.",
        code="request_missing",
        outcome="not_sent",
        hint="List them: svc requests list",
    )


def in_flight(intent: Intent) -> Conflict:
    """Another process sends it now."""
    return Conflict(
        f"The request {intent.id} ({_what(intent)}) is being sent by another process now.",
        **_about(intent, "request_in_flight"),
        hint=f"Wait for it, then look: svc requests show {intent.id}",
    )


def twin_in_list(path: str, name: str) -> Conflict:
    """A list that another process is running has the same as one of its rows (promise R92)."""
    return Conflict(
        f"The same request (POST {path}) is a row of the list {name}, which another process is "
        "running now. Nothing was sent.",
        code="request_in_flight",
        outcome="not_sent",
        hint="Wait for the list; to send a second one all the same, add --new-request",
    )


def taken_end(settled: Settled) -> Settled:
    """The end of a request whose answer says that it made what another one has made (R93)."""
    return settled._replace(
        outcome="unknown",
        object_id=None,
        error_code=NOT_OURS,
        error_message=taken_words(settled.object_id),
    )


def taken_words(object_id: str | None) -> str:
    """Why an answer is not the one to its request."""
    return f"the answer names {object_id}, which was made under another idempotency key"


def not_ours(intent: Intent, settled: Settled) -> OutcomeUnknown:
    """The answer to a request belongs to another one (promise R93)."""
    return OutcomeUnknown(
        f"{_what(intent)} may have been carried out, but {taken_words(settled.object_id)}: "
        "it is the answer to another request.",
        **_about(intent, NOT_OURS, outcome="unknown"),
        status=settled.status,
        request_id=settled.request_id,
        retryable=True,
        hint=resume_command(intent),
    )


def done_meanwhile(intent: Intent, say: Say) -> Conflict:
    """Another process has carried out the same since this command began (promise R91)."""
    return _done_besides(
        intent,
        "by another process after this command had begun",
        f"{_see(intent, say)}; to send a second one all the same, add --new-request",
    )


def done_recently(intent: Intent, say: Say) -> Conflict:
    """The same was done less than ten minutes ago, and money moves (promise R115)."""
    return _done_besides(
        intent,
        f"a moment ago, at {utc(intent.settled_at or intent.first_sent_at)}",
        f"{_see(intent, say)}; to do it a second time, add --new-request",
    )


def recent_note(intent: Intent) -> str:
    """What a person is told who does in test mode what was done a moment ago."""
    made = intent.settled.object_id if intent.settled else None
    name = f" ({made})" if made else ""
    return f"The same was done a moment ago{name}; this is a second one."


def _done_besides(intent: Intent, how: str, hint: str) -> Conflict:
    made = intent.settled.object_id if intent.settled else None
    return Conflict(
        f"The same request ({_what(intent)}) was carried out {how}"
        f"{f': {made}' if made else ''}. Nothing was sent now.",
        **_about(intent, "request_settled"),
        hint=hint,
    )


def _see(intent: Intent, say: Say) -> str:
    made = intent.settled.object_id if intent.settled else None
    look = say(intent.scope, f"get {made}") if made else f"svc requests show {intent.id}"
    return f"See it: {look}"


def already_settled(intent: Intent, say: Say) -> Conflict:
    """There is nothing to resume."""
    settled = intent.settled or Settled("unknown")
    made = f" ({settled.object_id})" if settled.object_id else ""
    words = {"done": f"was carried out{made}", "refused": "was refused by the service"}
    look = f"svc requests show {intent.id}"
    return Conflict(
        f"The request {intent.id} ({_what(intent)}) is settled: it "
        f"{words.get(settled.outcome, settled.outcome)}. Nothing was sent.",
        **_about(intent, "request_settled", outcome=settled.outcome),
        hint=say(intent.scope, f"get {settled.object_id}") if settled.object_id else look,
    )


def twin_of(intent: Intent, now: float) -> Conflict:
    """The same request is unresolved already (promise R5)."""
    if is_too_old(intent, now) or is_in_the_future(intent, now):
        way = f"svc requests resume {intent.id} says where to see what it did"
    else:
        way = resume_command(intent)
    return Conflict(
        f"The same request ({_what(intent)}) was begun at {utc(intent.created_at)} and its "
        "outcome is not known. Nothing was sent now.",
        **_about(intent, "request_unresolved"),
        hint=f"{way}; to send a second one, add --new-request",
    )


def begun_anew(intent: Intent, say: Say) -> Conflict:
    """What is to be resumed was begun a second time meanwhile: done, or unresolved (R91)."""
    if intent.state == "done":
        return _done_besides(
            intent,
            f"by another one, begun later at {utc(intent.created_at)}",
            f"{_see(intent, say)}; to do it a second time, give its command again, do not resume",
        )
    return Conflict(
        f"The same request ({_what(intent)}) was begun once more at {utc(intent.created_at)} "
        "and its outcome is not known. Nothing was sent now.",
        **_about(intent, "request_unresolved"),
        hint=f"Settle that one first: {resume_command(intent)}",
    )


def twin_in_flight(intent: Intent) -> Conflict:
    """The same request is being sent by another process at this moment (promise R5)."""
    return Conflict(
        f"The same request ({_what(intent)}) is being sent by another process now. "
        "Nothing was sent by this one.",
        **_about(intent, "request_in_flight"),
        hint=f"Wait for it: svc requests show {intent.id}; to send a second one, add --new-request",
    )


def key_reused(intent: Intent) -> Conflict:
    """The user's key was used for something else (promise R12)."""
    return Conflict(
        f"The idempotency key {intent.stored.idempotency_key} was used for another request "
        f"({_what(intent)}, {utc(intent.created_at)}). Nothing was sent.",
        **_about(intent, "idempotency_key_reused"),
        hint=f"Use a new key for this one. The earlier one: svc requests show {intent.id}",
    )


def other_key(intent: Intent, key_hint: str) -> Conflict:
    """Another account would carry out what the first one has or may have carried out already."""
    if intent.state == "done":
        return Conflict(
            f"The request {intent.id} ({_what(intent)}) was carried out with the key "
            f"{intent.scope.key_hint}; this is {key_hint}, which may be of another account. "
            "Nothing was sent.",
            **_about(intent, "idempotency_key_spent"),
            hint=f"See what it did: svc requests show {intent.id}; for a second one use a new "
            "idempotency key",
        )
    return Conflict(
        f"The request {intent.id} ({_what(intent)}) was sent with the key {intent.scope.key_hint} "
        f"and its outcome is not known; this is {key_hint}. Nothing was sent.",
        **_about(intent, "request_unresolved"),
        hint=f"With the first key, or with --yes if both are of one account: "
        f"{resume_command(intent)}; for a second one use a new idempotency key",
    )


def refused_to_other_key(intent: Intent, error: SvcError) -> OutcomeUnknown:
    """What an account refuses says nothing of what another one may have carried out (R10)."""
    return OutcomeUnknown(
        f"The request {intent.id} ({_what(intent)}) may have been carried out with the key "
        f"{intent.scope.key_hint}; the key in use was refused, which does not settle it: "
        f"{error.message}",
        code=error.code,
        param=error.param,
        status=error.status,
        request_id=error.request_id,
        idempotency_key=intent.stored.idempotency_key,
        retryable=True,
        outcome="unknown",
    )


def done_before(intent: Intent, error: SvcError, say: Say) -> Conflict:
    """It was carried out, whatever sending it once more met."""
    made = intent.settled.object_id if intent.settled else None
    what = f" ({made})" if made else ""
    return Conflict(
        f"The idempotency key {intent.stored.idempotency_key} is spent: {_what(intent)} was "
        f"carried out with it{what}, first sent at {utc(intent.first_sent_at)}. Sent once "
        f"more, it brought no result: {error.message}",
        **_about(intent, "idempotency_key_spent", outcome="done"),
        status=error.status,
        request_id=error.request_id,
        hint=say(intent.scope, f"get {made}") if made else f"svc requests show {intent.id}",
    )


def key_spent(intent: Intent) -> Conflict:
    """The same request was carried out so long ago that the service would do it again."""
    return Conflict(
        f"The same request ({_what(intent)}) was carried out with this key at "
        f"{utc(intent.first_sent_at)}; after {_HOURS} hours the service may do it a second "
        "time. Nothing was sent.",
        **_about(intent, "idempotency_key_too_old"),
        hint=f"See what it did: svc requests show {intent.id}; for a second one use a new key",
    )


def not_again(intent: Intent, now: float, say: Say) -> OutcomeUnknown:
    """Sending it again could do it twice; the hint says where to see what it did (promise R4)."""
    behind = is_in_the_future(intent, now)
    sent = utc(intent.first_sent_at)
    why = (
        f"the clock says {utc(now)}, which is before it was sent ({sent})"
        if behind
        else f"it was sent at {sent}, and the service keeps a key for 24 hours only"
    )
    return OutcomeUnknown(
        f"The request {intent.id} ({_what(intent)}) is not sent again: {why}.",
        **_about(
            intent, "clock_behind" if behind else "idempotency_key_too_old", outcome="unknown"
        ),
        hint=f"{where_to_look(intent, say)}; then svc requests forget {intent.id}",
    )


def forgotten(intent: Intent, served: float, say: Say) -> OutcomeUnknown:
    """A sandbox's clock was turned forward, so that it may have forgotten the key (promise R4)."""
    return OutcomeUnknown(
        f"The request {intent.id} ({_what(intent)}) is not sent again: the sandbox's clock says "
        f"{utc(served)}, and it keeps a key for 24 hours only.",
        **_about(intent, "idempotency_key_too_old", outcome="unknown"),
        hint=f"{where_to_look(intent, say)}; then svc requests forget {intent.id}",
    )


def _what(intent: Intent) -> str:
    return f"POST {intent.stored.path}"
