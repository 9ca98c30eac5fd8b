"""A request shown instead of sent: as JSON, or as a command for curl."""

import json
import re
import shlex
from typing import Any

from svc.cli.session import Session
from svc.client.call import Call
from svc.spec import IDEMPOTENCY_HEADER

_HIDDEN = "(redacted)"
# The same input shows the same bytes (promise R74); the real key is made when it is sent.
_NO_KEY_YET = "new-for-each-request"
_KEY = """printf 'Authorization: Bearer %s\\n' "$SVC_API_KEY\""""


def request_as_data(session: Session, call: Call) -> dict[str, Any]:
    """What would be sent: method, url, headers with the key redacted, and the body as it goes."""
    given = session.given.write.idempotency_key
    prepared = session.prepare(call, given or _NO_KEY_YET)
    scheme = "Basic" if session.settings.auth == "basic" else "Bearer"
    return {
        "method": prepared.method,
        "url": prepared.url,
        "headers": {"Authorization": f"{scheme} {_HIDDEN}", **dict(prepared.headers)},
        "body": _readable(prepared.body),
    }


def request_as_json(session: Session, call: Call) -> str:
    """The same as indented JSON, which is what a person wants to see as well."""
    return json.dumps(request_as_data(session, call), indent=2, ensure_ascii=False)


def curl_command(session: Session, call: Call) -> str:
    """The same request for curl, one line for bash, zsh and fish.

    The key comes from `$SVC_API_KEY` through a pipe: every user of the machine can read a program's
    arguments, and `printf` is none, but a part of the shell.
    """
    prepared = session.prepare(call, session.given.write.idempotency_key)
    words = ["curl", "--header", "@-", "--request", prepared.method, prepared.url]
    for name, value in prepared.headers:
        if name in (IDEMPOTENCY_HEADER, "Content-Type", "Svc-Version"):
            words += ["--header", f"{name}: {value}"]
    if prepared.body:
        words += ["--data-binary", prepared.body.decode()]
    return f"{_KEY} | {' '.join(map(_quoted, words))}"


def _quoted(word: str) -> str:
    """Quotes a word as the shells do, but for fish no backslash that it would take away."""
    return re.sub(r"\\(?=\\|'|$)", lambda _: "'\"\\\\\"'", shlex.quote(word))


def _readable(body: bytes) -> Any:
    """A JSON body as JSON, a form as its text, none as null."""
    if not body:
        return None
    text = body.decode()
    return json.loads(text) if text.startswith("{") else text
