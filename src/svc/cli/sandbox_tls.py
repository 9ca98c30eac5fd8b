"""The certificate of a sandbox that speaks https: the user's own, or one made for this machine."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from svc.cli.session import Session
from svc.errors import LocalError, UsageError
from svc.sandbox.records import make_private

_DAYS: Final = 825
_RENEW_AFTER: Final = 800 * 86400  # seconds
_SECONDS: Final = 30.0
_NAMES: Final = "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"
_EXTENSIONS: Final = (
    _NAMES,
    "keyUsage=critical,digitalSignature,keyCertSign",
    "extendedKeyUsage=serverAuth",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, as absolute paths of PEM files."""

    certificate: str
    private_key: str


def certificate_for(
    session: Session, folder: Path, *, tls: bool, own: tuple[str | None, str | None]
) -> Pair | None:
    """Gives the pair to serve https with, or None for plain HTTP.

    Raises:
        UsageError: only half a pair was given.
        LocalError: a file is not there, or no certificate could be made.
    """
    certificate, private_key = own
    if certificate and private_key:
        return Pair(_file(certificate), _file(private_key))
    if certificate or private_key:
        raise UsageError("--certificate and --private-key belong together.")
    return _made(session, folder / "tls") if tls else None


def _file(path: str) -> str:
    if not os.access(path, os.R_OK):
        raise LocalError(f"{path} cannot be read.")
    return str(Path(path).absolute())


def _made(session: Session, folder: Path) -> Pair:
    pair = Pair(str(folder / "certificate.pem"), str(folder / "private-key.pem"))
    if not _is_good(session, pair):
        _make(folder, pair)
    return pair


def _is_good(session: Session, pair: Pair) -> bool:
    try:
        made = min(Path(pair.certificate).stat().st_mtime, Path(pair.private_key).stat().st_mtime)
    except OSError:
        return False
    return 0 <= session.clock.now() - made < _RENEW_AFTER


def _make(folder: Path, pair: Pair) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise LocalError(
            "--tls needs the program openssl to make a certificate, and it is not installed.",
            hint="Install it, or give your own pair: --certificate FILE --private-key FILE",
        )
    make_private(folder)
    argv = [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    argv += ["-noenc", "-days", str(_DAYS), "-subj", "/CN=svc sandbox"]
    argv += ["-keyout", pair.private_key, "-out", pair.certificate]
    argv += [word for extension in _EXTENSIONS for word in ("-addext", extension)]
    try:
        done = subprocess.run(  # noqa: S603  fixed words and our own paths
            argv, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LocalError(f"No certificate could be made: {error}.") from error
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise LocalError(f"No certificate could be made: {''.join(words)}.")
    Path(pair.private_key).chmod(0o600)
