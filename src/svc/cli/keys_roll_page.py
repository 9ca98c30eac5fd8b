"""Where a key is rolled: the dashboard's page, or the command that plays it for a sandbox."""

from svc.cli.browser import open_page
from svc.cli.keys_roll_old import OldKey
from svc.cli.session import Session
from svc.errors import SvcError, UsageError
from svc.origin import BaseUrl


def page_of(text: str | None) -> str | None:
    """Checks a dashboard's address as every other address (promise R23).

    Raises:
        UsageError: it is not usable, or plain http to another machine.
    """
    if text is None:
        return None
    try:
        address = BaseUrl.parse(text)
    except UsageError as error:
        error.param = "--dashboard"
        raise
    if address.scheme != "https" and not address.is_loopback:
        raise UsageError("--dashboard must begin with https://.", param="--dashboard")
    return str(address)


def show_page(session: Session, old: OldKey, page: str | None) -> None:
    """Says what to do in the dashboard, and opens its page for a person at a terminal."""
    place = old.place
    out = session.out
    if session.settings.sandbox:
        out.note(f"Roll the key {old.key.fingerprint} of the sandbox in another terminal:")
        out.hint(_sandbox_command(session, old))
        return
    out.note(
        f"Roll the {place.mode} key {old.key.fingerprint} (profile {place.profile}) in the "
        f"dashboard of {place.origin}, with Roll key; copy the new key that it shows once."
    )
    if page is None:
        out.hint("With --dashboard URL, svc opens the page itself.")
        return
    out.note(f"The dashboard: {page}")
    if session.streams.person_reads and session.streams.person_answers:
        open_page(session, page)


def _sandbox_command(session: Session, old: OldKey) -> str:
    profile = f" --profile {old.place.profile}"
    live = " --live" if old.place.mode == "live" else ""
    return f"svc sandbox keys roll {_sandbox_id(session, old)} --grace 24h{profile}{live}"


def _sandbox_id(session: Session, old: OldKey) -> str:
    """The id of the key at the sandbox, found by the last characters that its list shows."""
    from svc.cli.sandbox_call import ask
    from svc.client import controls

    try:
        listed = ask(session, controls.keys()).data["data"]
    except SvcError:
        return "KEY_ID"
    secret = old.key.secret
    found = [
        each["id"]
        for each in listed
        if each["expires_at"] is None
        and each["type"] == old.key.kind
        and each["key"].endswith(secret[-4:])
    ]
    return str(found[0]) if len(found) == 1 else "KEY_ID"
