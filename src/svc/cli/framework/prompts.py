"""Every question to a person at the terminal, and opening pages in the browser.

Commands call `confirm_money` and its neighbours before they send; without a terminal, or with
`--no-input`, a question is refused with an error that names the option.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from svc.api_keys import HELD_BACK, without_line_end
from svc.cli.framework.session import Session
from svc.errors import Forbidden, NotFound, UsageError
from svc.money import format_amount
from svc.redaction import redact
from svc.render.text import one_line, wrap_message
from svc.system.consoles import forget_what_was_typed, read_hidden, read_line, read_to_end
from svc.system.memory import protect_memory
from svc.system.signals import Stopped

if TYPE_CHECKING:
    from svc.client.call import Call
    from svc.client.client import Client
    from svc.delivery.journal.entry import Intent


NOTHING_SENT = "Nothing was sent."


def will_ask(session: Session) -> bool:
    """Whether `confirm` asks a person: one is at the terminal, and `--yes` was not given."""
    return not session.given.everywhere.yes and may_ask(session)


def confirm(session: Session, *why: str, otherwise: str = NOTHING_SENT) -> None:
    """Returns if `--yes` was given or a person at the terminal says yes.

    `why` has a line for each fact; `otherwise` is the message after another answer.

    Raises:
        UsageError: the answer was not yes, or there is no terminal.
    """
    if session.given.everywhere.yes:
        return
    if not will_ask(session):
        raise UsageError(
            f"{'; '.join(fact.removesuffix('.') for fact in why)}. {otherwise}",
            code="confirmation_required",
            param="--yes",
            hint="Add --yes to go ahead",
        )
    _ask_yes(session, why, otherwise)


def confirm_in_person(session: Session, param: str, *why: str) -> None:
    """Returns if a person at the terminal says yes; `--yes` is not enough.

    Raises:
        UsageError: no person can be asked, or the answer was not yes.
    """
    otherwise = "Nothing was done."
    if not may_ask(session):
        raise UsageError(
            f"{param} needs a person at a terminal. {otherwise}",
            code="person_required",
            param=param,
        )
    _ask_yes(session, why, otherwise)


def go_over_limit(session: Session, *, asked: bool) -> None:
    """Lifts the limits for this command if `--over-limit` was given and a person says yes."""
    if not asked:
        return
    what = f"limits do not hold for this command: profile {session.settings.profile}"
    confirm_in_person(session, "--over-limit", f"{what}, {session.settings.mode} mode.")
    session.is_over_limit = True


def _ask_yes(session: Session, why: tuple[str, ...], otherwise: str) -> None:
    """Asks at the terminal, one line for each fact, without control characters (R61).

    Raises:
        UsageError: the answer was not yes.
    """
    streams = session.streams
    first, *others = (one_line(redact(fact)) for fact in why)
    width = streams.width(session.env)
    lines = [wrap_message(fact, width) for fact in (first, *(f"  {fact}" for fact in others))]
    shown = "\n".join(part for parts in lines for part in parts)
    try:
        answer = ask_line(session, f"{shown}\nGo ahead? [y/N] ")
    except BaseException as error:
        session.stderr.write_masked(f"\nStopped. {otherwise}\n")
        if isinstance(error, Stopped):
            error.told = True
        raise
    if answer.lower() not in ("y", "yes"):
        raise UsageError(f"Stopped: the answer was not yes. {otherwise}", code="not_confirmed")


def ask_line(session: Session, question: str) -> str:
    """Asks for a line at the terminal; discards text that was typed before the question."""
    streams = session.streams
    forget_what_was_typed(streams.stdin)
    session.stderr.write_masked(question)
    session.stderr.flush()
    return read_line(streams.stdin).strip()


def confirm_money(
    session: Session, call: "Call", *, client: "Client | None" = None, always: bool = False
) -> None:
    """Asks before a POST moves money in live mode (promise R19).

    The mode is that of the key in use. Without a terminal `--yes` has to be given. `client` reads
    the object whose money moves, if the request does not name the currency. With `always` every
    POST in live mode is asked about.

    Raises:
        UsageError: the answer was not yes, or there is no terminal and no `--yes`; nothing was
            sent.
    """
    from svc.client.operations import action_of, is_only_final

    action = action_of(call) or (f"POST to {call.path}" if always else "")
    if not action or session.key.mode != "live":
        return
    left = money_left(client, call) if client is not None and will_ask(session) else {}
    what = describe_money(call, action, left)
    if is_only_final(call):
        confirm_live(session, f"This cannot be undone: {what}")
    else:
        confirm_real_money(session, what)


def confirm_real_money(session: Session, what: str, *more: str) -> None:
    """Asks before real money moves; `what` names the action, `more` adds lines."""
    confirm_live(session, f"This moves real money: {what}", *more)


def confirm_live(session: Session, what: str, *more: str) -> None:
    """Asks a question that names the action, the mode, the profile and the address."""
    settings = session.settings
    confirm(session, what, *more, f"live mode, profile {settings.profile}", f"{settings.base_url}.")


def confirm_other_key(session: Session, intent: "Intent") -> None:
    """Asks before a request is sent again with a key that may be of another account.

    Raises:
        UsageError: without a terminal and without `--yes`; nothing was sent.
    """
    before, now = intent.scope.key_fingerprint, session.key.fingerprint
    confirm(
        session,
        f"The request {intent.id} was sent with the key {before}; this is {now}. If that is "
        "another account, it would be carried out a second time.",
    )


def money_left(client: "Client", call: "Call") -> dict[str, object]:
    """Reads the currency and the remaining amount of the object whose money a POST moves.

    Empty if the key may not read the object, or if the call is not documented.
    """
    from svc.client.find import money_of

    reading = money_of(call)
    try:
        data = client.send(reading).data if reading is not None else None
    except Forbidden:
        data = None
    except NotFound:
        if reading is None or not reading.assumed:
            raise
        data = None
    return read_what_is_left(data)


def read_what_is_left(data: object) -> dict[str, object]:
    """The currency and the remaining amount of an object; empty for anything else."""
    from svc.client.find import amounts_of

    if not isinstance(data, dict):
        return {}
    had, gone = amounts_of(data)
    left = had - gone if isinstance(had, int) and isinstance(gone, int) else None
    return {"currency": data.get("currency"), "amount": left}


def describe_money(call: "Call", action: str, left: Mapping[str, object]) -> str:
    """Describes a POST by its action, sum and recipient; `left` is what its object has left."""
    from svc.client.operations import moves_all

    known = {**left, **(call.body or {})}
    recipient = _recipient_of(known.get("destination"))
    return f"{action}{_sum_of(known, whole=moves_all(call))}{recipient}"


def _recipient_of(destination: object) -> str:
    """Formats a payout's recipient and the last four characters of the account, after a comma."""
    if not isinstance(destination, Mapping):
        return ""
    number = "".join(
        str(destination.get("iban") or destination.get("account_number") or "").split()
    )
    account = f"account ending in {number[-4:]}" if number else ""
    parts = [str(one) for one in (destination.get("account_holder_name"), account) if one]
    return f", to {', '.join(parts)}" if parts else ""


def _sum_of(body: Mapping[str, object], *, whole: bool) -> str:
    """Formats the amount of a request after a comma; empty if the request has none."""
    amount, currency = body.get("amount"), body.get("currency")
    if isinstance(amount, str) and amount.isascii() and amount.isdigit():
        amount = int(amount)  # a form says it as text
    if isinstance(amount, int) and isinstance(currency, str):
        return f", {format_amount(amount, currency)}"
    if amount is not None:
        return f", {amount} in minor units"
    return ", the full amount" if whole else ""


_BYTES_MAX = 65_536
_ADD = "svc keys add"


def may_ask(session: Session) -> bool:
    """Whether a person is at the terminal, and `--no-input` was not given (promise R76)."""
    return session.streams.person_answers and not session.given.everywhere.no_input


def read_secret(session: Session, prompt: str, *, stdin: bool, command: str = _ADD) -> str:
    """Reads one secret: piped in with `--stdin`, else typed at the terminal without echo.

    With `--stdin` and no pipe it is typed as well: reading a terminal would show it.

    `command` is what is being run, such as `svc keys add`, for the error.

    Raises:
        UsageError: no person may be asked, and no secret is piped in (promise R76).
    """
    protect_memory()
    if stdin and not session.streams.person_types:
        return without_line_end(_read_pipe(session.streams.stdin))
    if not may_ask(session):
        forbidden = session.given.everywhere.no_input and session.streams.person_answers
        raise UsageError(
            "--no-input was given, so no secret is asked for."
            if forbidden
            else "There is no terminal to type a secret at.",
            code="input_required",
            param="--stdin",
            hint=f"Pipe it in: {command} --stdin < FILE",
        )
    try:
        return read_hidden(prompt)
    except EOFError:
        raise UsageError("The answer was empty.", code="input_required") from None


def _read_pipe(stream: TextIO) -> str:
    """Reads the bytes as they are: a text stream would hide a carriage return."""
    return read_to_end(stream.buffer, _BYTES_MAX).decode("utf-8", errors="surrogateescape")


def open_page(session: Session, page: str) -> None:
    """Opens an address in the browser, or prints a note if that is not possible."""
    import webbrowser

    # The library hands on the environment of this process: the only way to keep something back.
    kept = {name: os.environ.pop(name) for name in HELD_BACK if name in os.environ}
    try:
        opened = webbrowser.open(page)
    finally:
        os.environ.update(kept)
    if not opened:
        session.out.note("No browser could be opened; open the address above.")
