"""Makes the certificate before `svc sandbox start`, and the profile and ready file after it.

`process` calls `certificate_for` before a sandbox starts and `report_ready` once it answers; the
profile `sandbox` in the configuration file then points at it. `reach_of` checks `--bind` and
`--allow-host`, and `warn_of_reach` warns who can then reach the sandbox.
"""

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypedDict

from svc.cli.framework.options import option
from svc.cli.framework.session import Session
from svc.config.editing import create_profile, remove_value
from svc.errors import ConfigError, LocalError, UsageError, name_failure
from svc.paths import NoFolder
from svc.sandbox.options import LOOPBACK, MEMORY
from svc.sandbox.process.records import EVERYWHERE, RunRecord, list_running
from svc.system.files import make_private, open_private, replace_file
from svc.system.processes import notify_systemd

_NAME: Final = r"[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?"


BIND: Final = option(
    "ADDRESS", "Listen on this address too; 0.0.0.0 is all. Others then reach it.", default=LOOPBACK
)
ALLOW_HOST: Final[list[str] | None] = option(
    "NAME", "Answer to this host name too, as others call it; repeatable."
)


def reach_of(bind: str, names: Sequence[str], *, tls: bool) -> tuple[str, list[str]]:
    """Returns the address to listen on, and the names beside those of loopback, in lower case.

    The address counts as a name, too.

    Raises:
        UsageError: the address or a name is invalid (patterns are, since a hostile page's name
            could match), or --tls would make a certificate that does not hold for them.
    """
    address = _as_address(bind)
    if address is None:
        raise UsageError(
            f"--bind takes an IP address, and {bind!r} is none.",
            param="--bind",
            hint="--bind 0.0.0.0 listens on every address of this machine",
        )
    found = dict.fromkeys(map(_check_host, names))
    if address not in (LOOPBACK, *EVERYWHERE):
        found[address] = None
    if tls and (found or address != LOOPBACK):
        raise UsageError(
            "--tls makes a certificate for this machine's names alone.",
            param="--tls",
            hint="With --bind or --allow-host: --certificate FILE --private-key FILE",
        )
    return address, list(found)


def _check_host(text: str) -> str:
    name = text.lower()
    address = _as_address(name.strip("[]"))
    if address is None and not re.fullmatch(_NAME, name):
        raise UsageError(
            f"--allow-host takes one host name without scheme and port, and {text!r} is none.",
            param="--allow-host",
            hint="As others call this machine: --allow-host svc",
        )
    return address or name


def _as_address(text: str) -> str | None:
    from ipaddress import ip_address

    try:
        return None if "%" in text else str(ip_address(text))
    except ValueError:
        return None


def warn_of_reach(session: Session, record: RunRecord, hosts: Sequence[str]) -> None:
    """Warns who can reach a sandbox that listens on more than loopback, and by which names."""
    where = "any address of this machine" if record.bind in EVERYWHERE else str(record.bind)
    names = ", ".join((*hosts, "localhost"))
    session.out.warn(
        f"Anyone who can connect to {where}, port {record.port}, can read, change and export all "
        f"that is in this sandbox: its keys are public. It answers to the names {names}."
    )


_AUTHORITY: Final = "authority.pem"
_CERTIFICATE: Final = "certificate.pem"
_PRIVATE_KEY: Final = "private-key.pem"


class TlsFiles(TypedDict, total=False):
    """Options of a sandbox that serves https: absolute paths of PEM files."""

    certificate: str
    private_key: str
    authority: str


def certificate_for(
    session: Session, folder: Path | None, *, tls: bool, own: tuple[str | None, str | None]
) -> TlsFiles:
    """Returns the files to serve https with, none for plain HTTP.

    `own` are the user's certificate and private key; with `tls` svc makes a pair in `folder`.

    Raises:
        UsageError: only one of certificate and private key was given.
        LocalError: a file cannot be read, or no certificate could be made.
    """
    certificate, private_key = own
    if certificate and private_key:
        return {"certificate": _file(certificate), "private_key": _file(private_key)}
    if certificate or private_key:
        raise UsageError("--certificate and --private-key belong together.")
    return _make_pair(session, folder / "tls") if tls and folder is not None else {}


def _file(path: str) -> str:
    if not os.access(path, os.R_OK):
        raise LocalError(f"{path} cannot be read.")
    return str(Path(path).absolute())


def _make_pair(session: Session, folder: Path) -> TlsFiles:
    """The latest pair that is good for a while, else a new one.

    Each has a folder of its own: a running sandbox keeps what it was started with.
    """
    now = datetime.fromtimestamp(session.clock.now(), UTC)
    with name_failure("No certificate could be written"):
        home = _find_latest(folder, now) or _write_key(folder, now)
    return {
        "certificate": str(home / _CERTIFICATE),
        "private_key": str(home / _PRIVATE_KEY),
        "authority": str(home / _AUTHORITY),
    }


def _find_latest(folder: Path, now: datetime) -> Path | None:
    from svc.sandbox.process.certificate import RENEWAL, ends

    good: list[tuple[datetime, Path]] = []
    for home in folder.glob("[0-9a-f]*"):
        with suppress(OSError, ValueError):
            end = ends((home / _CERTIFICATE).read_bytes())
            if end - now > RENEWAL:
                good.append((end, home))
            elif end < now:
                shutil.rmtree(home)
    return max(good)[1] if good else None


def _write_key(folder: Path, now: datetime) -> Path:
    from svc.sandbox.process.certificate import issue

    issued = issue(now)
    make_private(folder)
    fresh = folder / f"new-{issued.serial}"
    fresh.mkdir(mode=0o700)
    for name, data in (
        (_AUTHORITY, issued.authority),
        (_CERTIFICATE, issued.certificate),
        (_PRIVATE_KEY, issued.private_key),
    ):
        handle = open_private(fresh / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    # Renamed when it is whole: a process that looks for a pair finds all of it.
    return fresh.rename(folder / issued.serial)


NAME: Final = "sandbox"


def point_profile_at(session: Session, record: RunRecord) -> str | None:
    """Points the profile `sandbox` at a sandbox; it becomes the active one if there is no other.

    The profile stays as it is while it points at another sandbox that still runs.

    Returns the words after `svc` that reach the sandbox, `--profile sandbox` or none; None where
    the profile was not written, which is only noted: a sandbox is useful without a profile.
    """
    existing = session.config.profiles.get(NAME)
    if existing is not None and not existing.sandbox:
        session.out.warn(f"The profile {NAME} belongs to another service and stays as it is.")
        return None
    other = _other_running(session, record)
    if other is not None:
        session.out.note(
            f"The profile {NAME} still means the sandbox at {other.url}. This one is reached by "
            f"--base-url {record.url}, or by the exports of: svc sandbox env --port {record.port}"
        )
        return None
    try:
        path = session.paths.config_file
        values: dict[str, str | bool] = {"base_url": record.url, "sandbox": True}
        if record.certificate is not None:
            values["ca_bundle"] = record.certificate
        elif existing and existing.ca_bundle:
            remove_value(path, f"profiles.{NAME}.ca_bundle")
        active = create_profile(path, NAME, values, replace=True).active_profile
    except (ConfigError, LocalError) as error:
        session.out.warn(f"The profile {NAME} was not written. {error.message}")
        return None
    return "" if active == NAME else f"--profile {NAME}"


def repoint_profile(session: Session, record: RunRecord) -> None:
    """Points the profile at a running sandbox, if the profile is gone or its sandbox has ended."""
    existing = session.config.profiles.get(NAME)
    if existing is not None and (not existing.sandbox or str(existing.base_url) == record.url):
        return
    if _other_running(session, record) is None and point_profile_at(session, record) is not None:
        session.out.note(f"The profile {NAME} points at it again.")


def _other_running(session: Session, record: RunRecord) -> RunRecord | None:
    """The other sandbox of ours that the profile points at, while it runs."""
    existing = session.config.profiles.get(NAME)
    if existing is None or not existing.sandbox or str(existing.base_url) == record.url:
        return None
    with suppress(NoFolder):
        found = list_running(session.paths.sandbox_dir)
        return next((each for each in found if each.url == str(existing.base_url)), None)
    return None


def report_ready(
    session: Session, record: RunRecord, ready_file: Path | None, *, detached: bool
) -> None:
    """Writes profile and ready file, then prints the next command; raises LocalError."""
    profile = point_profile_at(session, record)
    if ready_file is not None:
        with name_failure(f"{ready_file} cannot be written"):
            replace_file(ready_file, f"{record.url}\n".encode())
    if not detached:
        notify_systemd(session.env)
    if session.format != "human":
        shown = {"object": "sandbox_process", **record._asdict()}
        shown["profile"] = None if profile is None else NAME
        session.out.value(shown, name="url")
        return
    end = f"pid {record.pid}; svc sandbox stop ends it" if detached else "Ctrl-C to stop"
    session.out.words(f"Sandbox ready at {record.url}  ({end})")
    memory = "in memory, gone when it stops"
    session.out.line(f"Data: {memory if record.db == MEMORY else record.db}")
    if profile is not None:
        words = " ".join(filter(None, ("svc", profile, "orders list")))
        session.out.words(f"Next: {words}")
    else:
        session.out.words(f'Next: eval "$(svc sandbox env --port {record.port})"')
        session.out.words("Then: svc orders list")


def forget(ready_file: Path | None) -> None:
    """Removes an earlier run's ready file, so that no script believes it; raises LocalError."""
    if ready_file is not None:
        with name_failure(f"{ready_file} cannot be written"):
            ready_file.unlink(missing_ok=True)
