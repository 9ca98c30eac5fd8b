"""The configuration as data: every name that the file may have, with the check of its value.

`reading` fills a `Config` with its `Profile`s from the file. `reading`, `editing` and `svc config`
look names up in `SETTINGS`, `PROFILE` and `LIMITS`, whose checks return a complaint, or None for a
valid value. `settings` takes a command's values from the `Config` and the profile in use.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from svc.base_url import BaseUrl
from svc.errors import ConfigError, explain_wrong_word
from svc.inputs import COLORS, FORMATS, Color, Format
from svc.service.facts import AUTHS, IDEMPOTENCY_RETENTION_SECONDS, LIMIT_GROUPS, MODES, Auth

if TYPE_CHECKING:  # few files hold limits
    from svc.config.limits import MoneyLimit

DEFAULT_PROFILE: Final = "default"


class Profile(NamedTuple):
    """The settings of one account; only a profile that is in no file has no `base_url`."""

    name: str
    base_url: BaseUrl | None = None
    api_version: str | None = None
    auth: Auth = "bearer"
    sandbox: bool = False
    proxy: str | None = None
    ca_bundle: str | None = None
    key_command: str | None = None
    limits: Mapping[str, str] = MappingProxyType({})


class Config(NamedTuple):
    """The content of the file at `path`; `max_time` is in seconds."""

    path: Path
    active_profile: str | None = None
    profiles: Mapping[str, Profile] = MappingProxyType({})
    output: Format | None = None
    color: Color | None = None
    max_time: float | None = None
    cache: bool = True
    keyring_backends: tuple[str, ...] = ()
    limits: Mapping[str, str] = MappingProxyType({})

    @property
    def active(self) -> Profile:
        """The profile that is used if no option or variable names one.

        Raises:
            ConfigError: the file names a profile that it does not have.
        """
        name = self.active_profile or DEFAULT_PROFILE
        if name in self.profiles or name == DEFAULT_PROFILE:
            return self.profile(name)
        raise ConfigError(
            f"{self.path}: active_profile is {name!r}, and there is no such profile.",
            code="profile_unknown",
            hint=f"Known: {self._list_profiles()}. Choose one: svc profiles use NAME",
        )

    def profile(self, name: str) -> Profile:
        """Finds a profile; `default` always exists and may be empty.

        Raises:
            ConfigError: there is no profile of that name.
        """
        if name in self.profiles:
            return self.profiles[name]
        if name == DEFAULT_PROFILE:
            return Profile(name)
        raise self.build_unknown_profile(name)

    def build_unknown_profile(self, name: str) -> ConfigError:
        """Builds the error of an unknown profile, with the command that creates one."""
        from svc.nearest import explain_meant, find_near_words

        near = explain_meant(find_near_words(name, self.profiles))
        return ConfigError(
            f"There is no profile {name!r} (known: {self._list_profiles()}).{near}",
            code="profile_unknown",
            param="profile",
            hint="Those that there are: svc profiles list"
            if near
            else f"Create it: svc profiles create {name} --base-url URL",
        )

    def limit_names(self) -> frozenset[str]:
        """The dotted names of the limits in all tables of the file, such as `live.refunds`."""
        own = (profile.limits for profile in self.profiles.values())
        return frozenset(self.limits).union(*own)

    def limits_for(self, profile: str, mode: str, group: str) -> "tuple[MoneyLimit, ...]":
        """The limits of requests of a profile, mode and group; may be empty.

        A limit of the profile replaces one for all profiles; then one of the mode replaces one for
        both modes.
        """
        own = self.profiles[profile].limits if profile in self.profiles else {}
        for table in (own, self.limits):
            for name in (f"{mode}.{group}", group):
                if name in table:
                    from svc.config.limits import parse_limits

                    return parse_limits(table[name]) or ()
        return ()

    def is_sandbox(self, address: BaseUrl) -> bool:
        """Whether a sandbox of this machine was started at this address."""
        return address.is_loopback and any(
            profile.sandbox and profile.base_url and profile.base_url.origin == address.origin
            for profile in self.profiles.values()
        )

    def _list_profiles(self) -> str:
        return ", ".join(sorted(self.profiles)) or "none"


_CLASS: Final = r"(?a)[A-Za-z_]\w*(\.[A-Za-z_]\w*)+"

Complaint = str | None
SettingCheck = Callable[[Any], Complaint]


class ConfigField(NamedTuple):
    """One name of the file: the check of its value, and its parser for command lines."""

    check: SettingCheck
    from_text: Callable[[str], Any] = str


def _check(is_valid: Callable[[Any], object], complaint: str) -> SettingCheck:
    return lambda value: None if is_valid(value) else complaint


def _check_text(pattern: str, complaint: str) -> SettingCheck:
    return _check(lambda value: isinstance(value, str) and re.fullmatch(pattern, value), complaint)


# It is part of keyring items and of dotted settings.
profile_name: Final = _check_text(
    r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}",
    "is not a profile name: use letters, digits, - and _, at most 64",
)
date: Final = _check_text(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "must be a date in the form YYYY-MM-DD")


def seconds(value: Any) -> Complaint:
    """Checks a time limit: above zero, and at most the 24 hours of an idempotency key."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    good = plain and 0 < value <= IDEMPOTENCY_RETENTION_SECONDS
    most = IDEMPOTENCY_RETENTION_SECONDS
    return None if good else f"must be a number of seconds above 0 and at most {most}"


def one_of(words: tuple[str, ...]) -> SettingCheck:
    """Builds the check of a closed set of words."""

    def check(value: Any) -> Complaint:
        return None if value in words else explain_wrong_word(value, words)

    return check


def address(value: Any) -> Complaint:
    """Checks a base URL (promise R23)."""
    if not isinstance(value, str):
        return "must be text such as https://api.example.com"
    try:
        BaseUrl.parse(value)
    except ConfigError as error:
        return f"is refused. {error.message.removesuffix('.')}"
    return None


_flag: Final = _check(lambda value: isinstance(value, bool), "must be true or false")
_word: Final = _check_text(r"[!-~]+", "must be printable ASCII text without spaces")


def _command(value: Any) -> Complaint:
    """Checks a program with its arguments, which are split as a shell does; no shell runs it."""
    import shlex

    try:
        plain = isinstance(value, str) and value.isprintable() and shlex.split(value)
    except ValueError:  # a quote that nothing closes
        plain = False
    return None if plain else "must be a program with its arguments, such as op read op://Shop/key"


_absolute: Final = _check(
    lambda value: isinstance(value, str) and "\0" not in value and PurePath(value).is_absolute(),
    "must be the absolute path of a file",
)
_classes: Final = _check(
    lambda value: (
        isinstance(value, list)
        and all(isinstance(name, str) and re.fullmatch(_CLASS, name) for name in value)
    ),
    "must be a list of class names such as package.module.Keyring",
)


def _limits(value: Any) -> Complaint:
    from svc.config.limits import WINDOWS, parse_limits

    good = isinstance(value, str) and parse_limits(value)
    return (
        None
        if good
        else (
            "must be amounts such as '500 EUR/day, 90.50 USD/hour': each with its currency's own "
            f"decimals, and one of {', '.join(WINDOWS)}"
        )
    )


def _flag_of(text: str) -> Any:
    words = {"true": True, "on": True, "false": False, "off": False}
    return words.get(text.lower(), text)


def _number_of(text: str) -> Any:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


SETTINGS: Final[Mapping[str, ConfigField]] = {
    "active_profile": ConfigField(profile_name),
    "output": ConfigField(one_of(FORMATS)),
    "color": ConfigField(one_of(COLORS)),
    "max_time": ConfigField(seconds, _number_of),
    "cache": ConfigField(_flag, _flag_of),
    "keyring_backends": ConfigField(
        _classes, lambda text: [part.strip() for part in text.split(",") if part.strip()]
    ),
}

PROFILE: Final[Mapping[str, ConfigField]] = {
    "base_url": ConfigField(address),
    "api_version": ConfigField(date),
    "auth": ConfigField(one_of(AUTHS)),
    "sandbox": ConfigField(_flag, _flag_of),
    "proxy": ConfigField(_word),
    "ca_bundle": ConfigField(_absolute),
    "key_command": ConfigField(_command),
}

# What stands in a table `limits`; the name of a mode goes before that of both.
LIMITS: Final[Mapping[str, ConfigField]] = {
    f"{mode}{group}": ConfigField(_limits)
    for mode in ("", *(f"{one}." for one in MODES))
    for group in LIMIT_GROUPS
}
