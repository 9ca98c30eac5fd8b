"""`svc sandbox keys list`, `create` and `roll`: API keys of the sandbox (spec: Authentication).

Each calls a control of the running sandbox; a new key is shown once.
"""

from typing import Any, Final

from svc.cli.framework.app import make_noun, verb
from svc.cli.framework.control import ask, call_and_show, show
from svc.cli.framework.inputs import pairs_of, without_empty
from svc.cli.framework.inputs.times import seconds_of
from svc.cli.framework.options import argument, option
from svc.cli.framework.session import Session
from svc.client.sandbox import control_call
from svc.errors import UsageError
from svc.service.facts import KEY_GRACE_MAX_SECONDS, KEY_KINDS, RESTRICTED_RESOURCES, KeyKind

_EVERY: Final = "all"
_PREFIX: Final = "key_"

app = make_noun("Make and roll API keys, as the dashboard does.")


@verb(app, "list")
def list_(session: Session) -> None:
    """List the keys of a mode. Secrets are masked.

    $ svc sandbox keys list
    """
    call_and_show(session, "GET", "keys")


@verb(app)
def create(
    session: Session,
    kind: KeyKind | None = option("TYPE", f"One of {', '.join(KEY_KINDS)}.", "--type"),
    permissions: list[str] | None = option(
        "RESOURCE=LEVEL",
        f"Repeatable: none, read or write on {', '.join(RESTRICTED_RESOURCES)} or all.",
        "--permission",
    ),
) -> None:
    """Create a key. It is shown whole this once.

    $ svc sandbox keys create
    $ svc sandbox keys create --permission orders=read --permission payouts=write
    """
    given = pairs_of(permissions, "--permission")
    every = given.pop(_EVERY, None)
    wanted = {**dict.fromkeys(RESTRICTED_RESOURCES if every else (), every or ""), **given}
    usual = "restricted" if wanted else "secret"
    body = without_empty(type=kind or usual, permissions=wanted)
    _show_new(session, ask(session, control_call("POST", "keys", body=body)))


@verb(app)
def roll(
    session: Session,
    key: str = argument("ID", "The key, key_..."),
    grace: str = option("DURATION", "How long the old one works on, at most 7d.", default="0"),
) -> None:
    """Replace a key by a new one with the same permissions.

    $ svc sandbox keys roll key_3kPq0aVb7cXd9eYf1gZh2iWj --grace 7d
    """
    if not key.startswith(_PREFIX):
        raise UsageError(
            "A key is rolled by its id.", param="ID", hint="svc sandbox keys list shows the ids"
        )
    seconds = seconds_of(grace, "--grace")
    if seconds > KEY_GRACE_MAX_SECONDS:
        raise UsageError("--grace must be at most 7d.", param="--grace")
    _show_new(
        session,
        ask(session, control_call("POST", "keys", key, "roll", body={"expires_in": seconds})),
    )


def _show_new(session: Session, reply: Any) -> None:
    show(session, reply)
    if reply.data["type"] == "publishable":
        session.out.hint("Use it in pay and checkout: svc keys add --publishable")
        return
    session.out.hint(f"Use it: export SVC_API_KEY={reply.data['secret']}", reveals=True)
