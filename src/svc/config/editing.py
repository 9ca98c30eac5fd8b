"""Changes the configuration file: comments stay, and the result is checked before it is written.

Called by `svc config set` and `unset`, `svc profiles create`, `use` and `remove`, and by
`svc sandbox start` for the profile of its sandbox. A reader sees the old or the new content
(promise R66): `svc sandbox export` writes its file by `write_atomically`, too.
"""

import os
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from svc.base_url import BaseUrl
from svc.clock import Clock, SystemClock
from svc.config.model import LIMITS, PROFILE, SETTINGS, Config, ConfigField, profile_name
from svc.config.reading import load, parse, read_text, refuse_other_writers
from svc.errors import ConfigError, LocalError, explain_wrong_word, name_failure
from svc.paths import refuse_link
from svc.redaction import redact
from svc.system import files, locks

_LOCK_SECONDS: Final = 10.0
_LOCK: Final = ".config.lock"


@contextmanager
def lock_folder(folder: Path, clock: Clock) -> Iterator[None]:
    """Creates a folder if it is missing, and locks it while the block runs.

    The system releases the lock when the process dies.

    Raises:
        LocalError: another process held the lock for over ten seconds; or the folder cannot be
            created, is a symbolic link, belongs to another user, or others may write to it.
    """
    with name_failure(f"The folder {folder} cannot be used"):
        files.make_private(folder)
        facts = folder.lstat()
        if not stat.S_ISDIR(facts.st_mode):
            raise LocalError(
                f"{folder} is a symbolic link; nothing was written through it.",
                hint="Point SVC_CONFIG_DIR at a folder",
            )
        refuse_other_writers(folder, facts, "700")
        handle = locks.open_folder(folder, _LOCK)
    try:
        if not locks.take_within(handle, _LOCK_SECONDS, now=clock.monotonic, sleep=clock.sleep):
            raise LocalError(f"Another svc process holds {folder} for too long.", hint="Try again")
        yield
    finally:
        os.close(handle)


def write_atomically(
    path: Path, content: str | Callable[[BinaryIO], None], *, fresh: Path | None = None
) -> None:
    """Replaces a file atomically and durably.

    `content` is a text, or a function that writes it. It takes no lock: a caller that reads the
    file and changes it needs `lock_folder` around both. The new content is first written to
    `fresh`, which that lock protects, or else to an unused name.

    Raises:
        LocalError: the file cannot be written; the old one is unchanged.
    """
    with name_failure(f"{path} cannot be written, the old one is kept"):
        data = content.encode() if isinstance(content, str) else content
        files.replace_file(path, data, fresh=fresh)


Change = Callable[[Any], None]

_ELSEWHERE: Final = "Put a file there, or point SVC_CONFIG_DIR at another folder"


def set_value(path: Path, name: str, text: str) -> Config:
    """Sets a dotted name such as `output` or `profiles.shop.base_url` from its text.

    Raises:
        ConfigError: the name is unknown or the value is invalid; nothing was written.
        LocalError: the file cannot be written; the old one is kept.
    """
    value = parse_value(name, text)
    *tables, last = name.split(".")
    if last == "base_url":
        _refuse_plain_http(value, name)
    elif tables[:1] == ["profiles"]:
        there = load(path)
        if tables[1] not in there.profiles:
            raise there.build_unknown_profile(tables[1])
    return _edit(path, lambda document: _table(document, tables).update({last: value}))


def parse_value(name: str, text: str) -> Any:
    """Parses the text of the value of a dotted name.

    Raises:
        ConfigError: the name is unknown or the value is invalid.
    """
    field = field_of(name)
    value = field.from_text(text)
    complaint = field.check(value)
    if complaint:
        raise ConfigError(f"{name} {complaint}.", param=name)
    return value


def remove_value(path: Path, name: str) -> Config:
    """Removes a dotted name from the file, so that its default applies again.

    Raises:
        ConfigError: the name is unknown or not set, or is the `base_url` that a profile must have.
        LocalError: the file cannot be written; the old one is kept.
    """
    field_of(name)
    *tables, last = name.split(".")

    def change(document: Any) -> None:
        table = document
        for part in tables:
            table = table.get(part, {})
        if last not in table:
            raise ConfigError(f"{name} is not set.", param=name)
        del table[last]

    return _edit(path, change)


def _change_line(name: str, values: Mapping[str, str | bool], known: Any) -> str:
    """The command line that sets the first value that an existing profile does not have yet."""
    for field, value in values.items():
        if known.get(field) != value:
            return f"Change it: svc config set profiles.{name}.{field} {shlex.quote(str(value))}"
    return f"It is as asked for: svc profiles use {name}"


def create_profile(
    path: Path, name: str, values: Mapping[str, str | bool], *, replace: bool = False
) -> Config:
    """Adds a profile; it becomes the active one if there is no other active one.

    `values` are fields of `[profiles.NAME]`, `base_url` among them.

    Raises:
        ConfigError: the name is taken (without `replace`) or a value is invalid.
        LocalError: the file cannot be written; the old one is kept.
    """
    _check_name(name)
    if "base_url" in values:
        _refuse_plain_http(str(values["base_url"]), "--base-url")

    def change(document: Any) -> None:
        profiles = _table(document, ["profiles"])
        if name in profiles and not replace:
            raise ConfigError(
                f"There is a profile {name!r} already.",
                code="profile_exists",
                hint=_change_line(name, values, profiles[name]),
            )
        _table(document, ["profiles", name]).update(values)
        if not document.get("active_profile"):
            document["active_profile"] = name

    return _edit(path, change)


def use_profile(path: Path, name: str) -> Config:
    """Makes a profile the active one.

    Raises:
        ConfigError: there is no profile of that name.
        LocalError: the file cannot be written; the old one is kept.
    """
    return _edit(path, lambda document: document.update({"active_profile": name}))


def remove_profile(path: Path, name: str) -> Config:
    """Removes a profile; if it was the active one, no profile is active.

    Raises:
        ConfigError: there is no profile of that name.
        LocalError: the file cannot be written; the old one is kept.
    """

    def change(document: Any) -> None:
        if name not in document.get("profiles", {}):
            from svc.nearest import explain_meant, find_near_words

            near = explain_meant(find_near_words(name, document.get("profiles", {})))
            raise ConfigError(
                f"There is no profile {name!r}.{near}",
                code="profile_unknown",
                hint="Those that there are: svc profiles list",
            )
        del document["profiles"][name]
        if not document["profiles"]:
            del document["profiles"]
        if document.get("active_profile") == name:
            del document["active_profile"]

    return _edit(path, change)


def field_of(name: str) -> ConfigField:
    """Finds the field of a dotted name; raises ConfigError: unknown; it has the nearest name."""
    parts = name.split(".")
    known, last = SETTINGS, parts[0]
    if parts[0] == "profiles" and parts[2:]:
        _check_name(parts[1])
    if limit := limit_of(name):
        known, last = LIMITS, limit
    elif parts[0] == "profiles" and len(parts) == len(("profiles", "NAME", "field")):
        known, last = PROFILE, parts[2]
    elif len(parts) > 1:
        last = name
    if last in known:
        return known[last]
    prefix = name.removesuffix(last)
    names = [*known, *(() if prefix else ("profiles.NAME.FIELD", "limits.refunds"))]
    wrong = explain_wrong_word(name, [f"{prefix}{each}" for each in names])
    raise ConfigError(f"NAME {wrong}.", code="setting_unknown", param="NAME")


def limit_of(name: str) -> str:
    """The name of a limit below its table, such as `live.refunds`; empty for other settings."""
    parts = name.split(".")
    parts = parts[2:] if parts[0] == "profiles" else parts
    return ".".join(parts[1:]) if parts[:1] == ["limits"] else ""


def _check_name(name: str) -> None:
    complaint = profile_name(name)
    if complaint is None and redact(name) != name:
        complaint = (
            "is an API key and no name: it would stand in the file. To store it: svc keys add"
        )
    if complaint:
        raise ConfigError(f"{name!r} {complaint}.", code="profile_invalid")


def _refuse_plain_http(text: str, param: str) -> None:
    """Refuses an address with plain HTTP, which no call could use (promise R21).

    Reading the file does not check it, so that a file with such an address can be corrected.
    """
    address = BaseUrl.parse(text)
    if address.is_clear:
        raise ConfigError(
            f"{address.origin} would carry API keys in clear.",
            code="https_required",
            param=param,
            hint=f"Use https://{address.host_header}; SVC_BASE_URL names a sandbox elsewhere, "
            "see: svc help ci",
        )


def _edit(path: Path, change: Change) -> Config:
    with lock_folder(path.parent, SystemClock()):
        refuse_link(path, _ELSEWHERE)
        old = read_text(path) or ""
        before = parse(old, path)  # a damaged file is refused, not mended
        new = _edit_text(old, change, path)
        after = parse(new, path)
        if after.active_profile and after.active_profile != before.active_profile:
            after.profile(after.active_profile)
        if new != old:
            # The lock protects the name; what a killed process has left there is overwritten.
            write_atomically(path, new, fresh=path.with_name(f"{path.name}.new"))
        return after


def _edit_text(text: str, change: Change, path: Path) -> str:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        change(document)
        return tomlkit.dumps(document)
    except TOMLKitError as error:  # its parser and Python's may yet disagree
        raise ConfigError(f"{path} cannot be changed: {error}", hint="Edit it by hand") from None


def _table(document: Any, names: list[str]) -> Any:
    import tomlkit

    table = document
    for depth, name in enumerate(names):
        if name not in table:
            # Of [profiles] and [profiles.NAME], only the second gets a line of its own.
            table[name] = tomlkit.table(is_super_table=names[0] == "profiles" and depth == 0)
        table = table[name]
    return table
