"""What the verbs of `svc keys` share."""

from typing import Annotated

import typer

from svc.cli.framework.session import Session
from svc.keys.places import KeyPlace, Slot
from svc.keys.resolve import VARIABLE
from svc.spec import Mode

Publishable = Annotated[
    bool, typer.Option("--publishable", help="It is a pk_ key, for the sandbox's checkout.")
]


def place_of(session: Session, mode: Mode, *, publishable: bool = False) -> KeyPlace:
    """Where a key of the settings' origin and profile is kept."""
    slot: Slot = "publishable" if publishable else "secret"
    return KeyPlace(session.base_url.origin, session.settings.profile, mode, slot)


def tell_of_variable(session: Session) -> None:
    """Says that a stored key is not the one in use."""
    if session.env.get(VARIABLE):
        session.out.note(f"{VARIABLE} is set: its key is used instead of a stored one.")
