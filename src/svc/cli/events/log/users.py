"""`svc events log user`: adds, rotates and removes users in the file that a log's servers read.

`add` and `rotate` print the new credentials, which a member stores with `svc events log login`.
`svc.listen.log.users` parses and writes the file; no server is contacted.
"""

from pathlib import Path
from typing import Final

from svc.cli.events.team import check_name
from svc.cli.framework.app import make_noun, verb
from svc.cli.framework.options import argument, option
from svc.cli.framework.session import Session
from svc.errors import LocalError, UsageError, name_failure, system_words
from svc.listen.log.address import LogAddress
from svc.listen.log.credentials import from_environment
from svc.listen.log.users import Role, Users
from svc.system.files import replace_file

app = make_noun("Add, remove and renew the users of a log.")

NAME: Final = argument("NAME", "The user.")
FILE: Final = option(
    "FILE",
    "The users' file, which lies beside the servers' configuration.",
    default=Path("users.conf"),
)
_RELOAD: Final = "Put the file on every server and reload it: nats-server --signal reload"
# nats-server 2.15 gives an account what it imports at the reload after the one that brings it.
_TWICE: Final = f"{_RELOAD}; twice, for a new user's rights count from the second time"


@verb(app)
def add(
    session: Session,
    name: str = NAME,
    role: Role = option(
        "ROLE", "What the user may do: admin, receiver, laptop or job.", default="laptop"
    ),
    group: str | None = option("NAME", "The queue of a job.", show_default="its name"),
    log: str | None = option("NAME", "The log's name, where the file is new."),
    users: Path = FILE,
) -> None:
    """Add a user and print its credentials: hand them over, they are shown once.

    The log's key, which members need, is added where SVC_LOG_CREDENTIALS has it.

    $ svc events log user add anna --log shop > anna.creds
    $ svc events log user add ci --role job --group e2e > ci.creds
    """
    if group is not None and role != "job":
        raise UsageError("--group is for a job: --role job.", param="--group")
    if group is not None:
        check_name(group, "--group")
    found, password = _read(session, users, log).add(name, role, group or "")
    _write(users, found)
    _print(session, name, password, _TWICE)


@verb(app)
def rotate(session: Session, name: str = NAME, users: Path = FILE) -> None:
    """Give a user a new password and print its credentials; the old one ends with the reload.

    $ svc events log user rotate anna > anna.creds
    """
    found, password = _read(session, users, None).rotate(name)
    _write(users, found)
    _print(session, name, password, _RELOAD)


@verb(app)
def remove(session: Session, name: str = NAME, users: Path = FILE) -> None:
    """Remove a user; the servers refuse the user once they are reloaded.

    $ svc events log user remove anna
    """
    _write(users, _read(session, users, None).remove(name))
    session.out.note(f"{_RELOAD}.")
    session.out.value({"object": "log_user", "name": name, "removed": True})


def _read(session: Session, path: Path, log: str | None) -> Users:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if log is None:
            raise UsageError(
                f"There is no file {path}, and no --log to begin one for.", param="--log"
            ) from None
        LogAddress.parse(f"nats://127.0.0.1/{log}", "--log")
        return Users(log, session.settings.mode)
    except (OSError, ValueError) as error:
        reason = system_words(error) if isinstance(error, OSError) else "it is not text"
        raise LocalError(f"The file {path} cannot be read: {reason}.") from error
    found = Users.parse(text, str(path))
    if log not in (None, found.log):
        raise UsageError(f"{path} is of the log {found.log}, not of {log}.", param="--log")
    return found


def _write(path: Path, users: Users) -> None:
    with name_failure(f"The file {path} cannot be written"):
        replace_file(path, users.text().encode())
        path.chmod(0o640)  # hashes alone; the servers' own group may read it


def _print(session: Session, name: str, password: str, next_: str) -> None:
    held = from_environment(session.env)
    lines = [f"{name}:{password}", *(held.keys if held is not None else ())]
    session.stdout.write("\n".join(lines) + "\n")
    session.out.note(f"{next_}.")
    if held is None or not held.keys:
        session.out.note(
            "Below USER:PASSWORD a member needs the log's key: svc events log create --print-key"
        )
