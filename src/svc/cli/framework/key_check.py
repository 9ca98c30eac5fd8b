"""Asks the service whether it accepts a key, and formats a stored key for display.

`svc keys add` and `roll`, `svc whoami` and `svc doctor` use it; `keys list` and `remove` format by
it.
"""

from typing import Any

from svc.cli.framework.session import Session
from svc.client.contradiction import id_in
from svc.client.operations import build_list
from svc.clock import utc
from svc.errors import AuthError, Forbidden, NetworkError, ServerError, Unauthorized
from svc.keys.facts import KeyFact
from svc.keys.places import KeyPlace, title
from svc.keys.resolve import VARIABLE
from svc.service.facts import Mode


def try_key(session: Session, secret: str, mode: Mode) -> str | None:
    """Lists one order with the key and returns its id; None where the account has no order.

    None as well for a restricted key that the service knows and that may not list orders.

    Raises:
        Unauthorized: the service does not know the key.
        SvcError: the service does not answer, or answers with another error.
    """
    with session.client(secret=secret, mode=mode) as client:
        try:
            found = client.send(build_list("order", {"limit": 1})).data["data"]
        except Forbidden as error:
            if error.code != "permission_denied":
                raise
            return None
    return id_in(found[0]) if found else None


def check_new_key(session: Session, secret: str, mode: Mode, shown: str) -> None:
    """Checks before a key is stored that the service accepts it.

    Raises:
        AuthError: the service does not know the key.
        NetworkError, ServerError: the service does not answer; the hint names `--no-check`.
    """
    try:
        try_key(session, secret, mode)
    except Unauthorized as error:
        raise AuthError(
            f"Nothing was stored: {session.base_url.origin} does not know the key {shown}. "
            f"{error.message}",
            code=error.code,
            status=error.status,
            request_id=error.request_id,
            outcome="refused",
            hint="Copy the whole key from the dashboard of this account",
        ) from error
    except (NetworkError, ServerError) as error:
        error.hint = "Nothing was stored; --no-check stores a key without asking the service"
        raise


def suggest_fix(session: Session) -> str:
    """What to do about the key in use, which the service refuses."""
    settings = session.settings
    live = " --live" if settings.mode == "live" else ""
    add = f"svc keys add --profile {settings.profile}{live}"
    if session.key.source == VARIABLE:
        return f"Set {VARIABLE} to a key of this account; or unset it and: {add}"
    return f"Store a key of this account: {add}; or set {VARIABLE}"


def warn_of_variable(session: Session) -> None:
    """Notes, where SVC_API_KEY is set, that its key is used instead of a stored one."""
    if session.env.get(VARIABLE):
        session.out.note(f"{VARIABLE} is set: its key is used instead of a stored one.")


def key_shown(fact: KeyFact) -> dict[str, Any]:
    """Returns one stored key as JSON data, without its secret; times are UTC."""
    rolled: dict[str, Any] = {}
    if fact.rolled_at is not None:
        ends = None if fact.old_ends_at is None else utc(fact.old_ends_at)
        old = fact.old_fingerprint
        rolled = {"rolled": utc(fact.rolled_at), "old_key": old, "old_key_ends": ends}
    return {
        "object": "key",
        **place_shown(fact.place),
        "kind": fact.kind,
        "fingerprint": fact.fingerprint,
        "added": utc(fact.added_at),
        "checked": None if fact.checked_at is None else utc(fact.checked_at),
        "keyring": title(fact.backend),
        **rolled,
    }


def place_shown(place: KeyPlace) -> dict[str, Any]:
    """Returns the profile, origin and mode of a stored key as JSON data."""
    return {"profile": place.profile, "origin": place.origin, "mode": place.mode}
