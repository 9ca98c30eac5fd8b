"""The values that the journal keeps for a POST: what was sent, and how it ended (R2, R10).

`journal` takes a `NewIntent` before sending and a `Settled` after it, and returns an `Intent`, one
row of the table `requests`. `svc requests` and `svc timeline` show intents. A `Stored` is what a
POST is sent again from: `store_call` makes it, `restore_call` rebuilds the request byte for byte. A
`Scope` says for whom and where a request is.
"""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from svc import service
from svc.base_url import BaseUrl
from svc.client import find
from svc.client.amounts import read_answered_amount
from svc.client.call import Call, Encoding
from svc.client.contradiction import Contradiction, id_in
from svc.client.operations import action_at
from svc.client.reply import Reply
from svc.client.request import (
    CONTENT_TYPES,
    Prepared,
    check_path,
    request_headers,
    without_secrets,
)
from svc.delivery.likeness import UnreadableBody, fields_of, is_making, likenesses
from svc.errors import LocalError, Outcome, SvcError
from svc.redaction import redact, redact_maybe
from svc.service.facts import VERSION_HEADER


class Scope(NamedTuple):
    """The profile, mode, address and API key of a request.

    Two requests with one idempotency key are the same only within one scope.

    Attributes:
        base_url: origin and path prefix, as `str(BaseUrl)` writes them.
        key_fingerprint: prefix and last four of the API key, to tell another account's key from it.
    """

    profile: str
    mode: str
    base_url: str
    key_fingerprint: str = ""


class Stored(NamedTuple):
    """The values of a POST for sending it again byte for byte; the API key is not among them.

    Attributes:
        path: the path of the API, without the path of the base URL.
        body: the exact bytes, in `encoding`.
    """

    path: str
    encoding: Encoding
    body: bytes
    idempotency_key: str
    api_version: str | None

    def owner_of(self, named: str) -> str:
        """The owner of an object in the answer, which no other request can have (promise R93).

        A created object belongs to the idempotency key, and the payment of a capture to the path of
        its order. An object that the path names has no owner: the result is empty.
        """
        if is_making(self.path):
            return self.idempotency_key
        known = action_at(self.path)
        return self.path if known and named != known[2] else ""


def store_call(call: Call, prepared: Prepared) -> Stored:
    """Converts a prepared POST to its stored values."""
    assert prepared.idempotency_key is not None
    return Stored(
        call.path,
        call.encoding,
        prepared.body,
        prepared.idempotency_key,
        dict(prepared.headers).get(VERSION_HEADER),
    )


def restore_call(kept: Stored, base_url: BaseUrl) -> tuple[Call, Prepared]:
    """Rebuilds the call and the request that `Client.deliver` takes.

    Method, path, body, version and idempotency key are the first run's (promise R1), and the call
    has the checks of its operation again.

    Raises:
        LocalError: the stored values are damaged.
        AuthError: the request contains what looks like a secret (promise R100).
    """
    call = find.post(kept.path, _fields(kept), encoding=kept.encoding)
    target = base_url.prefix + check_path(kept.path)
    headers = request_headers(
        "POST",
        kept.body,
        content_type=CONTENT_TYPES[kept.encoding],
        key=kept.idempotency_key,
        api_version=kept.api_version,
    )
    url = base_url.origin + target
    made = Prepared("POST", url, target, headers, kept.body, kept.idempotency_key)
    return call, without_secrets(made)


def digests_of(scope: Scope, kept: Stored) -> tuple[str, str]:
    """The parameters digest and likeness of a request (R91); of its bytes if not readable."""
    try:
        fields = fields_of(kept.encoding, kept.body)
    except UnreadableBody:
        same = name_unread(hashlib.sha256(kept.body).hexdigest())
        return same, same
    return likenesses(scope.base_url, scope.mode, kept.path, fields)


def name_unread(body_sha256: str) -> str:
    """A substitute for the digest of an old request, stored without a digest and a body."""
    return f"sha256:{body_sha256}"


def _fields(kept: Stored) -> dict[str, object]:
    try:
        return fields_of(kept.encoding, kept.body)
    except UnreadableBody:
        raise LocalError(
            f"The kept body of POST {kept.path} is damaged; it cannot be sent again.",
            code="journal_damaged",
            idempotency_key=kept.idempotency_key,
            hint="Look at the service for what it did.",
        ) from None


EntryState: TypeAlias = Literal["open", "done", "refused", "not_sent", "unknown"]

UNRESOLVED = ("open", "unknown")
_LIMITED = 429
# The error code of a request that was carried out, and whose object has failed.
OBJECT_FAILED: Final = "object_failed"
AMOUNT_MAX: Final = 2**53  # more is no amount
# That of a row whose key the service knows with other parameters.
KEY_REUSED: Final = "idempotency_key_reused"


class KeyEquivalence(NamedTuple):
    """Which API keys belong to the same account as the key in use, as far as that is known.

    An API key does not name its account, so a key may be in neither set: its account is not known.
    An unresolved request is sent again only with a key of its own account. Two requests count as
    duplicates unless their keys are known to be of different accounts (promise R91).

    Attributes:
        same: fingerprints of keys of the same account; the key in use may be left out.
        other: fingerprints of keys of another account.
    """

    same: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()


NO_OTHER_KEYS: Final = KeyEquivalence()


class Charge(NamedTuple):
    """The amount that a request moves, in minor units; None where it is not known."""

    amount: int | None = None
    currency: str | None = None


class NewIntent(NamedTuple):
    """A prepared POST that is to be recorded.

    Attributes:
        batch, row: the batch and the row that the request comes from, if any.
        account: which other API keys are of the same account.
        key_given: whether the user has given the idempotency key.
        server_time: what a sandbox's clock said just before (unix seconds), if the service has one.
        alike: the digest of its parameters and its likeness, if they are already computed.
        requested_at: when a person asked for it (Unix seconds), or None.
        row_id: the row's own id, as `--row-id` names it.
        first_sent_at: when another machine, or this one before its journal was lost, sent it
            (Unix seconds); the request may have been carried out.
        charge: the most that it can move, where its bytes do not contain the amount.
    """

    stored: Stored
    scope: Scope
    batch: str | None = None
    row: int | None = None
    account: KeyEquivalence = NO_OTHER_KEYS
    key_given: bool = False
    server_time: float | None = None
    alike: tuple[str, str] | None = None
    requested_at: float | None = None
    row_id: str | None = None
    first_sent_at: float | None = None
    charge: Charge | None = None

    @property
    def digests(self) -> tuple[str, str]:
        """The digest of its parameters, and its likeness (promise R91)."""
        return self.alike or digests_of(self.scope, self.stored)

    @property
    def likeness(self) -> str:
        """The digest that all duplicates of the request share."""
        return self.digests[1]

    def is_own(self, key_fingerprint: str) -> bool:
        """Whether an API key is known to be of the same account as the key in use."""
        return key_fingerprint == self.scope.key_fingerprint or key_fingerprint in self.account.same


class Settled(NamedTuple):
    """How a request ended.

    Attributes:
        status: the HTTP status of the last answer, if one came.
        object_id: the id of the object that was created or changed.
        request_id: the service's id of the request.
        world: identifies the state of a sandbox, see `facts.SANDBOX_WORLD_HEADER`.
        proved: whether the service itself proved the outcome, see `SvcError.proved`.
        object_status: the status of the object in the answer.
        dated_at: the service's `Date` of the answer (Unix seconds).
        amount, currency: the amount that was moved according to the answer.
    """

    outcome: Outcome
    status: int | None = None
    object_id: str | None = None
    request_id: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    world: str | None = None
    proved: bool = False
    object_status: str | None = None
    dated_at: float | None = None
    amount: int | None = None
    currency: str | None = None


class Intent(NamedTuple):
    """One POST in the journal; times are in Unix seconds, and no attribute is secret.

    Attributes:
        seq: the journal's number, in the order of recording.
        stored: the request, byte for byte.
        first_sent_at: at the latest when the first byte was sent.
        sendings: how many times a process has begun to send it.
        digest: the digest of its exact parameters.
        likeness: the digest of its normalised parameters, which all its duplicates share.
        sent_before: whether an earlier sending may have been carried out; for `Client.deliver`.
        settled: its outcome, or None.
        lease: the sender that is sending it, or that died while it was sending.
        key_given: whether the user has given the idempotency key.
        server_time: what a sandbox's clock said before the first byte left, if the service has one.
        sent_with: the fingerprint of the API key of this sending, if it is not that of the first.
        amount, currency: the most that it can move, where that is known.
        dated_at: the service's `Date` of the first answer after it may have been carried out.
    """

    seq: int
    id: str
    scope: Scope
    stored: Stored
    body_sha256: str
    digest: str
    likeness: str
    created_at: float
    first_sent_at: float
    last_sent_at: float
    sendings: int
    state: EntryState
    batch: str | None
    row: int | None
    lease: str | None
    key_given: bool
    server_time: float | None
    settled: Settled | None = None
    settled_at: float | None = None
    sent_before: bool = False
    sent_with: str = ""
    row_id: str | None = None
    amount: int | None = None
    currency: str | None = None
    dated_at: float | None = None

    @property
    def is_unresolved(self) -> bool:
        """Whether the request may or may not have been carried out."""
        return self.state in UNRESOLVED

    @property
    def may_go_again(self) -> bool:
        """Whether its key may be sent again: unresolved, not carried out, or rate-limited."""
        limited = self.settled is not None and self.settled.status == _LIMITED
        return self.is_unresolved or self.state == "not_sent" or limited

    @property
    def is_kept_open(self) -> bool:
        """Whether the same command sends the same key again: no outcome is proved (R113)."""
        limited = self.settled is not None and self.settled.status == _LIMITED
        unproved = self.state == "refused" and not (self.settled and self.settled.proved)
        return self.state == "not_sent" or unproved or limited

    @property
    def begins_anew(self) -> bool:
        """Whether no earlier sending has, or may have, been carried out."""
        return not (self.is_unresolved or self.state == "done")

    @property
    def is_key_taken(self) -> bool:
        """Whether it is a row whose key the service has seen with other parameters."""
        code = self.settled.error_code if self.settled is not None else None
        return self.batch is not None and self.state == "refused" and code == KEY_REUSED

    @property
    def is_refused_for_good(self) -> bool:
        """Whether the service itself has proved that it refused the request (promise R113)."""
        return (
            self.settled is not None and self.settled.outcome == "refused" and self.settled.proved
        )

    @property
    def is_live(self) -> bool:
        return self.scope.mode == "live"


def settle_by_reply(reply: Reply) -> Settled:
    """Builds the outcome of a request that was carried out, and whose effect may have failed."""
    object_id = redact_maybe(id_in(reply.data))
    status = reply.data.get("status") if isinstance(reply.data, dict) else None
    return Settled(
        "done",
        reply.status,
        object_id,
        redact_maybe(reply.request_id),
        OBJECT_FAILED if reply.failure else None,
        redact_maybe(reply.failure),
        reply.world,
        proved=True,
        object_status=redact_maybe(status) if isinstance(status, str) else None,
        dated_at=reply.server_time,
        **_read_moved(reply.data),
    )


def _read_moved(data: Any) -> dict[str, Any]:
    """Reads the amount and currency that an answer says were moved; empty for an amount of zero."""
    noun = service.noun(str(data.get("object"))) if isinstance(data, dict) else None
    if noun is None:
        return {}
    total = next((action.total for action in noun.actions if action.limit), noun.money[0])
    amount, currency = read_answered_amount(data.get(total)), data.get("currency")
    if amount is None or not 0 < amount < AMOUNT_MAX or not isinstance(currency, str):
        return {}
    return {"amount": amount, "currency": redact(currency)}


def settle_by_error(error: SvcError) -> Settled:
    """Builds the outcome that an error of `Client.deliver` stands for."""
    made = error.object_id if isinstance(error, Contradiction) else None
    return Settled(
        error.outcome or "unknown",
        error.status,
        redact_maybe(made) if error.outcome == "done" else None,
        redact_maybe(error.request_id),
        redact(error.code or error.type),
        redact(error.message),
        error.world if isinstance(error, Contradiction) else None,
        error.proved,
        dated_at=error.server_time,
    )


def _share(value: Any) -> Any:
    """Returns a text as the one object of its words: the requests of a batch have few of them."""
    return intern(value) if type(value) is str else value


scope_of = lru_cache(maxsize=64)(Scope)


def intent_of(row: Mapping[str, Any]) -> Intent:
    """Reads a row of the table `requests`."""
    settled = None
    if row["state"] != "open":
        names = Settled._fields[1:-2]  # what was moved is the request's own
        settled = Settled(_share(row["state"]), *(_share(row[name]) for name in names))
        settled = settled._replace(proved=bool(settled.proved))
    return Intent(
        row["seq"],
        row["id"],
        scope_of(row["profile"], row["mode"], row["base_url"], row["key_hint"]),
        Stored(
            _share(row["path"]),
            _share(row["encoding"]),
            row["body"],
            row["idempotency_key"],
            _share(row["api_version"]),
        ),
        row["body_sha256"],
        row["identity"] or name_unread(row["body_sha256"]),
        row["likeness"] or name_unread(row["body_sha256"]),
        row["created_at"],
        row["first_sent_at"],
        row["last_sent_at"],
        row["sendings"],
        _share(row["state"]),
        _share(row["batch_id"]),
        row["batch_row"],
        _share(row["lease"]),
        bool(row["key_given"]),
        row["served_at"],
        settled,
        row["settled_at"],
        row_id=row["row_id"],
        amount=row["amount"],
        currency=_share(row["currency"]),
        dated_at=row["dated_at"],
    )


def row_of(new: Intent, kind: str) -> tuple[object, ...]:
    """The values of a new row of `requests`; `kind` is the group of its limits, or empty."""
    kept = new.stored
    return (
        new.seq,
        new.id,
        *new.scope,
        kept.idempotency_key,
        kept.api_version,
        kept.path,
        kept.encoding,
        kept.body,
        new.body_sha256,
        new.digest,
        new.likeness,
        *(new.created_at, new.first_sent_at, new.last_sent_at, new.sendings),
        *(new.state, new.batch, new.row, new.lease, new.key_given, new.server_time, new.row_id),
        *(kind or None, new.amount, new.currency),
    )
