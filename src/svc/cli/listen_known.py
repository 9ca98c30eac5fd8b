"""Signing secrets of other endpoints that were registered here, to explain a rejection with."""

from typing import TYPE_CHECKING, Final

from svc.cli.session import Session
from svc.listen.verify.diagnosis import KnownSecret

if TYPE_CHECKING:
    from svc.journal import Row

_MOST_READ: Final = 4  # some keyrings ask for each item


def known_elsewhere(session: Session, own: str | None) -> tuple[KnownSecret, ...]:
    """Gives the secrets of all endpoints but `own` that can be had without asking a person.

    Those of sandboxes lie in the state database; of those in the keyring only a few of the profile
    and mode in use are read (promise R38). Nothing is asked over the network.
    """
    if not session.paths.has_state:
        return ()
    rows = session.state().rows(
        "SELECT endpoint_id, secret, origin, profile, mode FROM endpoints ORDER BY created_at DESC"
    )
    others = [row for row in rows if row["endpoint_id"] != own]
    found = [
        KnownSecret(_name(row), secret)
        for row in others
        if row["secret"]
        for secret in row["secret"].split(",")
    ]
    return (*found, *_from_keyring(session, others))


def _from_keyring(session: Session, rows: list["Row"]) -> list[KnownSecret]:
    settings = session.settings
    if settings.address is None:
        return []
    ours = (settings.address.origin, settings.profile, settings.mode)
    unread = [
        row
        for row in rows
        if not row["secret"] and (row["origin"], row["profile"], row["mode"]) == ours
    ]
    if not unread:
        return []
    from svc.cli.listen_endpoint import Endpoints

    endpoints = Endpoints(session, session.state(), sandbox=False)
    found: list[KnownSecret] = []
    for row in unread[:_MOST_READ]:
        secrets = endpoints.secrets_of(row["endpoint_id"])
        if not secrets:
            break  # a keyring that hangs is not asked again
        found += [KnownSecret(_name(row), secret) for secret in secrets]
    return found


def _name(row: "Row") -> str:
    return (
        f"the endpoint {row['endpoint_id']} (profile {row['profile']}, {row['mode']} mode, "
        f"{row['origin']})"
    )
