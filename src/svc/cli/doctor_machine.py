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
    from svc.cli.journalled import journal_of
    from svc.journal import State

    name, path = "state", session.paths.state_file
    if not path.exists():
        return _state_to_be(name, path)
    with closing(State.open(path, clock=session.clock)) as database:
        verdict = database.rows("PRAGMA quick_check(1)")[0]["quick_check"]
    if verdict != "ok":
        return Finding(name, "failed", f"{path}: {verdict}", "Copy it away and run svc again")
    with journal_of(session) as journal:
        waiting = len(journal.list(unresolved=True))
    if waiting:
        words = "request has" if waiting == 1 else "requests have"
        return Finding(
            name,
            "warning",
            f"{waiting} {words} no known outcome",
            "See them: svc requests list --unresolved",
        )
    return Finding(name, "ok", f"{path}; every request has an outcome")


def _state_to_be(name: str, path: Path) -> Finding:
    """Whether the database can be made, where it is not there yet."""
    nearest = next(folder for folder in path.parents if folder.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return Finding(name, "ok", f"{path} is made when it is first needed")
    why = "is no folder that svc may write to"
    return Finding(name, "failed", f"{nearest} {why}", "Set SVC_STATE_DIR to a folder of your own")


def keyring(session: Session) -> Finding:
    """Whether a keyring answers; where the key comes from elsewhere, none is needed."""
    name = "keyring"
    try:
        from svc.keys.choice import backends

        known = backends(session.env, session.config.keyring_backends, sys.platform)
        store = session.key_store()
        answers = next((each.name for each in known if store.is_there(each.name)), None)
        if answers is None:
            store.get(_PROBE)  # says what was looked for
    except KeyStoreError as error:
        needed = not session.env.get(VARIABLE) and not session.settings.sandbox
        return Finding(name, "failed" if needed else "warning", error.message, error.hint)
    return Finding(name, "ok", f"{title(answers or known[0].name)} answers")


def tunnels(session: Session) -> Finding:
    """Which programs can bring webhooks to this machine."""
    from svc.listen.tunnels.program import installed

    name = "tunnels"
    if session.settings.sandbox:
        return Finding(name, "skipped", "none is needed for a sandbox on this machine")
    path = session.env.get("PATH", "")
    found = [place for each in _TUNNELS if (place := installed(each, path))]
    if not found:
        return Finding(
            name,
            "warning",
            "cloudflared, ngrok and ssh are not installed",
            "Install one, or run your own and name it: svc events listen --public-url URL",
        )
    return Finding(name, "ok", ", ".join(found))


def completion(session: Session) -> Finding:
    """Whether the shell of this person completes svc, with this release's script."""
    from svc.cli.completion_install import place_of
    from svc.completion.packaged import SHELLS, packaged

    name = "completion"
    shell = Path(session.env.get("SHELL", "")).name
    if shell not in SHELLS:
        return Finding(name, "skipped", "SHELL names none that svc has a script for")
    path = place_of(shell, session.env)
    fix = f"Install it: svc completion {shell} --install"
    if not path.is_file():
        return Finding(name, "skipped", f"not installed for {shell}", fix)
    if path.read_text(encoding="utf-8", errors="replace") != packaged(shell):
        return Finding(name, "warning", f"{path} is of another release", fix)
    return Finding(name, "ok", str(path))
