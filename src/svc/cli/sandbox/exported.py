"""Reads the file of an exported sandbox state; asks where its webhooks would leave this machine.

`svc sandbox import` and `svc sandbox start --import` pass what it returns to the sandbox.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from svc.cli.framework.inputs import parse_object
from svc.cli.framework.options import flag
from svc.cli.framework.prompts import confirm, will_ask
from svc.cli.framework.session import Session
from svc.errors import LocalError, UsageError, system_words
from svc.service.facts import SANDBOX_STATE_MAX
from svc.system.consoles import read_to_end
from svc.system.hosts import is_loopback

AllowRemote = Annotated[
    bool, flag("--allow-remote", "Take a state that sends webhooks to other machines.")
]

_ENDPOINT: Final = "webhook_endpoint"
_SHOWN_MAX: Final = 5  # receivers in a question


def read_state(session: Session, file: str, *, allow_remote: bool) -> dict[str, Any]:
    """Reads an exported state; asks a person if its webhooks would leave this machine.

    Raises:
        LocalError: the file cannot be read.
        UsageError: the file is no JSON object, or no person confirms the webhooks.
    """
    state = parse_object(_read(session, file), file)
    if not allow_remote:
        _ask_where_it_sends(session, _receivers_elsewhere(state))
    return state


def _receivers_elsewhere(state: dict[str, Any]) -> list[str]:
    """The URLs on other machines to which the sandbox would send webhooks after the import.

    Empty for an invalid state: the sandbox refuses that with a reason.
    """
    try:
        tables = state["tables"]
        kept = {row["name"]: json.loads(row["value"]) for row in tables["meta"]}
        docs = [json.loads(row["body"]) for row in tables["docs"] if row["kind"] == _ENDPOINT]
        urls = {doc["url"] for doc in docs if doc["status"] == "enabled"}
        away = sorted(url for url in urls if not is_loopback(urlsplit(url).hostname or ""))
        return away if kept.get("settings", {}).get("allow_remote_webhooks") else []
    except (KeyError, TypeError, ValueError, AttributeError):
        return []


def _ask_where_it_sends(session: Session, receivers: list[str]) -> None:
    """Asks a person to confirm webhooks that leave this machine.

    Raises:
        UsageError: the answer is not yes, or no person can be asked; the hint names the option.
    """
    if not receivers:
        return
    plain = any(url.lower().startswith("http://") for url in receivers)
    where = f"It sends webhooks to {', '.join(receivers[:_SHOWN_MAX])}"
    why = f"{where}{', in plain text' if plain else ''}."
    if not will_ask(session):
        raise UsageError(
            f"{why} Nothing was imported.",
            code="confirmation_required",
            param="--allow-remote",
            hint="Add --allow-remote to go ahead",
        )
    confirm(session, why, otherwise="Nothing was imported.")


def _read(session: Session, file: str) -> str:
    try:
        if file == "-":
            data = read_to_end(session.streams.stdin.buffer, SANDBOX_STATE_MAX + 1)
        else:
            data = Path(file).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise LocalError(f"{file} cannot be read: {system_words(error)}.") from None
    except UnicodeDecodeError:
        raise LocalError(f"{file} is not UTF-8 text.") from None
