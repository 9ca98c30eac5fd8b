"""Opening a page in the person's browser, which is given no secret of ours (promise R43)."""

import os

from svc.cli.session import Session
from svc.keys.kinds import SIGNING_VARIABLE
from svc.keys.resolve import VARIABLE as KEY_VARIABLE


def open_page(session: Session, page: str) -> None:
    """Opens an address; where that cannot be done, says so."""
    import webbrowser

    # The library hands on the environment of this process: the only way to keep something back.
    names = (KEY_VARIABLE, SIGNING_VARIABLE)
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        opened = webbrowser.open(page)
    finally:
        os.environ.update(kept)
    if not opened:
        session.out.note("No browser could be opened; open the address above.")
