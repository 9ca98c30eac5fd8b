"""Changes to the journal of POSTs within one transaction, with the SQL; `journal` makes them.

Each method is one step of `Journal`: record, begin again, settle, release, delete. It refuses what
a rule forbids (a duplicate, a limit, a running batch) before a row is written.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from svc.client import find
from svc.clock import utc
from svc.delivery.journal import refusals
from svc.delivery.journal.entry import (
    OBJECT_FAILED,
    Charge,
    EntryState,
    Intent,
    NewIntent,
    Scope,
    Settled,
    digests_of,
    intent_of,
    row_of,
)
from svc.delivery.journal.limits import (
    NO_LIMITS,
    LimitBook,
    LimitRules,
    ReadRows,
    group_of,
    read_stated_charge,
)
from svc.delivery.journal.refusals import FormatCommand
from svc.delivery.journal.sender_locks import SenderLocks
from svc.delivery.likeness import (
    are_told_apart,
    place_of,
    read_effect,
    read_folded,
    read_marks,
)
from svc.state import Tx

# A command that is given once more within so many seconds of its effect is told.
RECENT_SECONDS: Final = 600
_PIECE: Final = 500  # parameters of one statement
UNRESOLVED = "state IN ('open', 'unknown')"
SELECT = "SELECT * FROM requests"
_BY_KEYS = f"{SELECT} WHERE idempotency_key IN ({{}})"
DUPLICATES = f"{SELECT} WHERE {UNRESOLVED} AND likeness = ? ORDER BY seq DESC"
# What decides over a request: whatever is unresolved and like it, and the newest of the others.
_NEWEST = "SELECT seq FROM requests WHERE likeness = ? ORDER BY seq DESC LIMIT 5"
LIKE = f"{SELECT} WHERE likeness = ? AND ({UNRESOLVED} OR seq IN ({_NEWEST})) ORDER BY seq DESC"
# What was begun anew after a request that was not carried out, and was.
_SINCE = f"{SELECT} WHERE state = 'done' AND likeness = ? AND seq > ? ORDER BY seq DESC"
# What was begun after a request was sent, and before the journal took that from a results file
# (with its time in seconds), and was done; of the same batch only what a single command did.
_UNAWARE = f"""{SELECT} WHERE state = 'done' AND coalesce(error_code, '') != '{OBJECT_FAILED}'
  AND likeness = ? AND seq < ? AND created_at > ? + 1
  AND (batch_id IS NOT ? OR batch_row IS NULL) ORDER BY seq DESC LIMIT 1"""
# What a later update of the object may contradict, which was or may have been carried out.
_CHANGING: Final = ("update", "cancel", "accept")
_LATER = """
SELECT * FROM requests WHERE path = ? AND mode = ? AND seq > ? AND seq IN (
  SELECT seq FROM requests WHERE object_id = ? AND state = 'done' UNION ALL
  SELECT seq FROM requests WHERE state IN ('open', 'unknown')) ORDER BY seq DESC"""
# What is unresolved, as few requests are, or was done a moment ago; of these, what moves the same.
_LATELY = """
SELECT seq FROM requests WHERE state IN ('open', 'unknown') UNION ALL
SELECT seq FROM requests WHERE settled_at > ? AND state = 'done'
  AND batch_id IS NULL AND state IN ('done', 'refused', 'not_sent') AND key_given = 0"""
_MOVES = f"{SELECT} WHERE seq IN ({_LATELY}) AND amount = ? AND mode = ? ORDER BY seq DESC"
# Who is about to send the same as a row of a list.
RESERVED = """
SELECT name, lease, key_hint FROM reservations JOIN batches ON batches.id = batch_id
WHERE identity = ?"""
# What was sent a second time may have been sent with another key, and an answer that contradicts
# its request may name another request's object.
MADE_WITH = """
SELECT object_id FROM requests WHERE state = 'done' AND sendings = 1 AND object_id IS NOT NULL
  AND error_code IS NULL
  AND key_hint = ? AND base_url = ? AND mode = ? ORDER BY seq DESC LIMIT 10"""
_LAST = "SELECT coalesce(max(seq), 0) AS seq FROM requests"
_INSERT = """
INSERT INTO requests
  (seq, id, profile, mode, base_url, key_hint, idempotency_key, api_version, path, encoding, body,
   body_sha256, identity, likeness, created_at, first_sent_at, last_sent_at, sendings, state,
   batch_id, batch_row, lease, key_given, served_at, row_id,
   kind, amount, currency)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_AGAIN = """
UPDATE requests SET state = ?, key_hint = ?, first_sent_at = ?, last_sent_at = ?, served_at = ?,
  dated_at = ?, sendings = sendings + 1, lease = ?, amount = ?, currency = ? WHERE seq = ?"""
_CORRECT = """
UPDATE requests SET api_version = ?, path = ?, encoding = ?, body = ?, body_sha256 = ?,
  identity = ?, likeness = ? WHERE seq = ?"""
# What was carried out once stays so, whatever a later sending of the same key meets.
_SETTLE = """
UPDATE requests SET state = ?, status = ?, object_id = ?, request_id = ?, error_code = ?,
  error_message = ?, world = ?, proved = ?, object_status = ?,
  dated_at = coalesce(dated_at, ?),
  amount = coalesce(?, amount), currency = coalesce(?, currency), settled_at = ?,
  key_hint = ?, boot = ?, uptime = ?
  WHERE id = ? AND (state != 'done' OR ? = 'done')"""
_RELEASE = "UPDATE requests SET lease = NULL WHERE id = ? AND lease = ?"
# What was, or may have been, moved still counts.
_FORGOTTEN = """
INSERT INTO forgotten (idempotency_key, kind, profile, mode, base_url, key_hint, path,
  forgotten_at, amount, currency, boot, uptime)
SELECT idempotency_key, IIF(state IN ('refused', 'not_sent'), NULL, kind), profile, mode, base_url,
  key_hint, path, ?, ?, ?, ?, ? FROM requests WHERE seq = ?"""
_CLAIMED = f"""
{SELECT} WHERE object_id = ? AND mode = ? AND state = 'done' AND coalesce(world, '') = ?"""
_UNREAD = f"{SELECT} WHERE likeness IS NULL"
_READ = "UPDATE requests SET identity = ?, likeness = ? WHERE seq = ?"
ANY_OLD = "SELECT 1 FROM requests WHERE likeness IS NULL LIMIT 1"


class Like(NamedTuple):
    """A duplicate of a request; `is_sending` is whether a process is sending it now."""

    intent: Intent
    is_sending: bool


class JournalTransaction(NamedTuple):
    """The changes to requests within one transaction."""

    tx: Tx
    sender_locks: SenderLocks
    now: float
    new_id: Callable[[], str]
    format_command: FormatCommand
    rules: LimitRules = NO_LIMITS

    @property
    def book(self) -> LimitBook:
        """The limits with their use, as this transaction reads them."""
        return LimitBook(self.tx.rows, self.rules, self.now)

    def find(self, identifier: str) -> Intent:
        found = by_id(self.tx.rows, identifier)
        if found is None:
            raise refusals.build_unknown_request(identifier)
        return found

    def by_key(self, asked: NewIntent) -> Intent | None:
        return by_key(self.tx.rows, asked.stored.idempotency_key, asked.scope)

    def likes(self, asked: NewIntent) -> list[Like]:
        """Finds duplicates that may be of the same account, the newest first (R5, R91).

        What may be the same in other words follows: what is unresolved, and what a single command
        did a moment ago (R115).
        """
        found = map(intent_of, self.tx.rows(LIKE, (asked.likeness, asked.likeness)))
        return [
            Like(one, self.sender_locks.is_alive(one.lease))
            for one in (*found, *self._find_reworded(asked))
            if one.scope.key_fingerprint not in asked.account.other
        ]

    def _find_reworded(self, asked: NewIntent) -> list[Intent]:
        """Finds requests with the effect of one that may be it in other words: no mark differs."""
        here, said = place_of(asked.scope.base_url), _charge_of(asked)
        marks, effect = _marks_of(asked), read_effect(*asked.stored[:3], said.amount)
        since = self.now - RECENT_SECONDS
        rows = self.tx.rows(_MOVES, (since, said.amount, asked.scope.mode)) if effect else []
        return [
            one
            for one in map(intent_of, rows)
            if one.likeness != asked.likeness and place_of(one.scope.base_url) == here
            if None in (one.currency, said.currency) or one.currency == said.currency
            if read_effect(*one.stored[:3], one.amount) == effect
            if not are_told_apart(_marks_of(one), marks)
        ]

    def refuse_reserved(self, asked: NewIntent) -> None:
        """Refuses a request that a running batch is going to send (promise R92)."""
        for row in self.tx.rows(RESERVED, (asked.likeness,)):
            other = row["key_hint"] in asked.account.other
            if not other and self.sender_locks.is_alive(row["lease"]):
                raise refusals.build_duplicate_in_batch_error(asked.stored.path, row["name"])

    def admit(self, asked: Sequence[NewIntent]) -> list[Intent]:
        """Inserts requests; a request that is on record with its key is begun again."""
        known = self._find_known(asked)
        (last,) = self.tx.rows(_LAST)
        fresh: list[Intent] = []
        found: list[Intent] = []
        for one in asked:
            same_key = known.setdefault(one.stored.idempotency_key, [])
            if before := _find_used_in(same_key, one.scope):
                found.append(self._repeat(before, one))
                continue
            fresh.append(self._build(one, last["seq"] + len(fresh) + 1))
            same_key.append(fresh[-1])
            found.append(fresh[-1])
        kinds = [group_of(one.stored.path) for one in fresh]
        self.tx.many(_INSERT, map(row_of, fresh, kinds))
        self.book.refuse_beyond(fresh)
        return found

    def keep_known_from_results(self, told: Sequence[tuple[NewIntent, Settled | None]]) -> None:
        """Records requests that only a results file reports, at their own times, without limits."""
        for asked, settled in told:
            if self.by_key(asked) is None:
                then = self._replace(now=asked.first_sent_at or self.now, rules=NO_LIMITS)
                found = then.admit([asked])
                if settled is None:
                    then.release(found)
                else:
                    then.settle([(found[0], settled)])

    def _find_known(self, asked: Sequence[NewIntent]) -> dict[str, list[Intent]]:
        """Finds the requests that use the same idempotency keys, by key."""
        found: dict[str, list[Intent]] = {}
        for begin in range(0, len(asked), _PIECE):
            keys = [one.stored.idempotency_key for one in asked[begin : begin + _PIECE]]
            for row in self.tx.rows(_BY_KEYS.format(",".join("?" * len(keys))), keys):
                found.setdefault(row["idempotency_key"], []).append(intent_of(row))
        return found

    def _repeat(self, known: Intent, asked: NewIntent) -> Intent:
        if known.stored != asked.stored:
            known = self._correct(known, asked)
        if known.state == "done" and refusals.is_too_old(known, self.now):
            raise refusals.KEY_SPENT.about(known)
        self._refuse_in_flight(known)
        if (known.is_unresolved or known.state == "done") and not asked.is_own(
            known.scope.key_fingerprint
        ):
            is_done = known.state == "done"
            row = refusals.DONE_BY_OTHER_KEY if is_done else refusals.OPEN_WITH_OTHER_KEY
            raise row.about(known, own_key=asked.scope.key_fingerprint)
        known = _charge_as(asked, known)
        return self._begin(
            known, asked.scope.key_fingerprint, asked.server_time, asked.first_sent_at
        )

    def _correct(self, known: Intent, asked: NewIntent) -> Intent:
        """Replaces a request without effect by the corrected row that has the same key."""
        is_row = asked.batch is not None and asked.batch == known.batch and not asked.key_given
        if not (is_row and known.begins_anew) or known.is_key_taken:
            raise refusals.KEY_REUSED.about(known)
        kept = asked.stored
        new = known._replace(
            stored=kept,
            body_sha256=hashlib.sha256(kept.body).hexdigest(),
            digest=asked.digests[0],
            likeness=asked.digests[1],
        )
        said = (kept.api_version, kept.path, kept.encoding, kept.body)
        self.tx.execute(_CORRECT, (*said, new.body_sha256, new.digest, new.likeness, new.seq))
        return new

    def take_up(self, known: Intent, asked: NewIntent) -> Intent:
        """Begins an earlier request again whose outcome is not proved (promise R113)."""
        self._refuse_in_flight(known)
        return self._begin(_charge_as(asked, known), asked.scope.key_fingerprint, asked.server_time)

    def reopen(
        self, intent: Intent, key_fingerprint: str | None, server_time: float | None
    ) -> Intent:
        """Begins an unresolved or unsent request again."""
        self._refuse_in_flight(intent)
        if not intent.may_go_again:
            raise refusals.build_already_settled(intent, self.format_command)
        if not intent.is_unresolved:
            self._refuse_duplicate_of(intent)
        else:
            self._refuse_outdated(intent)
        begun = self._begin(intent, intent.scope.key_fingerprint, server_time)
        return begun._replace(sent_with=key_fingerprint or "")

    def _refuse_duplicate_of(self, intent: Intent) -> None:
        """Refuses to reopen a request whose duplicate is unresolved, or was done later (R91)."""
        later = self.tx.rows(_SINCE, (intent.likeness, intent.seq))
        for row in (*self.tx.rows(DUPLICATES, (intent.likeness,)), *later):
            if intent.batch is None or row["batch_id"] != intent.batch:
                other = intent_of(row)
                is_done = other.state == "done"
                refusal = refusals.DONE_ANEW if is_done else refusals.BEGUN_ANEW
                raise refusal.about(other, self.format_command)

    def _refuse_outdated(self, intent: Intent) -> None:
        """Refuses an unknown request that was done anew before the journal knew of it (R115).

        Also one that a later update of its object contradicts.
        """
        done = (intent.likeness, intent.seq, intent.first_sent_at, intent.batch)
        for row in self.tx.rows(_UNAWARE, done):
            raise refusals.DONE_UNAWARE.about(
                intent, self.format_command, other=row["id"], at=utc(row["settled_at"])
            )
        path, here = intent.stored.path, place_of(intent.scope.base_url)
        if (find.post(path).operation or "").rpartition(".")[2] not in _CHANGING:
            return
        said, changed = read_folded(*intent.stored[:3]), "/".join(path.split("/")[:4])
        later = (changed, intent.scope.mode, intent.seq, changed.rpartition("/")[2])
        for other in map(intent_of, self.tx.rows(_LATER, later)):
            otherwise = path != changed or are_told_apart(said, read_folded(*other.stored[:3]))
            if otherwise and place_of(other.scope.base_url) == here:
                raise refusals.OVERTAKEN.about(
                    intent, self.format_command, other=other.id, at=utc(other.created_at)
                )

    def forget(self, intent: Intent) -> None:
        """Deletes a request; raises Conflict: a process is sending it."""
        self._refuse_in_flight(intent)
        said = read_stated_charge(intent.stored)
        amount = said.amount if intent.amount is None else intent.amount
        charge = (amount, intent.currency or said.currency)
        self.tx.execute(_FORGOTTEN, (self.now, *charge, *self._uptime(), intent.seq))
        self.tx.execute("DELETE FROM requests WHERE seq = ?", (intent.seq,))

    def settle(self, ends: Sequence[tuple[Intent, Settled]]) -> frozenset[str]:
        """Records outcomes and releases leases; returns the ids whose answer is another request's.

        The object of such an answer is on record under another idempotency key, so that the outcome
        of the request is not known (promise R93).
        """
        taken = self._find_taken(ends)
        kept = [
            (intent, refusals.settle_claimed_by_other(settled) if intent.id in taken else settled)
            for intent, settled in ends
        ]
        uptime = self._uptime()
        self.tx.many(
            _SETTLE,
            [
                (
                    *(*end, self.now),
                    # The API key with which it was carried out, else that of the first sending.
                    (end.outcome == "done" and intent.sent_with) or intent.scope.key_fingerprint,
                    *(*uptime, intent.id, end.outcome),
                )
                for intent, end in kept
            ],
        )
        self.release(intent for intent, _ in ends)
        return taken

    def release(self, intents: Iterable[Intent]) -> None:
        self.tx.many(_RELEASE, [(intent.id, intent.lease) for intent in intents])

    def read_old(self) -> None:
        """Fills in columns of requests that were recorded before these columns existed."""
        for row in self.tx.rows(_UNREAD):
            intent = intent_of(row)
            if intent.stored.body or row["identity"] is None:
                digest, likeness = digests_of(intent.scope, intent.stored)
            else:  # its body was let go of
                digest = likeness = row["identity"]
            self.tx.execute(_READ, (digest, likeness, intent.seq))

    def _find_taken(self, ends: Sequence[tuple[Intent, Settled]]) -> frozenset[str]:
        found: set[str] = set()
        by: dict[tuple[str, str | None], str] = {}
        for intent, settled in ends:
            made = (settled.object_id if settled.outcome == "done" else None) or ""
            owner = intent.stored.owner_of(made) if made else ""
            if not owner:
                continue
            first = by.setdefault((made, settled.world), owner)
            if first != owner or is_claimed_by_other(self.tx.rows, intent, made, settled.world):
                found.add(intent.id)
        return frozenset(found)

    def _uptime(self) -> tuple[str | None, float | None]:
        return self.rules.uptime() or (None, None)

    def _refuse_in_flight(self, intent: Intent) -> None:
        if self.sender_locks.is_alive(intent.lease):
            raise refusals.IN_FLIGHT.about(intent)

    def _build(self, asked: NewIntent, seq: int) -> Intent:
        kept, now, charge = asked.stored, self.now, _charge_of(asked)
        return Intent(
            seq,
            self.new_id(),
            asked.scope,
            kept,
            hashlib.sha256(kept.body).hexdigest(),
            *asked.digests,
            *(now, asked.first_sent_at or now, now),
            sendings=1,
            state="open",
            batch=asked.batch,
            row=asked.row,
            lease=self.sender_locks.token,
            key_given=asked.key_given,
            server_time=asked.server_time,
            sent_before=asked.first_sent_at is not None,
            row_id=asked.row_id,
            amount=charge.amount,
            currency=charge.currency,
        )

    def _begin(
        self,
        intent: Intent,
        key_fingerprint: str,
        server_time: float | None,
        first_sent_at: float | None = None,
    ) -> Intent:
        """Begins a request again; `first_sent_at` is as in `NewIntent`."""
        now = self.now
        if first_sent_at is not None:
            intent = intent._replace(first_sent_at=min(first_sent_at, intent.first_sent_at))
        begun = intent.is_unresolved or intent.state == "done" or first_sent_at is not None
        stale = refusals.is_too_old(intent, now) or refusals.is_in_the_future(intent, now)
        if begun and stale:
            raise refusals.build_not_again(intent, now, self.format_command)
        lease = self.sender_locks.token
        phase: EntryState = "done" if intent.state == "done" else "open"
        # A request that was never carried out starts its 24 hours anew.
        first = intent.first_sent_at if begun else now
        served = intent.server_time if begun else server_time
        dated = intent.dated_at if begun else None
        again = (phase, key_fingerprint, first, now, served, dated, lease)
        self.tx.execute(_AGAIN, (*again, intent.amount, intent.currency, intent.seq))
        if not begun:
            self.book.refuse_beyond([intent])
        return intent._replace(
            scope=intent.scope._replace(key_fingerprint=key_fingerprint),
            state=phase,
            first_sent_at=first,
            last_sent_at=now,
            server_time=served,
            dated_at=dated,
            sendings=intent.sendings + 1,
            lease=lease,
            sent_before=begun,
        )


def _marks_of(one: Intent | NewIntent) -> tuple[tuple[str, str], ...]:
    key = one.stored.idempotency_key if one.key_given else None
    return read_marks(*one.stored[:3], row_id=one.row_id, key=key)


def _charge_of(asked: NewIntent) -> Charge:
    return asked.charge or read_stated_charge(asked.stored)


def _charge_as(asked: NewIntent, known: Intent) -> Intent:
    """Updates the amount of a request that begins anew; an unresolved one keeps its amount."""
    return known._replace(**_charge_of(asked)._asdict()) if known.begins_anew else known


def by_id(rows: ReadRows, identifier: str) -> Intent | None:
    """The request with an id, or None; read within a transaction or without."""
    found = rows(f"{SELECT} WHERE id = ?", (identifier,))
    return intent_of(found[0]) if found else None


def by_key(rows: ReadRows, key: str, scope: Scope) -> Intent | None:
    """The request that used an idempotency key in a scope, or None."""
    return _find_used_in([intent_of(row) for row in rows(_BY_KEYS.format("?"), (key,))], scope)


def _find_used_in(same_key: Sequence[Intent], scope: Scope) -> Intent | None:
    """Chooses the request of a scope; profiles with the same API key share a scope (R91).

    Of several requests without effect it is the one with that API key: the others may be of other
    accounts.
    """
    here = place_of(scope.base_url)
    found = [
        one
        for one in same_key
        if (place_of(one.scope.base_url), one.scope.mode) == (here, scope.mode)
        and (
            one.scope.profile == scope.profile or one.scope.key_fingerprint == scope.key_fingerprint
        )
    ]
    own = scope.key_fingerprint
    return min(
        found, key=lambda one: (one.begins_anew, one.scope.key_fingerprint != own), default=None
    )


def is_claimed_by_other(rows: ReadRows, intent: Intent, object_id: str, world: str | None) -> bool:
    """Whether the object of an answer is on record as that of another request."""
    owner = intent.stored.owner_of(object_id)
    found = rows(_CLAIMED, (object_id, intent.scope.mode, world or "")) if owner else []
    here = place_of(intent.scope.base_url) if found else ""  # as nearly never
    others = (one for one in map(intent_of, found) if place_of(one.scope.base_url) == here)
    return any(one.stored.owner_of(object_id) not in ("", owner) for one in others)
