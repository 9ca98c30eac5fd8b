"""Refusing to send again what a sandbox has forgotten since its clock was turned (promise R4)."""

from typing import Final

from svc.cli.session import Session
from svc.client.control import Control
from svc.client.deadline import Deadline
from svc.client.journal.entry import Intent
from svc.client.journal.key_ages import KeyAges, key_ages
from svc.errors import SvcError

_SECONDS: Final = 3.0


def refuse_forgotten(session: Session, intent: Intent) -> None:
    """Asks a sandbox on this machine how old a request's key is by its clock.

    Only of a request that may have been carried out, since the 24 hours of any other begin anew.

    Raises:
        OutcomeUnknown, Conflict: it is too old to be sent again; nothing was sent.
    """
    if not (intent.is_unresolved or intent.state == "done"):
        return
    ages = ages_here(session)
    refusal = None if ages is None else ages.refusal(intent)
    if refusal is not None:
        raise refusal


def ages_here(session: Session) -> KeyAges | None:
    """What a sandbox on this machine knows of keys; None where the service is no sandbox."""
    if not session.base_url.is_loopback:
        return None
    limit = Deadline(session.clock, _SECONDS)
    bundle = session.settings.ca_bundle
    with Control(
        session.base_url, deadline=limit, clock=session.clock, ca_bundle=bundle
    ) as control:
        try:
            return key_ages(control)
        except SvcError:
            return None  # whatever it is, it has no clock that can be turned
