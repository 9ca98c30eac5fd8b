"""Changes of the journal of POSTs within one transaction; `intents` is the way in."""

import hashlib
from collections.abc import Callable

from svc.client.journal import refusals
from svc.client.journal.entry import Asked, Intent, Phase, intent_of, stored
from svc.client.journal.leases import Leases
from svc.client.journal.refusals import where_to_look
from svc.journal import Tx

UNRESOLVED = "state IN ('open', 'unknown')"
SELECT = "SELECT * FROM requests"
BY_ID = f"{SELECT} WHERE id = ?"
BY_KEY = f"{SELECT} WHERE idempotency_key = ? AND base_url = ? AND mode = ? AND profile = ?"
TWIN = f"""{SELECT} WHERE {UNRESOLVED} AND body_sha256 = ? AND path = ? AND encoding = ?
  AND base_url = ? AND mode = ? AND profile = ? ORDER BY seq DESC LIMIT 1"""
# What was sent a second time may have been sent with another key.
MADE_WITH = """
SELECT object_id FROM requests WHERE state = 'done' AND sendings = 1 AND object_id IS NOT NULL
  AND key_hint = ? AND base_url = ? AND mode = ? ORDER BY seq DESC LIMIT 10"""
_INSERT = """
INSERT INTO requests
  (id, profile, mode, base_url, key_hint, idempotency_key, api_version, path, encoding, body,
   body_sha256, created_at, first_sent_at, last_sent_at, sendings, state, batch_id, batch_row,
   lease)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 'open', ?, ?, ?)"""
_AGAIN = """
UPDATE requests SET state = ?, key_hint = ?, first_sent_at = ?, last_sent_at = ?,
  sendings = sendings + 1, lease = ? WHERE seq = ?"""
# What was carried out once stays so, whatever a later sending of the same key meets.
SETTLE = """
UPDATE requests SET state = ?, status = ?, object_id = ?, request_id = ?, error_code = ?,
  error_message = ?, settled_at = ? WHERE id = ? AND (state != 'done' OR ? = 'done')"""
RELEASE = "UPDATE requests SET lease = NULL WHERE id = ? AND lease = ?"


class JournalTransaction:
    """What is done to the requests within one transaction."""

    def __init__(self, tx: Tx, leases: Leases, now: float, new_id: Callable[[], str]) -> None:
        self._tx = tx
        self._leases = leases
        self._now = now
        self._new_id = new_id

    def find(self, identifier: str) -> Intent:
        rows = self._tx.rows(BY_ID, (identifier,))
        if not rows:
            raise refusals.unknown_request(identifier)
        return intent_of(rows[0])

    def by_key(self, asked: Asked) -> Intent | None:
        scope, key = asked.scope, asked.prepared.idempotency_key
        rows = self._tx.rows(BY_KEY, (key, scope.base_url, scope.mode, scope.profile))
        return intent_of(rows[0]) if rows else None

    def refuse_twin(self, asked: Asked) -> None:
        rows = self._tx.rows(TWIN, twin_params(asked))
        if rows:
            twin = intent_of(rows[0])
            if self._leases.is_alive(twin.lease):
                raise refusals.twin_in_flight(twin)
            raise refusals.twin_of(twin, self._now)

    def admit(self, asked: Asked) -> Intent:
        """Inserts a request, or begins the one again that has its key."""
        known = self.by_key(asked)
        if known is None:
            return self._insert(asked)
        if known.stored != stored(asked.call, asked.prepared):
            raise refusals.key_reused(known)
        if known.state == "done" and refusals.is_too_old(known, self._now):
            raise refusals.key_spent(known)
        self._refuse_in_flight(known)
        own = known.scope.key_hint in (asked.scope.key_hint, *asked.former_hints)
        if (known.is_unresolved or known.state == "done") and not own:
            raise refusals.other_key(known, asked.scope.key_hint)
        return self._begin(known, asked.scope.key_hint)

    def reopen(self, intent: Intent) -> Intent:
        """Begins a request again that is unresolved or was not carried out."""
        self._refuse_in_flight(intent)
        if not intent.may_go_again:
            raise refusals.already_settled(intent)
        return self._begin(intent, intent.scope.key_hint)

    def forget(self, intent: Intent) -> None:
        """Deletes a request that nobody is sending."""
        self._refuse_in_flight(intent)
        self._tx.execute("DELETE FROM requests WHERE seq = ?", (intent.seq,))

    def _refuse_in_flight(self, intent: Intent) -> None:
        if self._leases.is_alive(intent.lease):
            raise refusals.in_flight(intent)

    def _insert(self, asked: Asked) -> Intent:
        kept, now = stored(asked.call, asked.prepared), self._now
        identifier, digest, lease = self._new_id(), _hash(kept.body), self._leases.token
        values = (
            identifier,
            *asked.scope,
            kept.idempotency_key,
            kept.api_version,
            kept.path,
            kept.encoding,
            kept.body,
            digest,
            *(now, now, now),
            asked.batch,
            asked.row,
            lease,
        )
        seq = self._tx.insert(_INSERT, values)
        return Intent(
            seq,
            identifier,
            asked.scope,
            kept,
            digest,
            *(now, now, now),
            sendings=1,
            state="open",
            batch=asked.batch,
            row=asked.row,
            lease=lease,
        )

    def _begin(self, intent: Intent, key_hint: str) -> Intent:
        now = self._now
        begun = intent.is_unresolved or intent.state == "done"
        stale = refusals.is_too_old(intent, now) or refusals.is_in_the_future(intent, now)
        if begun and stale:
            raise refusals.not_again(intent, now, where_to_look(intent))
        lease = self._leases.token
        phase: Phase = "done" if intent.state == "done" else "open"
        # A request that was never carried out starts its 24 hours anew.
        first = intent.first_sent_at if begun else now
        self._tx.execute(_AGAIN, (phase, key_hint, first, now, lease, intent.seq))
        return intent._replace(
            state=phase,
            first_sent_at=first,
            last_sent_at=now,
            sendings=intent.sendings + 1,
            lease=lease,
            sent_before=begun,
        )


def twin_params(asked: Asked) -> tuple[object, ...]:
    kept = stored(asked.call, asked.prepared)
    scope = asked.scope
    place = (kept.path, kept.encoding, scope.base_url, scope.mode, scope.profile)
    return (_hash(kept.body), *place)


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
