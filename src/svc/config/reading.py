"""Reads and validates the configuration file; an error names the line.

`load` runs once in each command that needs settings: the path in, a `Config` out. `editing` parses
the changed text by the same rules before it is written. The file itself is never changed here.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from svc.base_url import BaseUrl
from svc.config.model import LIMITS, PROFILE, SETTINGS, Config, Profile, profile_name
from svc.config.model import ConfigField as Known
from svc.errors import ConfigError, LocalError, system_words
from svc.system.files import OTHERS_WRITE, is_trusted, others_may

NamePath = tuple[str, ...]


def line_of(text: str, path: NamePath) -> int | None:
    """The line, from 1, that sets a dotted name, else that of the table that would hold it."""
    best: tuple[int, int] | None = None
    for number, found in _statements(text):
        depth = len(found)
        if path[:depth] == found and (best is None or depth > best[1]):
            best = number, depth
    return best[0] if best else None


def _statements(text: str) -> Iterator[tuple[int, NamePath]]:
    table: NamePath = ()
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith("["):
            table = _names(bare)
            yield number, table
        elif "=" in bare:
            names = _names(bare.split("=", 1)[0] + "= 0")
            if names:
                yield number, (*table, *names)


def _names(statement: str) -> NamePath:
    import tomllib

    try:
        value: Any = tomllib.loads(statement)
    except ValueError:
        return ()
    names = []
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        names.append(name)
    return tuple(names)


BYTES_MAX: Final = 256 * 1024
_NOT_PRIVATE: Final = "config_not_private"


def load(path: Path) -> Config:
    """Reads the configuration; a missing file is an empty configuration.

    Raises:
        ConfigError: the file cannot be read, or a line is invalid.
        LocalError: another user owns the file or its folder, or may write it (promise R104).
    """
    text = read_text(path)
    return Config(path) if text is None else parse(text, path)


def read_text(path: Path) -> str | None:
    """Reads the text of the file, or returns None if there is no file; raises as `load`."""
    try:
        for facts in (path.parent.lstat(), path.parent.stat()):  # of a link to a folder, of both
            if stat.S_ISDIR(facts.st_mode) or stat.S_ISLNK(facts.st_mode):
                refuse_other_writers(path.parent, facts, "700")
        with path.open("rb") as file:
            refuse_other_writers(path, os.fstat(file.fileno()), "600")
            data = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = system_words(error)
        raise ConfigError(f"{path} cannot be read: {why}.", code="config_unreadable") from None
    return _text_of(data, path)


def refuse_other_writers(path: Path, facts: os.stat_result, mode: str) -> None:
    """Refuses a file or folder that another user may have written (promise R104).

    The configuration decides where requests go, by which proxy, whom TLS trusts, and which keyring
    code runs. The error suggests a `chmod` to `mode`.

    Raises:
        LocalError: neither the user nor root owns it, or others may write it.
    """
    if not is_trusted(facts):
        raise LocalError(
            f"{path} belongs to another user (uid {facts.st_uid}); it was not read.",
            code=_NOT_PRIVATE,
            hint="Remove it, or point SVC_CONFIG_DIR at a folder of your own. If you trust what it "
            f"holds: sudo chown $(id -u) '{path}' && chmod {mode} '{path}'",
        )
    if others_may(facts, OTHERS_WRITE):
        raise LocalError(
            f"{path} can be changed by other users.",
            code=_NOT_PRIVATE,
            hint=f"Run: chmod {mode} '{path}'",
        )


def parse(text: str, path: Path) -> Config:
    """Parses the text of a configuration file.

    Raises:
        ConfigError: invalid TOML, or an unknown name or value; with the line.
    """
    data = _toml(text, path)
    reader = _Checker(text, path)
    tables = data.pop("profiles", {})
    if not isinstance(tables, dict):
        raise reader.build_error(("profiles",), "must hold one table for each profile")
    limits = reader.limits(("limits",), data.pop("limits", {}))
    settings = reader.check((), data, SETTINGS)
    profiles = {name: reader.profile(name, table) for name, table in tables.items()}
    settings["keyring_backends"] = tuple(settings.get("keyring_backends", ()))
    return Config(path, profiles=MappingProxyType(profiles), limits=limits, **settings)


class _Checker:
    """Checks the names and values of the file; an error names the line."""

    def __init__(self, text: str, path: Path) -> None:
        self._text = text
        self._path = path

    def check(self, above: tuple[str, ...], data: dict[str, Any], known: Any) -> dict[str, Any]:
        for name, value in data.items():
            where = (*above, name)
            if name not in known:
                raise self._build_unknown(where, known)
            field: Known = known[name]
            complaint = field.check(value)
            if complaint:
                raise self.build_error(where, complaint)
        return data

    def profile(self, name: str, table: Any) -> Profile:
        where = ("profiles", name)
        complaint = profile_name(name)
        if complaint:
            raise self.build_error(where, complaint)
        if not isinstance(table, dict):
            raise self.build_error(where, "must be a table that holds base_url")
        own = dict(table)
        limits = self.limits((*where, "limits"), own.pop("limits", {}))
        values = self.check(where, own, PROFILE)
        if "base_url" not in values:
            raise self.build_error(where, "has no base_url")
        address = BaseUrl.parse(values.pop("base_url"))
        return Profile(name, base_url=address, limits=limits, **values)

    def limits(self, where: tuple[str, ...], table: Any) -> Mapping[str, str]:
        """Reads a table of limits; the keys are dotted names, such as `live.refunds`."""
        if not isinstance(table, dict):
            raise self.build_error(where, "must be a table")
        found: dict[str, Any] = {}
        for name, value in table.items():
            inner = value if isinstance(value, dict) else {"": value}
            found |= {f"{name}.{one}".rstrip("."): limit for one, limit in inner.items()}
        for name, value in found.items():
            path = (*where, *name.split("."))
            if name not in LIMITS:
                raise self._build_unknown(path, LIMITS)
            if complaint := LIMITS[name].check(value):
                raise self.build_error(path, complaint)
        return MappingProxyType(found)

    def build_error(self, where: tuple[str, ...], complaint: str) -> ConfigError:
        line = line_of(self._text, where)
        return _error(self._path, line, f"{_format_path(where)} {complaint}.")

    def _build_unknown(self, where: tuple[str, ...], known: Any) -> ConfigError:
        from svc.nearest import find_near_words

        near = find_near_words(where[-1], known)
        hint = f"Did you mean {near[0]}?" if near else f"Known here: {', '.join(known)}"
        if "key" in where[-1].lower() and not near:
            hint = "API keys are not kept in this file: svc keys add"
        line = line_of(self._text, where)
        return _error(self._path, line, f"{_format_path(where)} is not known.", hint)


def _toml(text: str, path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _error(path, None, "it is nested too deeply.") from None
    except ValueError as error:
        complaint = str(error)
    place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", complaint)
    line = int(place[1]) if place and place[1] else len(text.splitlines()) or 1
    what = complaint[: place.start()] if place else complaint
    raise _error(path, line, f"this is no TOML: {what}.", "Settings are written NAME = VALUE")


def _text_of(data: bytes, path: Path) -> str:
    lines = data.count(b"\n") + 1
    if len(data) > BYTES_MAX:
        raise _error(path, lines, f"the file goes on past {BYTES_MAX // 1024} KiB here.")
    if data.startswith(b"\xef\xbb\xbf"):
        raise _error(path, 1, "the file begins with a byte order mark.", _RESAVE)
    if b"\r" in data:
        line = data[: data.index(b"\r")].count(b"\n") + 1
        raise _error(path, line, "the line ends in a carriage return.", _RESAVE)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _error(path, line, "the text is not UTF-8.", _RESAVE) from None


_RESAVE: Final = "Save it as plain UTF-8 with Unix line ends"


def _error(path: Path, line: int | None, what: str, hint: str | None = None) -> ConfigError:
    where = f"{path}, line {line}" if line else str(path)
    return ConfigError(f"{where}: {what}", code="config_invalid", hint=hint)


def _format_path(where: tuple[str, ...]) -> str:
    # Quoted where it is not a plain word: it came from a file and goes to a terminal.
    return ".".join(
        name if name.isascii() and name.replace("-", "_").isidentifier() else repr(name)
        for name in where
    )
