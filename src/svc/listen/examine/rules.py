"""The rules for every webhook handler, as data: a row for each (`RULES`).

`examiner` makes the deliveries of each row; `svc events examine` and its help print the rules.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from svc.listen.examine.events import FORMS, UNKNOWN_TYPE
from svc.service.facts import SIGNATURE_TOLERANCE_SECONDS, WEBHOOK_DEADLINE_SECONDS


class TrialDelivery(NamedTuple):
    """One delivery of a rule.

    Attributes:
        case: the number of the rule's case; the same case, type and form are the same event.
        type: None for the type that is examined.
        signature: a word of `events.SIGNATURES`.
        form: a word of `events.FORMS`, empty for the usual one.
        minutes_ago: when the event was made.
        copies: how many are sent at once.
        is_cut: whether the connection is closed before the answer.
        is_refused: whether the handler must refuse it.
    """

    case: int = 0
    type: str | None = None
    signature: str = "signed"
    form: str = ""
    minutes_ago: int = 0
    copies: int = 1
    is_cut: bool = False
    is_refused: bool = False


class HandlerRule(NamedTuple):
    """One rule for handlers; one without deliveries is advice.

    Attributes:
        name: in a few words, as a table shows it.
        promise: what a handler does that keeps the rule: the end of a sentence "the handler ...".
        fix: what to change in a handler that does not.
        fixes: other words than `fix`, by the answer: a trouble, a status, or its first digit.
        effects: the effect of how many single events all deliveries have together.
        after: the rules that must not have failed, or this one says nothing of its own.
        seen: what a right effect shows; empty where the answers alone tell.
        is_soon: whether the effect must be there as soon as the answers are.
        reference: deliveries made before, which must have the same effect.
    """

    name: str
    promise: str
    fix: str
    deliveries: tuple[TrialDelivery, ...] = ()
    fixes: Mapping[str | int, str] | None = None
    effects: int = 0
    after: tuple[str, ...] = ("valid event",)
    seen: str = ""
    is_soon: bool = False
    reference: tuple[TrialDelivery, ...] = ()


def _refuse(*signatures: str) -> tuple[TrialDelivery, ...]:
    return tuple(
        TrialDelivery(case, signature=each, is_refused=True) for case, each in enumerate(signatures)
    )


# Pairs of which the second event makes the first one old news; where the effect of the first hangs
# on its being first, as that of a cancellation does, a difference would be no fault.
_PAIRS: Final = (
    ("payment.authorized", "payment.captured"),
    ("payment.captured", "order.paid"),
    ("refund.created", "refund.succeeded"),
    ("payout.sent", "payout.paid"),
)
_IN_ORDER: Final = tuple(
    TrialDelivery(case, kind, minutes_ago=minutes)
    for case, pair in enumerate(_PAIRS)
    for kind, minutes in zip(pair, (2, 1), strict=True)
)
_BACKWARDS: Final = tuple(sorted(_IN_ORDER, key=lambda each: (each.case, each.minutes_ago)))

_CHECKED_SIGNATURE: Final = ("valid event", "wrong signature")
_KNOWN_BY_ID: Final = ("valid event", "same event twice", "twice at once")

RULES: Final = (
    HandlerRule(
        "valid event",
        f"takes a valid event within {WEBHOOK_DEADLINE_SECONDS} s",
        "Compute the signature over the raw bytes of the body, and answer 200. Is the handler's "
        "secret the one that signs here, {secret}? --endpoint or SVC_WEBHOOK_SECRET choose it.",
        (TrialDelivery(0), TrialDelivery(1)),
        fixes={
            "timeout": "Save the event, answer 200, and do what takes long afterwards.",
            "closed": "See the handler's own log: it ended the connection, as a crash does.",
            "unreadable": "Give the address of an HTTP server, with https:// if it speaks TLS.",
            3: "Give the address that it redirects to: deliveries follow no redirect.",
            404: "Give the path of the handler, as in --forward-to 3000/webhooks.",
            405: "Give the path of the handler, as in --forward-to 3000/webhooks; it gets a POST.",
            5: "See the handler's own log: it failed on a valid event.",
        },
        effects=2,
        after=(),
    ),
    HandlerRule(
        "wrong signature",
        "refuses what is not signed, or wrongly",
        "Compute HMAC-SHA256 of '<t>.<raw body>' with the endpoint's secret, compare it with each "
        "v1 of Svc-Signature, and answer 400 before anything else if none fits.",
        _refuse("without a signature", "with a malformed signature", "with a wrong signature"),
    ),
    HandlerRule(
        "old signature",
        "refuses a signature of 10 minutes ago",
        f"Refuse a t of Svc-Signature that is more than {SIGNATURE_TOLERANCE_SECONDS} s from now: "
        "else a delivery that was overheard can be sent again for ever.",
        _refuse("signed 10 minutes ago"),
        after=_CHECKED_SIGNATURE,
    ),
    HandlerRule(
        "changed body",
        "refuses a body that was changed",
        "Compute the signature over the body that came, not over parts of it.",
        _refuse("with another amount than was signed"),
        after=_CHECKED_SIGNATURE,
    ),
    HandlerRule(
        "another secret",
        "refuses what another secret signed",
        "Compare with the signature made with this endpoint's secret alone.",
        _refuse("signed with another secret"),
        after=_CHECKED_SIGNATURE,
    ),
    HandlerRule(
        "rolled secret",
        "takes an event of which one of two signatures fits",
        "Compare with each v1 of Svc-Signature: while a secret is rolled there are two.",
        (TrialDelivery(signature="signed with a new secret and the old one"),),
        effects=1,
    ),
    HandlerRule(
        "unusual bytes",
        "takes JSON however it is written",
        "Compute the signature over the raw bytes, before any parsing: JSON that is parsed and "
        "written again has other bytes. Parse with a JSON library, and skip unknown members.",
        tuple(TrialDelivery(case, form=form) for case, form in enumerate(FORMS)),
        effects=len(FORMS),
    ),
    HandlerRule(
        "same event twice",
        "handles an event once, however often it comes",
        "Keep the event's id in the transaction of its effect; answer 200 to an id that is kept, "
        "and do nothing.",
        (TrialDelivery(), TrialDelivery()),
        effects=1,
        seen="sent twice, handled once",
    ),
    HandlerRule(
        "twice at once",
        "handles an event once when copies come at once",
        "Let the database decide: a unique index on the event's id, inserted in the transaction of "
        "the effect. A look whether it is there, before the insert, leaves a gap.",
        tuple(TrialDelivery(case, copies=4) for case in range(3)),
        effects=3,
        after=("valid event", "same event twice"),
        seen="3 events, 4 copies of each at once, each handled once",
    ),
    HandlerRule(
        "killed connection",
        "handles an event once when the first connection breaks",
        "Keep the id of an event with its effect, not with the answer; a connection that breaks "
        "undoes neither.",
        (TrialDelivery(is_cut=True), TrialDelivery()),
        effects=1,
        after=_KNOWN_BY_ID,
        seen="cut off, sent again, handled once",
    ),
    HandlerRule(
        "unknown type",
        "takes a type that it does not know and does nothing",
        "Answer 200 to types that the handler does not know, without any effect: there will be new "
        "ones, and what is refused is sent again for three days.",
        (TrialDelivery(type=UNKNOWN_TYPE),),
    ),
    HandlerRule(
        "wrong order",
        "ends the same in whichever order events come",
        "Let no older event overwrite a newer one: compare the event's created, or retrieve the "
        "object and go by its status. Take an event whose object is not known yet.",
        _BACKWARDS,
        after=("valid event", "same event twice", "unknown type"),
        seen=f"{len(_BACKWARDS)} events in the wrong order leave the same state as in order",
        reference=_IN_ORDER,
    ),
    HandlerRule(
        "saved first",
        "has saved an event before it answers",
        "Answer 200 after the event is committed, with its effect or in a queue on disk: what was "
        "answered is never sent again. With a queue, have --check count what is in it.",
        tuple(TrialDelivery(case) for case in range(3)),
        effects=3,
        after=_KNOWN_BY_ID,
        seen="3 events were saved when the answers came",
        is_soon=True,
    ),
    HandlerRule(
        "constant time",
        "compares signatures in constant time",
        "Read the code: hmac.compare_digest in Python, crypto.timingSafeEqual in Node, hash_equals "
        "in PHP; never ==.",
        after=(),
    ),
)
