"""The table of webhook endpoints that were registered from this machine, in the state database.

An endpoint belongs to an origin, a profile and a mode. `svc events listen` stores and finds its
endpoint in an `EndpointTable`; `cli.events.secrets` finds signing secrets by it, and `svc keys
remind` and the daily line list their ages. A secret is in the table only for a sandbox, where it is
public test data; the keyring has the secrets of a real service.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from svc.keys.age import KEYRING, SecretRecord
from svc.keys.places import SANDBOX_DATA
from svc.state import Database, Row

_ALL: Final = "SELECT origin, profile, mode, url, events, endpoint_id AS id, secret FROM endpoints"
_FIRST: Final = "SELECT MIN(created_at) AS first FROM endpoints"
_HERE: Final = " WHERE origin = ? AND profile = ? AND mode = ?"
# A sandbox that was reset to its seed may give another listener's endpoint an id of before.
_NEWEST: Final = " ORDER BY created_at DESC"
# An endpoint may be listed for several event lists; it has one secret.
_SECRETS: Final = (
    "SELECT endpoint_id, profile, origin, mode, MIN(created_at) AS created_at,"
    " MAX(secret IS NOT NULL) AS test_data FROM endpoints"
    " GROUP BY endpoint_id, profile, origin, mode ORDER BY profile, origin, mode, created_at"
)
_KEEP: Final = (
    "INSERT OR REPLACE INTO endpoints"
    " (origin, profile, mode, url, events, endpoint_id, secret, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class RegisteredEndpoint(NamedTuple):
    """One row of the table; `secret` is None where the keyring has it."""

    origin: str
    profile: str
    mode: str
    url: str
    events: tuple[str, ...]
    id: str
    secret: str | None


class EndpointTable:
    """The endpoints of one origin, profile and mode."""

    def __init__(self, state: Database, origin: str, profile: str, mode: str) -> None:
        self._state = state
        self._who = (origin, profile, mode)

    def at(self, url: str, events: Sequence[str]) -> RegisteredEndpoint | None:
        """The endpoint that sends these events to a URL."""
        return next(iter(self._read(" AND url = ? AND events = ?", url, ",".join(events))), None)

    def at_path(self, path: str, events: Sequence[str]) -> list[RegisteredEndpoint]:
        """The endpoints that send these events to URLs which end in a listener's own `path`."""
        return self._read(" AND events = ? AND url LIKE ? ESCAPE '!'", ",".join(events), f"%{path}")

    def list_called(self, endpoint_id: str) -> list[RegisteredEndpoint]:
        """The rows with an endpoint's id, the newest first."""
        return self._read(" AND endpoint_id = ?", endpoint_id)

    def types(self) -> frozenset[str]:
        """The types of events that are sent to any of these endpoints."""
        return frozenset(each for one in self._read("") for each in one.events)

    def first_time(self) -> float | None:
        """When the first endpoint was registered, in Unix seconds of this machine; None: none."""
        first: float | None = self._state.rows(_FIRST + _HERE, self._who)[0]["first"]
        return first

    def keep(
        self, endpoint_id: str, url: str, events: Sequence[str], secret: str | None, now: float
    ) -> None:
        """Stores an endpoint that was registered; `now` is in Unix seconds."""
        row = (*self._who, url, ",".join(events), endpoint_id, secret, now)
        with self._state.write() as tx:
            tx.execute(_KEEP, row)

    def forget(self, endpoint_id: str, url: str) -> None:
        """Removes an endpoint that is gone from the service."""
        with self._state.write() as tx:
            tx.execute(
                "DELETE FROM endpoints WHERE endpoint_id = ? AND url = ?", (endpoint_id, url)
            )

    def _read(self, more: str, *values: str) -> list[RegisteredEndpoint]:
        rows = self._state.rows(_ALL + _HERE + more + _NEWEST, (*self._who, *values))
        return [_endpoint(row) for row in rows]


def every_endpoint(state: Database) -> list[RegisteredEndpoint]:
    """All endpoints of this machine, of every origin, profile and mode; the newest first."""
    return [_endpoint(row) for row in state.rows(_ALL + _NEWEST, ())]


def forget_test_data(state: Database, origin: str) -> None:
    """Removes the endpoints of a sandbox whose state is gone."""
    with state.write() as tx:
        tx.execute("DELETE FROM endpoints WHERE origin = ? AND secret IS NOT NULL", (origin,))


def list_signing_secrets(state: Database) -> list[SecretRecord]:
    """The names and ages of the signing secrets of all endpoints, without the secrets' text."""
    return [
        SecretRecord(
            "signing_secret",
            row["endpoint_id"],
            row["profile"],
            row["origin"],
            row["mode"],
            row["created_at"],
            test_data=bool(row["test_data"]),
            kept=SANDBOX_DATA if row["test_data"] else KEYRING,
        )
        for row in state.rows(_SECRETS)
    ]


def _endpoint(row: Row) -> RegisteredEndpoint:
    return RegisteredEndpoint(**{**row, "events": tuple(row["events"].split(","))})
