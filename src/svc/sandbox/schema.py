"""The tables of the sandbox's file; a change here needs a new VERSION and a step in `store`."""

from typing import Final

APPLICATION_ID: Final = 0x53564342  # "SVCB": tells our file from anybody else's
VERSION: Final = 1

# `docs.seq` is the creation sequence. It is no rowid alias on purpose: SQLite compares the pair
# (created, seq) inside an index only when both are ordinary columns, and pages would otherwise
# become slow where many documents share a second.
TABLES: Final = (
    """CREATE TABLE meta(
        name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE docs(
        id TEXT PRIMARY KEY, seq INTEGER NOT NULL, mode TEXT NOT NULL, kind TEXT NOT NULL,
        created TEXT NOT NULL, status TEXT, ord TEXT, payment TEXT, body TEXT NOT NULL)""",
    "CREATE INDEX docs_page ON docs(mode, kind, created, seq)",
    """CREATE INDEX docs_status ON docs(mode, kind, status, created, seq)
        WHERE status IS NOT NULL""",
    "CREATE INDEX docs_ord ON docs(mode, kind, ord, created, seq) WHERE ord IS NOT NULL",
    """CREATE INDEX docs_payment ON docs(mode, kind, payment, created, seq)
        WHERE payment IS NOT NULL""",
    """CREATE TABLE events(
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, mode TEXT NOT NULL, type TEXT NOT NULL,
        created INTEGER NOT NULL, body BLOB NOT NULL)""",
    "CREATE INDEX events_page ON events(mode, seq)",
    "CREATE INDEX events_type ON events(mode, type, seq)",
    """CREATE TABLE jobs(
        seq INTEGER PRIMARY KEY AUTOINCREMENT, due INTEGER NOT NULL, mode TEXT NOT NULL,
        name TEXT NOT NULL, subject TEXT NOT NULL, args TEXT NOT NULL, lane TEXT NOT NULL)""",
    "CREATE INDEX jobs_due ON jobs(lane, due, seq)",
    "CREATE INDEX jobs_subject ON jobs(subject, name)",
    """CREATE TABLE deliveries(
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, mode TEXT NOT NULL,
        event TEXT NOT NULL, type TEXT NOT NULL, endpoint TEXT NOT NULL, url TEXT NOT NULL,
        attempt INTEGER NOT NULL, status TEXT NOT NULL, due INTEGER NOT NULL, started INTEGER,
        code INTEGER, error TEXT, ms INTEGER, next INTEGER)""",
    "CREATE INDEX deliveries_page ON deliveries(mode, seq)",
    "CREATE INDEX deliveries_event ON deliveries(event, endpoint)",
    "CREATE INDEX deliveries_open ON deliveries(endpoint, event) WHERE status = 'pending'",
    """CREATE TABLE results(
        mode TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, status INTEGER NOT NULL,
        body BLOB NOT NULL, first_used INTEGER NOT NULL, PRIMARY KEY(mode, key))""",
    "CREATE INDEX results_age ON results(first_used)",
    """CREATE TABLE balances(
        mode TEXT NOT NULL, currency TEXT NOT NULL, amount INTEGER NOT NULL,
        PRIMARY KEY(mode, currency)) WITHOUT ROWID""",
)
DATA: Final = ("meta", "docs", "events", "jobs", "deliveries", "results", "balances")
