"""What every command over a sandbox's controls does: prove it is one, ask, print the answer.

Nothing here is journalled or retried: the controls are the dashboard and the shopper of a service
that lives in one file, no part of the API.
"""

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from svc.cli.framework.session import Session
from svc.client.call import Call
from svc.client.resources import controls

if TYPE_CHECKING:  # help needs neither; what runs imports what it uses
    from svc.client.reply import Reply
    from svc.client.sandbox import SandboxClient

_SECRET_MARK: Final = "_secret_"  # noqa: S105  the middle of every client secret


def open_control(session: Session, *, patient: bool = False) -> "SandboxClient":
    """The controls of the sandbox that the settings point at; use it in a `with` block.

    A `patient` one waits as long as the call takes, unless a time was given.

    Raises:
        UsageError: the settings point at another machine.
        NetworkError: they point at a sandbox that does not run.
    """
    from svc.client.exchange import Deadline
    from svc.client.sandbox import SandboxClient

    session.refuse_stranger()
    settings = session.settings
    seconds = settings.patience if patient else settings.max_time
    return SandboxClient(
        session.base_url,
        deadline=Deadline(session.clock, seconds),
        clock=session.clock,
        ca_bundle=settings.ca_bundle,
        on_reply=session.note_reply,
    )


def client_secret(session: Session, control: "SandboxClient", order: str) -> str:
    """What a shopper's page is opened with, of an order or as it was given.

    Raises:
        ApiError: there is no such order.
    """
    if _SECRET_MARK in order:
        return order
    call = controls.in_mode(controls.checkout_url(order), session.settings.mode)
    return str(control.send(call).data["client_secret"])


def ask(session: Session, call: Call, *, patient: bool = False) -> "Reply":
    """Uses one control in the mode of the settings.

    Raises:
        UsageError: what answers is no sandbox.
        ApiError: the sandbox refused the call.
        NetworkError, OutcomeUnknown: it gave no answer.
    """
    _ = session.out  # made first: a wrong --query must be refused before anything is sent
    with open_control(session, patient=patient) as control:
        return control.send(controls.in_mode(call, session.settings.mode))


def call_and_show(session: Session, call: Call) -> None:
    """Uses one control and prints the object or the list that it answers."""
    show(session, ask(session, call))


def call_and_show_page(
    session: Session, call: Call, command: str, query: Mapping[str, Any]
) -> None:
    """Reads one page and prints it; `command` and `query` name the next one."""
    reply = ask(session, call)
    show(session, reply, next_command=_next_page(command, query, reply.data))


def show(session: Session, reply: "Reply", *, next_command: str | None = None) -> None:
    """Prints an answer."""
    data = reply.data
    if isinstance(data, dict) and data.get("object") == "list":
        session.out.page(reply.text, data, next_command=next_command)
    else:
        session.out.one(reply.text, data)


def _next_page(command: str, query: Mapping[str, Any], page: Any) -> str | None:
    if not page.get("has_more") or not page.get("data"):
        return None
    following = {**query, "starting_after": page["data"][-1]["id"]}
    options = ((f"--{name.replace('_', '-')}", str(value)) for name, value in following.items())
    return shlex.join(["svc", *command.split(), *(word for pair in options for word in pair)])
