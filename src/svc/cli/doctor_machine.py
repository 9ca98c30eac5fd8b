"""What `svc doctor` looks at on this machine: state database, keyring, tunnels, completion."""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

from svc.cli.doctor_finding import Finding
from svc.cli.session import Session
from svc.errors import KeyStoreError
from svc.keys.names import title
from svc.keys.resolve import VARIABLE

_PROBE: Final = "doctor"  # an item that nobody stores; reading it opens no other
_TUNNELS: Final = ("cloudflared", "ngrok", "ssh")


def state(session: Session) -> Finding:
    """Whether the state database is whole and private, and whether a request waits in it."""
    from svc.cli.journalled import journal
    from svc.journal import State

    name, path = "state", session.paths.state_file
    if not path.exists():
        return Finding(name, "ok", f"{path} is made when it is first needed")
    with closing(State.open(path, clock=session.clock)) as database:
        verdict = database.rows("PRAGMA quick_check(1)")[0]["quick_check"]
    if verdict != "ok":
        return Finding(name, "failed", f"{path}: {verdict}", "Copy it away and run svc again")
    with journal(session) as intents:
        waiting = len(intents.list(unresolved=True))
    if waiting:
        words = "request has" if waiting == 1 else "requests have"
        return Finding(
            name,
            "warning",
            f"{waiting} {words} no known outcome",
            "See them: svc requests list --unresolved",
        )
    return Finding(name, "ok", f"{path}; every request has an outcome")


def keyring(session: Session) -> Finding:
    """Whether a keyring answers; where the key comes from elsewhere, none is needed."""
    name = "keyring"
    try:
        from svc.keys.choice import backends

        known = backends(session.env, session.config.keyring_backends, sys.platform)
        session.key_store().get(_PROBE)
    except KeyStoreError as error:
        needed = not session.env.get(VARIABLE) and not session.settings.sandbox
        return Finding(name, "failed" if needed else "warning", error.message, error.hint)
    return Finding(name, "ok", f"{title(known[0].name)} answers")


def tunnels(session: Session) -> Finding:
    """Which programs can bring webhooks to this machine."""
    name = "tunnels"
    found = {each: path for each in _TUNNELS if (path := installed(each, session))}
    if session.settings.sandbox:
        return Finding(name, "skipped", "none is needed for a sandbox on this machine")
    if not found:
        return Finding(
            name,
            "warning",
            "cloudflared, ngrok and ssh are not installed",
            "Install one, or run your own and name it: svc events listen --public-url URL",
        )
    return Finding(name, "ok", ", ".join(found.values()))


def installed(program: str, session: Session) -> str | None:
    """The absolute path of a program on PATH; the current folder is never looked at."""
    names = (program, f"{program}.exe") if sys.platform == "win32" else (program,)
    for folder in session.env.get("PATH", "").split(os.pathsep):
        if not Path(folder).is_absolute():
            continue
        for name in names:
            path = Path(folder, name)
            if path.is_file() and os.access(path, os.X_OK):
                return str(path)
    return None
