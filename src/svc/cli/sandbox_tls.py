"""The certificate of a sandbox that speaks https: the user's own, or one made for this machine."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from svc.cli.session import Session
from svc.errors import LocalError, UsageError
from svc.system.files import make_private, open_private

if TYPE_CHECKING:
    from svc.sandbox.authority import Issued

_AUTHORITY: Final = "authority.pem"
_CERTIFICATE: Final = "certificate.pem"
_PRIVATE_KEY: Final = "private-key.pem"


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate, its private key and what clients trust, as absolute paths of PEM files."""

    certificate: str
    private_key: str
    authority: str


def certificate_for(
    session: Session, folder: Path | None, *, tls: bool, own: tuple[str | None, str | None]
) -> Pair | None:
    """Gives the pair to serve https with, or None for plain HTTP.

    Raises:
        UsageError: only half a pair was given.
        LocalError: a file is not there, or no certificate could be made.
    """
    certificate, private_key = own
    if certificate and private_key:
        return Pair(_file(certificate), _file(private_key), _file(certificate))
    if certificate or private_key:
        raise UsageError("--certificate and --private-key belong together.")
    return _made(session, folder / "tls") if tls and folder is not None else None


def _file(path: str) -> str:
    if not os.access(path, os.R_OK):
        raise LocalError(f"{path} cannot be read.")
    return str(Path(path).absolute())


def _made(session: Session, folder: Path) -> Pair:
    """The latest pair that is good for a while, else a new one.

    Each has a folder of its own: a running sandbox keeps what it was started with.
    """
    now = datetime.fromtimestamp(session.clock.now(), UTC)
    try:
        home = _latest(folder, now) or _write(folder, now)
    except OSError as error:
        raise LocalError(f"No certificate could be written: {error.strerror}.") from error
    return Pair(str(home / _CERTIFICATE), str(home / _PRIVATE_KEY), str(home / _AUTHORITY))


def _latest(folder: Path, now: datetime) -> Path | None:
    from svc.sandbox.authority import RENEWAL, ends

    good: list[tuple[datetime, Path]] = []
    for home in folder.glob("[0-9a-f]*"):
        with suppress(OSError, ValueError, ImportError):
            end = ends((home / _CERTIFICATE).read_bytes())
            if end - now > RENEWAL:
                good.append((end, home))
            elif end < now:
                shutil.rmtree(home)
    return max(good)[1] if good else None


def _write(folder: Path, now: datetime) -> Path:
    from svc.sandbox.authority import issue

    issued = issue(now)
    make_private(folder)
    fresh = folder / f"new-{issued.serial}"
    fresh.mkdir(mode=0o700)
    for name, data in _texts(issued).items():
        handle = open_private(fresh / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    # Renamed when it is whole: whoever looks for a pair finds all of it.
    return fresh.rename(folder / issued.serial)


def _texts(issued: "Issued") -> dict[str, bytes]:
    return {
        _AUTHORITY: issued.authority,
        _CERTIFICATE: issued.certificate,
        _PRIVATE_KEY: issued.private_key,
    }
