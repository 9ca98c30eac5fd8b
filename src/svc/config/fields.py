"""Every name that the file may hold, with the check of its value, as one table."""

import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from svc.base_url import BaseUrl
from svc.config.model import AUTHS, COLORS, FORMATS
from svc.errors import ConfigError, wrong_word
from svc.spec import IDEMPOTENCY_RETENTION_SECONDS

_PROFILE_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLASS: Final = r"(?a)[A-Za-z_]\w*(\.[A-Za-z_]\w*)+"

Complaint = str | None
Check = Callable[[Any], Complaint]


class ConfigField(NamedTuple):
    """One name: how its value is checked, and how it is read from a command line."""

    check: Check
    from_text: Callable[[str], Any] = str


def profile_name(value: Any) -> Complaint:
    """A name fits into a keyring's item name and into a dotted setting."""
    if isinstance(value, str) and re.fullmatch(_PROFILE_NAME, value):
        return None
    return "is no profile name: use letters, digits, - and _, at most 64"


def seconds(value: Any) -> Complaint:
    """A time limit: above nought, and at most the day that an idempotency key is kept."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    good = plain and 0 < value <= IDEMPOTENCY_RETENTION_SECONDS
    return None if good else "must be a number of seconds above 0 and at most 86400"


def date(value: Any) -> Complaint:
    """An API version (spec: Versioning)."""
    plain = isinstance(value, str) and re.fullmatch(_DATE, value)
    return None if plain else "must be a date in the form YYYY-MM-DD"


def one_of(words: tuple[str, ...]) -> Check:
    """Makes the check of a closed set."""

    def check(value: Any) -> Complaint:
        return None if value in words else wrong_word(value, words)

    return check


def address(value: Any) -> Complaint:
    """A base URL (promise R23)."""
    if not isinstance(value, str):
        return "must be text such as https://api.example.com"
    try:
        BaseUrl.parse(value)
    except ConfigError as error:
        return f"is refused. {error.message.removesuffix('.')}"
    return None


def _flag(value: Any) -> Complaint:
    return None if isinstance(value, bool) else "must be true or false"


def _word(value: Any) -> Complaint:
    plain = isinstance(value, str) and value and all("!" <= mark <= "~" for mark in value)
    return None if plain else "must be printable ASCII text without spaces"


def _absolute(value: Any) -> Complaint:
    plain = isinstance(value, str) and "\0" not in value and PurePath(value).is_absolute()
    return None if plain else "must be the absolute path of a file"


def _classes(value: Any) -> Complaint:
    plain = isinstance(value, list) and all(
        isinstance(name, str) and re.fullmatch(_CLASS, name) for name in value
    )
    return None if plain else "must be a list of class names such as package.module.Keyring"


def _flag_of(text: str) -> Any:
    words = {"true": True, "on": True, "false": False, "off": False}
    return words.get(text.lower(), text)


def _number_of(text: str) -> Any:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


def _list_of(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


SETTINGS: Final[Mapping[str, ConfigField]] = {
    "active_profile": ConfigField(profile_name),
    "output": ConfigField(one_of(FORMATS)),
    "color": ConfigField(one_of(COLORS)),
    "max_time": ConfigField(seconds, _number_of),
    "cache": ConfigField(_flag, _flag_of),
    "keyring_backends": ConfigField(_classes, _list_of),
}

PROFILE: Final[Mapping[str, ConfigField]] = {
    "base_url": ConfigField(address),
    "api_version": ConfigField(date),
    "auth": ConfigField(one_of(AUTHS)),
    "sandbox": ConfigField(_flag, _flag_of),
    "proxy": ConfigField(_word),
    "ca_bundle": ConfigField(_absolute),
}
