"""What the journal keeps of a POST, as values (promises R2, R10)."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from svc import service
from svc.client.call import Call
from svc.client.contradiction import CONTRADICTED, Contradiction, id_in
from svc.client.reply import Reply
from svc.client.request import (
    Prepared,
)
from svc.delivery.journal.stored import Scope, Stored, digests_of, name_unread, store_call
from svc.errors import Outcome, SvcError
from svc.redaction import redact, redact_maybe

EntryState: TypeAlias = Literal["open", "done", "refused", "not_sent", "unknown"]

UNRESOLVED = ("open", "unknown")
_LIMITED = 429
# The error code of a request that was carried out, and whose object has failed.
OBJECT_FAILED: Final = "object_failed"
AMOUNT_MAX: Final = 2**53  # more is no amount
# That of a row whose key the service knows with other parameters.
KEY_REUSED: Final = "idempotency_key_reused"


class KeyEquivalence(NamedTuple):
    """Which API keys are known to be of the account of the one in use, and which are not.

    A key names no account, so there are three answers: what is in neither set is not known. A
    request may be sent again only with a key that is shown to be of its account; a request counts
    as the same unless its key is shown to be of another account (promise R91).

    Attributes:
        same, other: `key_fingerprint`s of keys; the one in use need not be among them.
    """

    same: frozenset[str] = frozenset()
    other: frozenset[str] = frozenset()


NO_OTHER_KEYS: Final = KeyEquivalence()


class Charge(NamedTuple):
    """What a request moves, in minor units; None where that is not known."""

    amount: int | None = None
    currency: str | None = None


class NewIntent(NamedTuple):
    """A prepared POST that is to be recorded.

    Attributes:
        batch, row: where it came from.
        account: what is known of other keys.
        key_given: whether the idempotency key is the user's own.
        server_time: what a sandbox's clock said just before (unix seconds), if the service has one.
        alike: its parameters digest and likeness, where they are known already.
        requested_at: when a person asked for it (unix seconds), where a person did.
        row_id: what the file calls its row, where it says so.
        first_sent_at: when another machine, or this one before its journal was lost, sent it
            (unix seconds); it may have been carried out.
        charge: what it moves at most, where more is known of that than its bytes say.
    """

    call: Call
    prepared: Prepared
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
        """Its parameters digest and its likeness (promise R91)."""
        return self.alike or digests_of(self.scope, store_call(self.call, self.prepared))

    @property
    def likeness(self) -> str:
        """What finds its duplicates."""
        return self.digests[1]

    def is_own(self, key_fingerprint: str) -> bool:
        """Whether a key is shown to be of the account of the one in use."""
        return key_fingerprint == self.scope.key_fingerprint or key_fingerprint in self.account.same


class Settled(NamedTuple):
    """How a request ended.

    Attributes:
        status: of the last answer, where one came.
        object_id: what was made or changed.
        request_id: the service's name for the exchange.
        world: the state of a sandbox that answered, see `facts.SANDBOX_WORLD_HEADER`.
        proved: whether the service itself proved the outcome, see `SvcError.proved`.
        object_status: what the answer called the status of what was made or changed.
        dated_at: the service's own `Date` of the answer (unix seconds).
        amount, currency: what it has moved, as the answer says.
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
    """One POST as the journal has it; times are unix seconds, none of it is secret.

    Attributes:
        seq: the journal's number, in the order of recording.
        stored: what is sent, byte for byte.
        first_sent_at: never later than the first byte that left.
        sendings: how many times a process has set out to send it.
        digest: of its exact parameters.
        likeness: of its folded parameters.
        sent_before: whether an earlier sending may have been carried out; for `Client.deliver`.
        settled: how it ended, or None.
        lease: the sender that has it, or that died while it had it.
        key_given: whether the idempotency key is the user's own.
        server_time: a sandbox's clock before the first byte left; None of other services.
        sent_with: the fingerprint of the API key of this sending, if it is not the first one's.
        amount, currency: what it moves at most, where that is known.
        dated_at: the service's own `Date` of the first answer since it may have been carried out.
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
        """Whether it is unknown if it was carried out."""
        return self.state in UNRESOLVED

    @property
    def may_go_again(self) -> bool:
        """Whether its key is still open: unresolved, never carried out, or too much at once."""
        limited = self.settled is not None and self.settled.status == _LIMITED
        return self.is_unresolved or self.state == "not_sent" or limited

    @property
    def is_kept_open(self) -> bool:
        """Whether the same request sends the same key again: nothing has proved an end (R113)."""
        limited = self.settled is not None and self.settled.status == _LIMITED
        unproved = self.state == "refused" and not (self.settled and self.settled.proved)
        return self.state == "not_sent" or unproved or limited

    @property
    def begins_anew(self) -> bool:
        """Whether sending it now would be the first time that it can be carried out."""
        return not (self.is_unresolved or self.state == "done")

    @property
    def is_contradicted(self) -> bool:
        """Whether it was carried out, with an answer that says something else (promise R15)."""
        code = self.settled.error_code if self.settled is not None else None
        return self.state == "done" and code == CONTRADICTED

    @property
    def is_failed(self) -> bool:
        """Whether it was carried out and what it made has failed (promise R117)."""
        code = self.settled.error_code if self.settled is not None else None
        return self.state == "done" and code == OBJECT_FAILED

    @property
    def is_key_taken(self) -> bool:
        """Whether it is a row whose key the service knows with other parameters."""
        code = self.settled.error_code if self.settled is not None else None
        return self.batch is not None and self.state == "refused" and code == KEY_REUSED

    @property
    def is_refused_for_good(self) -> bool:
        """Whether the service itself has proved that it refused it (promise R113)."""
        return (
            self.settled is not None and self.settled.outcome == "refused" and self.settled.proved
        )

    @property
    def is_live(self) -> bool:
        return self.scope.mode == "live"


def settle_by_reply(reply: Reply, failure: str | None = None) -> Settled:
    """The end of a request that was carried out; `failure` says why its object has failed."""
    object_id = redact_maybe(id_in(reply.data))
    status = reply.data.get("status") if isinstance(reply.data, dict) else None
    return Settled(
        "done",
        reply.status,
        object_id,
        redact_maybe(reply.request_id),
        OBJECT_FAILED if failure else None,
        redact_maybe(failure),
        reply.world,
        proved=True,
        object_status=redact_maybe(status) if isinstance(status, str) else None,
        dated_at=reply.server_time,
        **_read_moved(reply.data),
    )


def _read_moved(data: Any) -> dict[str, Any]:
    """What an answer says was moved, with its currency; zero is none: an order before capture."""
    noun = service.noun(str(data.get("object"))) if isinstance(data, dict) else None
    if noun is None:
        return {}
    total = next((action.total for action in noun.actions if action.limit), noun.money[0])
    amount, currency = data.get(total), data.get("currency")
    if type(amount) is not int or not 0 < amount < AMOUNT_MAX or not isinstance(currency, str):
        return {}
    return {"amount": amount, "currency": redact(currency)}


def settle_by_error(error: SvcError) -> Settled:
    """The end that an error of `Client.deliver` stands for."""
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


def intent_of(row: Mapping[str, Any]) -> Intent:
    """Reads a row of the table `requests`."""
    settled = None
    if row["state"] != "open":
        names = Settled._fields[1:-2]  # what was moved is the request's own
        settled = Settled(row["state"], *(row[name] for name in names))
        settled = settled._replace(proved=bool(settled.proved))
    return Intent(
        row["seq"],
        row["id"],
        Scope(row["profile"], row["mode"], row["base_url"], row["key_hint"]),
        Stored(
            row["path"], row["encoding"], row["body"], row["idempotency_key"], row["api_version"]
        ),
        row["body_sha256"],
        row["identity"] or name_unread(row["body_sha256"]),
        row["likeness"] or name_unread(row["body_sha256"]),
        row["created_at"],
        row["first_sent_at"],
        row["last_sent_at"],
        row["sendings"],
        row["state"],
        row["batch_id"],
        row["batch_row"],
        row["lease"],
        bool(row["key_given"]),
        row["served_at"],
        settled,
        row["settled_at"],
        row_id=row["row_id"],
        amount=row["amount"],
        currency=row["currency"],
        dated_at=row["dated_at"],
    )


def row_of(new: Intent, kind: str) -> tuple[object, ...]:
    """What is inserted of a request at first; `kind` is the group of its limits, or empty."""
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
