"""The tables of the state database, as ordered steps (`MIGRATIONS`), each the SQL of one release.

Tables: key facts, reminders, webhook endpoints, listeners, received events and the ledger of their
forwards, sent requests, batches. A step that was released is never edited. `opening` runs the steps
that a file lacks; a new file gets all of them. Times are in Unix seconds, bodies are raw bytes. No
secret of a real service is stored: an endpoint or key has a `secret` here only for a sandbox, whose
secrets are public test data.
"""

from typing import Final, TypeAlias

_KEY_FACTS: Final = """
CREATE TABLE key_facts (
  origin TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  slot TEXT NOT NULL CHECK (slot IN ('secret', 'publishable')),
  kind TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  backend TEXT NOT NULL,
  added_at REAL NOT NULL,
  checked_at REAL,
  rolled_at REAL,
  old_fingerprint TEXT,
  old_ends_at REAL,
  PRIMARY KEY (origin, profile, mode, slot)
)"""

_ENDPOINTS: Final = """
CREATE TABLE endpoints (
  origin TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  secret TEXT,
  created_at REAL NOT NULL,
  PRIMARY KEY (origin, profile, mode, url, events)
)"""

# One listener's identity; two listeners of one account each get every event once. `port` and
# `path` are kept so that a restart finds the endpoint that is registered already, `targets` (JSON)
# so that a replay knows where the events went.
_LISTENERS: Final = """
CREATE TABLE listeners (
  id INTEGER PRIMARY KEY,
  scope TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL DEFAULT '',
  profile TEXT NOT NULL DEFAULT '',
  mode TEXT NOT NULL DEFAULT '',
  port INTEGER,
  path TEXT,
  endpoint_id TEXT,
  targets TEXT NOT NULL DEFAULT '[]'
)"""

# `outcome` is null where the ledger tells what became of the event at its targets, else unrouted,
# withheld or reset. The payloads lie in a table of their own.
_INBOX: Final = """
CREATE TABLE inbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  listener INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  object_id TEXT NOT NULL,
  received_at REAL NOT NULL,
  copies INTEGER NOT NULL DEFAULT 0,
  outcome TEXT
)"""

_INBOX_EVENT: Final = "CREATE UNIQUE INDEX inbox_event ON inbox (event_id, listener)"
_INBOX_OPEN: Final = "CREATE INDEX inbox_open ON inbox (listener, seq) WHERE outcome IS NULL"

_PAYLOADS: Final = """
CREATE TABLE payloads (
  inbox_seq INTEGER PRIMARY KEY,
  headers BLOB NOT NULL,
  body BLOB NOT NULL
)"""

# `status` is null when no answer came; then `error` says why. `reply` is the answer's beginning.
_FORWARDS: Final = """
CREATE TABLE forwards (
  inbox_seq INTEGER NOT NULL,
  target TEXT NOT NULL,
  replay INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  started_at REAL NOT NULL,
  milliseconds REAL NOT NULL,
  status INTEGER,
  error TEXT,
  reply BLOB NOT NULL,
  PRIMARY KEY (inbox_seq, target, replay, attempt)
) WITHOUT ROWID"""

# One row for each POST, from before its first byte leaves. `state` is open until its end is known;
# open and unknown rows are unresolved. `key_hint` is the API key's prefix and last four; `lease`
# names the process that is sending it, or that died while it was.
_REQUESTS: Final = """
CREATE TABLE requests (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('test', 'live')),
  base_url TEXT NOT NULL,
  key_hint TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  api_version TEXT,
  path TEXT NOT NULL,
  encoding TEXT NOT NULL,
  body BLOB NOT NULL,
  body_sha256 TEXT NOT NULL,
  created_at REAL NOT NULL,
  first_sent_at REAL NOT NULL,
  last_sent_at REAL NOT NULL,
  sendings INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done', 'refused', 'not_sent', 'unknown')),
  settled_at REAL,
  status INTEGER,
  object_id TEXT,
  request_id TEXT,
  error_code TEXT,
  error_message TEXT,
  batch_id TEXT,
  batch_row INTEGER,
  lease TEXT
)"""

_REQUEST_KEY: Final = """
CREATE UNIQUE INDEX request_key ON requests (idempotency_key, base_url, mode, profile)"""
_REQUEST_OPEN: Final = """
CREATE INDEX request_open ON requests (body_sha256) WHERE state IN ('open', 'unknown')"""
_REQUEST_BATCH: Final = """
CREATE INDEX request_batch ON requests (batch_id, batch_row) WHERE batch_id IS NOT NULL"""

# The lists of rows that `svc batch` runs. `name` is a file's full path, or what `--import` says;
# `lease` names the process that is running it.
_BATCHES: Final = """
CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  operation TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  base_url TEXT NOT NULL,
  begun_at REAL NOT NULL,
  last_run_at REAL NOT NULL,
  lease TEXT
)"""
# Finds the rows of one list in another one.
_REQUEST_CONTENT: Final = """
CREATE INDEX request_content ON requests (body_sha256) WHERE batch_id IS NOT NULL"""

# A key that was rolled at a sandbox, where the machine has no keyring: public test data as well.
_SANDBOX_KEYS: Final = """
CREATE TABLE sandbox_keys (
  origin TEXT NOT NULL,
  profile TEXT NOT NULL,
  mode TEXT NOT NULL,
  secret TEXT NOT NULL,
  PRIMARY KEY (origin, profile, mode)
)"""

# When a person was last told that a key or a signing secret is due.
_REMINDERS: Final = """
CREATE TABLE reminders (
  name TEXT PRIMARY KEY,
  told_at REAL NOT NULL
)"""

# Finds what may be forgotten: single requests that are settled and have a key of our own.
_REQUEST_SETTLED: Final = """
CREATE INDEX request_settled ON requests (settled_at)
  WHERE batch_id IS NULL AND state IN ('done', 'refused', 'not_sent')
    AND length(idempotency_key) = 36 AND substr(idempotency_key, 15, 1) = '4'"""
# When the bodies of a list's rows were let go of; null where they are all there.
_BATCH_PACKED: Final = "ALTER TABLE batches ADD COLUMN packed_at REAL"

# A sandbox that was reset to its seed gives its events the ids that others had before.
_NO_INBOX_EVENT: Final = "DROP INDEX inbox_event"
_INBOX_EVENTS: Final = "CREATE INDEX inbox_events ON inbox (event_id, listener)"
# The last attempt at a target, of an event that other targets may still get.
_FORWARD_FINAL: Final = "ALTER TABLE forwards ADD COLUMN final INTEGER NOT NULL DEFAULT 0"
# What a request says, independent of its sender and spelling: requests with equal identities
# are the same. Null in rows from before; the journal fills those in when it is opened. `key_given`
# is 1 where the user gave the idempotency key. `served_at` is what a sandbox's clock said before
# the first byte left; `world` names the state of a sandbox that answered, since one that was reset
# may give the same ids again.
_REQUEST_IDENTITY: Final = (
    "ALTER TABLE requests ADD COLUMN identity TEXT",
    "ALTER TABLE requests ADD COLUMN key_given INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE requests ADD COLUMN served_at REAL",
    "ALTER TABLE requests ADD COLUMN world TEXT",
    """UPDATE requests SET key_given = 1 WHERE batch_id IS NULL
    AND NOT (length(idempotency_key) = 36 AND substr(idempotency_key, 15, 1) = '4')""",
    "DROP INDEX request_open",
    "DROP INDEX request_content",
    "DROP INDEX request_settled",
    "CREATE INDEX request_identity ON requests (identity)",
    "CREATE INDEX request_unread ON requests (seq) WHERE identity IS NULL",
    "CREATE INDEX request_object ON requests (object_id) WHERE object_id IS NOT NULL",
    """CREATE INDEX request_settled ON requests (settled_at)
    WHERE batch_id IS NULL AND state IN ('done', 'refused', 'not_sent') AND key_given = 0""",
)
# The requests that a running list is going to make; they are held for as long as its lease lives.
# `whole_at` is when the last row of a list was done, null while one is not; `key_hint` names the
# API key that it was last begun with.
_RESERVATIONS: Final = (
    """CREATE TABLE reservations (
    identity TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    PRIMARY KEY (identity, batch_id)
  ) WITHOUT ROWID""",
    "ALTER TABLE batches ADD COLUMN key_hint TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE batches ADD COLUMN whole_at REAL",
    """UPDATE batches SET whole_at =
    (SELECT max(settled_at) FROM requests WHERE batch_id = batches.id)
    WHERE NOT EXISTS (SELECT 1 FROM requests WHERE batch_id = batches.id AND state != 'done')""",
)

# How far a listener has read a log: the place there of the last event that it has kept, and that
# event's id, since a log that was lost and made anew counts from 1 again. `redelivered` says how
# often an event was handed out before it came here.
_POSITION: Final = (
    "ALTER TABLE listeners ADD COLUMN position_seq INTEGER",
    "ALTER TABLE listeners ADD COLUMN position_id TEXT",
    "ALTER TABLE inbox ADD COLUMN redelivered INTEGER NOT NULL DEFAULT 0",
)

# Ids are random, so an index of them would be one more page to write with nearly every event:
# listeners list them by the thousand. `event_ids_end` holds the last row of the inbox that is
# listed, if any is.
_EVENT_IDS: Final = (
    """CREATE TABLE event_ids (
  event_id TEXT NOT NULL,
  inbox_seq INTEGER NOT NULL,
  PRIMARY KEY (event_id, inbox_seq)
) WITHOUT ROWID""",
    "CREATE TABLE event_ids_end (seq INTEGER)",
    "INSERT INTO event_ids SELECT event_id, seq FROM inbox",
    "INSERT INTO event_ids_end SELECT MAX(seq) FROM inbox",
    "DROP INDEX inbox_events",
)

# `likeness` is the digest of a request's folded parameters, `identity` that of the exact ones; null
# in rows from before, which the journal fills in when it is opened. `row_id` is what the file calls
# a row, such as an invoice number. `proved` is 1 where the service's own error proved a refusal.
# `object_status` is what the answer called the object's status, `dated_at` the service's `Date` of
# the last answer. `label` names the occasion of a batch; null in batches from before, whose ids are
# made anew.
_DELIVERY: Final = (
    "ALTER TABLE requests ADD COLUMN likeness TEXT",
    "ALTER TABLE requests ADD COLUMN row_id TEXT",
    "ALTER TABLE requests ADD COLUMN proved INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE requests ADD COLUMN object_status TEXT",
    "ALTER TABLE requests ADD COLUMN dated_at REAL",
    "ALTER TABLE batches ADD COLUMN label TEXT",
    "DROP INDEX request_identity",
    "DROP INDEX request_unread",
    "CREATE INDEX request_likeness ON requests (likeness)",
    "CREATE INDEX request_unread ON requests (seq) WHERE likeness IS NULL",
    "CREATE TABLE forgotten (idempotency_key TEXT PRIMARY KEY, forgotten_at REAL) WITHOUT ROWID",
)
# One row for each event and target, written in the commit that keeps the event; `targets` numbers
# the targets of a listener. `state` is one of `ledger.State`: 0 new, 1 waits (an older event of its
# `object` is open at this target), 2 later (due at `next_at`; -1: now, and no run that was killed
# before had sent it), 3 left (by --no-resume), 4 done, 5 failed, 6 returned, 7 reset. `attempts`
# counts those that ended, `sent` the requests that may have arrived; `error`, `last_status`, `at`,
# `milliseconds` and `reply` tell of the last one. `ailing`: it failed while nothing of its target
# succeeded, so it is due with the first success.
# Of a target, `cut` is the newest event that may have been under way when a run was killed.
# `running` is 1 where any may be under way now, n + 2 where none is that came after event n, and 0
# where no run is. `resting` is why and `since` when it was last left alone.
_LEDGER: Final = (
    """CREATE TABLE targets (
  id INTEGER PRIMARY KEY,
  listener INTEGER NOT NULL,
  url TEXT NOT NULL,
  ordered INTEGER NOT NULL DEFAULT 0,
  running INTEGER NOT NULL DEFAULT 0,
  cut INTEGER NOT NULL DEFAULT 0,
  resting TEXT,
  since REAL,
  UNIQUE (listener, url)
)""",
    """CREATE TABLE ledger (
  target INTEGER NOT NULL,
  event INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  object TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  sent INTEGER NOT NULL DEFAULT 0,
  ailing INTEGER NOT NULL DEFAULT 0,
  next_at REAL NOT NULL DEFAULT 0,
  at REAL,
  milliseconds REAL,
  last_status INTEGER,
  error TEXT,
  reply BLOB,
  PRIMARY KEY (target, event)
) WITHOUT ROWID""",
    "CREATE INDEX ledger_open ON ledger (target, state, next_at, event) WHERE state < 4",
    """CREATE INDEX ledger_turns ON ledger (target, object, event)
  WHERE state < 3 AND object IS NOT NULL""",
    "CREATE INDEX ledger_failed ON ledger (event) WHERE state > 4",
)
# What was kept before goes to the targets that its listener had last: `[GLOB=]URL` each.
_INTO_LEDGER: Final = (
    """CREATE TABLE ledger_routes AS WITH spelled AS (
    SELECT l.id AS listener, value, value GLOB 'http://*' OR value GLOB 'https://*' AS plain
    FROM listeners l, json_each(l.targets))
  SELECT listener, IIF(plain, value, substr(value, instr(value, '=') + 1)) AS url,
    IIF(plain, NULL, replace(substr(value, 1, instr(value, '=') - 1), '[!', '[^')) AS glob
  FROM spelled""",
    """CREATE TABLE ledger_tried AS
  SELECT inbox_seq, target, SUM(NOT replay) AS attempts,
    MAX(COALESCE(status, 0) BETWEEN 200 AND 299) AS taken, MAX(final AND NOT replay) AS final
  FROM forwards GROUP BY inbox_seq, target""",
    """INSERT OR IGNORE INTO targets (listener, url)
  SELECT DISTINCT listener, url FROM ledger_routes""",
    """INSERT OR IGNORE INTO targets (listener, url)
  SELECT DISTINCT listener, target FROM ledger_tried JOIN inbox ON seq = inbox_seq""",
    """INSERT INTO ledger (target, event, state, attempts, sent)
  SELECT DISTINCT t.id, i.seq,
    CASE WHEN taken THEN 4 WHEN final THEN 5 WHEN attempts > 0 THEN 2 ELSE 0 END,
    COALESCE(attempts, 0), COALESCE(attempts, 0)
  FROM inbox i JOIN ledger_routes r ON r.listener = i.listener
    JOIN targets t ON t.listener = r.listener AND t.url = r.url
    LEFT JOIN ledger_tried AS tried ON inbox_seq = i.seq AND tried.target = t.url
  WHERE i.outcome IS NULL AND (i.type GLOB r.glob OR r.glob IS NULL AND NOT EXISTS (
    SELECT 1 FROM ledger_routes n WHERE n.listener = i.listener AND i.type GLOB n.glob))""",
    """INSERT INTO ledger (target, event, state, attempts, sent)
  SELECT t.id, i.seq,
    CASE WHEN taken OR i.outcome = 'forwarded' THEN 4 WHEN i.outcome = 'failed' THEN 5 ELSE 6 END,
    attempts, attempts
  FROM inbox i JOIN ledger_tried AS tried ON inbox_seq = i.seq
    JOIN targets t ON t.listener = i.listener AND t.url = tried.target
  WHERE i.outcome IN ('forwarded', 'failed', 'returned') AND attempts > 0""",
    "DROP TABLE ledger_routes",
    "DROP TABLE ledger_tried",
    """UPDATE ledger SET (at, milliseconds, last_status, error, reply) = (
  SELECT started_at, milliseconds, status, error, reply FROM forwards
  WHERE inbox_seq = ledger.event AND target = (SELECT url FROM targets WHERE id = ledger.target)
    AND replay = 0 ORDER BY attempt DESC LIMIT 1)""",
    # An attempt that was taken is told by the ledger.
    """DELETE FROM forwards WHERE NOT replay AND status BETWEEN 200 AND 299 AND EXISTS (
  SELECT 1 FROM ledger JOIN targets t ON t.id = ledger.target
  WHERE event = inbox_seq AND url = forwards.target AND last_status = forwards.status
    AND attempts = forwards.attempt)""",
    """UPDATE inbox SET outcome = IIF(EXISTS (
    SELECT 1 FROM targets t JOIN ledger ON target = t.id AND event = seq
    WHERE t.listener = inbox.listener), NULL, COALESCE(outcome, 'unrouted'))
  WHERE outcome IS NULL OR outcome IN ('forwarded', 'failed', 'returned')""",
    "DROP INDEX inbox_open",
)

# Of rows from before this was kept.
SET_KINDS: Final = """UPDATE requests SET kind = CASE WHEN path = '/v1/refunds' THEN 'refunds'
  WHEN path = '/v1/payouts' THEN 'payouts' WHEN path LIKE '/v1/orders/%/capture' THEN 'captures'
  WHEN path LIKE '/v1/disputes/%/accept' THEN 'disputes' END WHERE kind IS NULL"""
# `kind` is the group whose limits a request counts in, null for none; `amount` and `currency` are
# what it moves at most, where that is known. `uptime` is how long the machine had run when the
# request was settled, since the start that `boot` names: the clock may have been set since.
_LIMITS: Final = (
    "ALTER TABLE requests ADD COLUMN kind TEXT",
    "ALTER TABLE requests ADD COLUMN amount INTEGER",
    "ALTER TABLE requests ADD COLUMN currency TEXT",
    "ALTER TABLE requests ADD COLUMN boot TEXT",
    "ALTER TABLE requests ADD COLUMN uptime REAL",
    SET_KINDS,
    "CREATE INDEX request_kind ON requests (kind, mode, state) WHERE kind IS NOT NULL",
    *(
        f"ALTER TABLE forgotten ADD COLUMN {column}"
        for column in (
            *("kind TEXT", "profile TEXT", "mode TEXT", "base_url TEXT", "key_hint TEXT"),
            *("path TEXT", "amount INTEGER", "currency TEXT", "boot TEXT", "uptime REAL"),
        )
    ),
)

# What a list of a million requests is not read through for: those without a known outcome, and
# those of no batch.
_FEW: Final = (
    "CREATE INDEX request_unresolved ON requests (seq) WHERE state IN ('open', 'unknown')",
    "CREATE INDEX request_alone ON requests (seq) WHERE batch_id IS NULL",
)

# One key may be that of several requests, as of two profiles or of one that was refused.
_FORGOTTEN_APART: Final = (
    "ALTER TABLE forgotten RENAME TO forgotten_by_key",
    """CREATE TABLE forgotten (
  idempotency_key TEXT,
  forgotten_at REAL,
  kind TEXT,
  profile TEXT,
  mode TEXT,
  base_url TEXT,
  key_hint TEXT,
  path TEXT,
  amount INTEGER,
  currency TEXT,
  boot TEXT,
  uptime REAL,
  PRIMARY KEY (idempotency_key, forgotten_at)
) WITHOUT ROWID""",
    "INSERT INTO forgotten SELECT * FROM forgotten_by_key",
    "DROP TABLE forgotten_by_key",
)

SchemaSteps: TypeAlias = tuple[tuple[str, ...], ...]  # each is the statements of one release

MIGRATIONS: Final[SchemaSteps] = (
    (_KEY_FACTS, _ENDPOINTS, _LISTENERS, _INBOX, _INBOX_EVENT, _INBOX_OPEN, _PAYLOADS, _FORWARDS),
    (_REQUESTS, _REQUEST_KEY, _REQUEST_OPEN, _REQUEST_BATCH),
    (_BATCHES, _REQUEST_CONTENT),
    (_SANDBOX_KEYS, _REMINDERS),
    (_REQUEST_SETTLED, _BATCH_PACKED),
    (_NO_INBOX_EVENT, _INBOX_EVENTS, _FORWARD_FINAL),
    (*_REQUEST_IDENTITY, *_RESERVATIONS),
    _POSITION,
    _EVENT_IDS,
    _DELIVERY,
    (*_LEDGER, *_INTO_LEDGER),
    _LIMITS,
    _FEW,
    _FORGOTTEN_APART,
)
