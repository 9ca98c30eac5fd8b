"""Chooses the keyrings that may be used on this system, before any is imported (promise R33).

`keys.store` tries them in this order; `svc doctor` names them. A keyring of a Python package that
the user has not allowed in the configuration is never used.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from svc.errors import KeyStoreError
from svc.keys.keyrings.backend import Backend
from svc.keys.keyrings.library import LibraryBackend
from svc.keys.keyrings.secret_service import SecretService
from svc.keys.places import KWALLET, MACOS, OURS, SECRET_SERVICE, WINDOWS

_LINUX: Final = (SECRET_SERVICE, KWALLET)
_BY_PLATFORM: Final[Mapping[str, tuple[str, ...]]] = {"darwin": (MACOS,), "win32": (WINDOWS,)}
# They keep nothing, or choose among all that is installed.
_NEVER: Final = (
    "keyring.backends.null.Keyring",
    "keyring.backends.fail.Keyring",
    "keyring.backends.chainer.ChainerBackend",
)
_VARIABLE: Final = "PYTHON_KEYRING_BACKEND"


def backends(env: Mapping[str, str], allowed: Sequence[str], platform: str) -> tuple[Backend, ...]:
    """Returns the keyrings to try, in order; none of them is imported or opened yet.

    If the keyring library is configured to use one keyring, it is the only one. Otherwise those of
    the setting `keyring_backends` (`allowed`) come first, then those of the platform.

    Raises:
        KeyStoreError: the library is configured to use a keyring that is not allowed.
    """
    named, source = _find_chosen(env, platform)
    if named is not None:
        _check(named, source, allowed)
        return (_backend(named, env),)
    for name in allowed:
        if name in _NEVER:
            _check(name, "The setting keyring_backends", allowed)
    names = dict.fromkeys((*allowed, *_BY_PLATFORM.get(platform, _LINUX)))
    return tuple(_backend(name, env) for name in names)


def list_refused_modules(allowed: Sequence[str]) -> list[str]:
    """Lists the modules of installed keyrings that are not allowed; imports none of them."""
    from importlib.metadata import entry_points

    found = {point.value for point in entry_points(group="keyring.backends")}
    modules = {name.rpartition(".")[0] for name in (*allowed, *OURS)}
    return sorted(name for name in found - modules if not name.startswith("keyring.backends."))


def _backend(name: str, env: Mapping[str, str]) -> Backend:
    if name == SECRET_SERVICE:
        return SecretService(env)
    # Looked for first: without it the library is loaded in vain.
    return LibraryBackend(name, needs="dbus" if name == KWALLET else None)


def _find_chosen(env: Mapping[str, str], platform: str) -> tuple[str | None, str]:
    """Finds the keyring that the library is configured to use, in the library's own places."""
    if env.get(_VARIABLE):
        return env[_VARIABLE], _VARIABLE
    path = _library_config(env, platform)
    if path is None or not path.is_file():
        return None, ""
    from configparser import Error, RawConfigParser

    parser = RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except (Error, OSError, ValueError):
        raise KeyStoreError(
            f"{path} chooses the keyring and cannot be read.",
            code="keyring_refused",
            outcome="not_sent",
            hint="Mend or remove it, or set SVC_API_KEY",
        ) from None
    return parser.get("backend", "default-keyring", fallback="").strip() or None, str(path)


def _library_config(env: Mapping[str, str], platform: str) -> Path | None:
    if platform == "win32":
        root = env.get("LOCALAPPDATA") or env.get("ProgramData")
        return Path(root, "Python Keyring", "keyringrc.cfg") if root else None
    root = env.get("XDG_CONFIG_HOME") or (env.get("HOME") and f"{env['HOME']}/.config")
    return Path(root, "python_keyring", "keyringrc.cfg") if root else None


def _check(name: str, source: str, allowed: Sequence[str]) -> None:
    if name in _NEVER:
        what, hint = "which keeps no keys", "Set SVC_API_KEY instead"
    elif name in (*OURS, *allowed):
        return
    else:
        what = "which is not allowed to keep keys"
        names = ",".join((*allowed, name))
        hint = f"Set SVC_API_KEY, or allow it: svc config set keyring_backends {names}"
    raise KeyStoreError(
        f"{source} names the keyring {name!r}, {what}.",
        code="keyring_refused",
        outcome="not_sent",
        hint=hint,
    )
