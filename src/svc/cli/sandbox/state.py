"""`svc sandbox balances`, `settings`, `export` and `import`: reads and sets the sandbox's state.

Each calls a control of the running sandbox; `export` writes its answer to a file.
"""

import os
from pathlib import Path
from typing import BinaryIO, Final

from svc.cli.framework.app import make_app, verb
from svc.cli.framework.control import ask, call_and_show, open_control, show
from svc.cli.framework.inputs import pairs_of, without_empty
from svc.cli.framework.options import argument, flag, option
from svc.cli.framework.session import Session
from svc.cli.sandbox.exported import ALLOW_REMOTE, StatePieces, confirm_pieces, read_state
from svc.client.amounts import amount_option
from svc.client.sandbox import control_call, in_mode
from svc.config.editing import write_atomically
from svc.errors import ApiError, LocalError, UsageError, build_wrong_choice
from svc.inputs import STDIN
from svc.service.facts import AMOUNT_MAX, SANDBOX_STATE

app = make_app()

# A test holds the keys and their words to those of the sandbox.
_SETTINGS_HELP: Final = (
    "What to change. true or false: smart_retries, collect_landed_cost, allow_http_webhooks, "
    "allow_remote_webhooks, allow_self_signed_webhooks, require_idempotency_key. A code: "
    "settlement_currency, country. A version: pinned_version. unknown_parameters: reject or "
    "ignore; error_envelope: flat or nested; insecure_http: allow or reject; rate_limit: off or "
    "on; signature_time: wall or virtual; webhook_delivery: auto or manual; encodings: all or "
    "documented; negative_balance: allow or refuse. A number: chaos (0 to 1), voucher_days, "
    "payment_fee_bps."
)
_ALL_WORDS: Final = "All with their words: svc sandbox settings --help"


@verb(app)
def settings(
    session: Session,
    changes: list[str] | None = argument("[KEY=VALUE]...", _SETTINGS_HELP, default=None),
    of: str | None = option(
        "KEY|ORDER", "For this key, with the orders it makes, or for this order alone."
    ),
) -> None:
    """Show the account's settings, or change some.

    $ svc sandbox settings smart_retries=true country=DE
    $ svc sandbox settings voucher_days=3 --of ord_3kPq0aVb7cXd9eYf1gZh2iWj
    """
    changed = pairs_of(changes, "KEY=VALUE", "All are shown by: svc sandbox settings")
    if changed:
        _check_words(changed)
    # As a form: the sandbox knows which of the values are numbers and which are words.
    own = without_empty(of=of)
    changing = control_call("POST", "settings", body={**own, **changed})._replace(encoding="form")
    try:
        reply = ask(session, changing if changed else control_call("GET", "settings", params=own))
    except ApiError as error:
        error.hint = _ALL_WORDS if changed else error.hint
        raise
    show(session, reply)
    if not changed and session.format == "human":
        # Labels are words: this is how the names are written that change one.
        other = "false" if reply.data["smart_retries"] else "true"
        step = session.command(f"sandbox settings smart_retries={other}")
        session.out.hint(f"Next: {step}")


def _check_words(changed: dict[str, str]) -> None:
    """Refuses a key that there is not, and a word that is none of its closed set."""
    from svc.sandbox.parameters.kinds import Boolean, Choice
    from svc.sandbox.store.settings import FIELDS

    kinds = {field.name: field.kind for field in FIELDS}
    for name, value in changed.items():
        kind = kinds.get(name)
        words = kind.words if isinstance(kind, Choice) else ()
        words = ("true", "false") if isinstance(kind, Boolean) else words
        if kind is not None and (not words or value in words):
            continue
        refused = (
            build_wrong_choice(name, value, words)
            if kind
            else build_wrong_choice("KEY", name, kinds)
        )
        refused.hint = _ALL_WORDS
        raise refused


_SHOWN: Final = "All are shown by: svc sandbox balances"


@verb(app)
def balances(
    session: Session,
    changes: list[str] | None = argument(
        "[CURRENCY=AMOUNT]...", "The balances to set, in minor units.", default=None
    ),
) -> None:
    """Show the balances for payouts, or set some.

    $ svc sandbox balances USD=500000
    """
    wanted = {
        currency: amount_option(amount, currency, currency, minimum=-AMOUNT_MAX)
        for currency, amount in pairs_of(changes, "CURRENCY=AMOUNT", _SHOWN).items()
    }
    mode, _ = session.settings.mode, session.out
    with open_control(session) as control:
        for currency, amount in wanted.items():
            body = {"currency": currency, "amount": amount}
            control.send(in_mode(control_call("POST", "balances", body=body), mode))
        reply = control.send(in_mode(control_call("GET", "balances"), mode))
    show(session, reply)


@verb(app)
def export(
    session: Session,
    file: str | None = argument(
        "[FILE]", "The file to write.", show_default="standard output", default=None
    ),
    force: bool = flag("--force", "Replace an existing file."),
) -> None:
    """Write the whole state to a file. Objects, events, jobs, clock, settings and ids are in it.

    $ svc sandbox export state.json
    """
    if file is None and session.format == "human":
        raise UsageError("Say where to.", param="FILE", hint="svc sandbox export state.json")
    path = None if file is None else _check_free(Path(file), force=force)
    if path is None:
        show(session, ask(session, control_call("GET", "export")))
        return

    def fill(file: BinaryIO) -> None:
        with open_control(session, unlimited=True) as control:
            control.download(control_call("GET", "export"), file)
        file.write(b"\n")

    write_atomically(path, fill)
    session.out.result({"object": "sandbox_export", "file": str(path)}, f"Written to {path}.")


@verb(app, "import")
def import_(
    session: Session,
    file: str = argument(
        "FILE", "The file that export wrote; - reads standard input.", show_default=True
    ),
    allow_remote: bool = ALLOW_REMOTE,
) -> None:
    """Put an exported state in place of the present one. Clock and ids go on from there.

    $ svc sandbox import state.json
    """
    path = Path(file)
    if (
        file != STDIN
        and path.is_file()
        and confirm_pieces(session, path, allow_remote=allow_remote)
    ):
        _import_pieces(session, path)
        return
    call_and_show(
        session, "POST", "import", body=read_state(session, file, allow_remote=allow_remote)
    )


def _import_pieces(session: Session, path: Path) -> None:
    """Imports a file that export wrote, and that was read once, piece by piece.

    Raises:
        LocalError: the file was changed meanwhile; nothing was imported.
    """
    upload = os.urandom(8).hex()
    with (
        path.open(encoding="utf-8", newline="") as file,
        open_control(session, unlimited=True) as it,
    ):
        try:
            pieces = StatePieces(file)
            for table, rows in pieces.read():
                body = {"upload": upload, "table": table, "rows": rows}
                it.send(control_call("POST", "import", body=body))
        except ApiError as error:
            if error.code == "parameter_unknown":
                error.message = "The running sandbox is older than this svc. Nothing was imported."
                error.hint = "Start it anew: svc sandbox stop, then svc sandbox start"
            raise
        except ValueError:
            raise LocalError(
                f"{path} was changed while it was read. Nothing was imported."
            ) from None
        last = {"object": SANDBOX_STATE, "format": pieces.format, "upload": upload}
        reply = it.send(control_call("POST", "import", body=last))
    show(session, reply)


def _check_free(path: Path, *, force: bool) -> Path:
    """A path that may be written (promise R65)."""
    if path.is_symlink():
        raise LocalError(f"{path} is a symbolic link; nothing was written through it.")
    if path.exists() and not force:
        raise LocalError(f"{path} exists.", hint="--force replaces it")
    if not path.absolute().parent.is_dir():
        raise LocalError(f"There is no folder {path.absolute().parent}.")
    return path
