"""The kinds of scalar values and their rules (assumptions: Conventions, Error codes)."""

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from svc.money import CURRENCIES
from svc.sandbox import clock
from svc.sandbox.parameters import problems
from svc.sandbox.parameters.tables import Kind, Settings
from svc.sandbox.reference import fx
from svc.spec import AMOUNT_MAX, COUNTRIES, EVENT_TYPES
from svc.system.loopback import is_loopback

METADATA_KEYS_MAX: Final = 50
_METADATA_KEY_MAX: Final = 40
_METADATA_VALUE_MAX: Final = 500
_HS_DIGITS_MAX: Final = 12
_HS_TEXT_MAX: Final = 64
_URL_MAX: Final = 2000

_INTEGER: Final = re.compile(r"-?[0-9]{1,4000}")  # Python refuses to read longer ones
_HS_CODE: Final = re.compile(r"[0-9. -]*")
_NEVER_IN_URLS: Final = frozenset(' "<>\\^`{|}')
_CURRENCY: Final = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """A string of at most `most` characters."""

    most: int = 500

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        text = _string(value, name)
        if len(text) > self.most:
            raise problems.too_long(name, f"{self.most} characters")
        return text


@dataclass(frozen=True, slots=True)
class Shaped(Kind):
    """A string of a fixed shape; `what` describes it to people."""

    shape: re.Pattern[str]
    what: str

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        text = _string(value, name)
        if not self.shape.fullmatch(text):
            raise problems.invalid("parameter_invalid_value", name, f"{name} must be {self.what}.")
        return text


@dataclass(frozen=True, slots=True)
class Choice(Kind):
    """One of a few words."""

    words: tuple[str, ...]

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        if _string(value, name) not in self.words:
            raise problems.not_allowed_value(name, self.words)
        return str(value)


@dataclass(frozen=True, slots=True)
class Integer(Kind):
    """A whole number in a plain range."""

    low: int
    high: int

    def coerce(self, value: Any) -> Any:
        return _coerced_integer(value)

    def check(self, value: Any, name: str, settings: Settings) -> int:  # noqa: ARG002
        if not _is_integer(value) or not self.low <= value <= self.high:
            raise problems.not_integer(name, self.low, self.high)
        return int(value)


@dataclass(frozen=True, slots=True)
class Amount(Kind):
    """An amount in minor units."""

    low: int = 1

    def coerce(self, value: Any) -> Any:
        return _coerced_integer(value)

    def check(self, value: Any, name: str, settings: Settings) -> int:  # noqa: ARG002
        if not _is_integer(value):
            raise problems.not_integer(name, self.low, AMOUNT_MAX)
        if value < self.low:
            raise problems.invalid("amount_too_small", name, f"{name} must be at least {self.low}.")
        if value > AMOUNT_MAX:
            raise amount_too_large(name, AMOUNT_MAX)
        return int(value)


@dataclass(frozen=True, slots=True)
class Boolean(Kind):
    """`true` or `false`, and nothing that looks like them."""

    def coerce(self, value: Any) -> Any:
        return value == "true" if value in ("true", "false") else value

    def check(self, value: Any, name: str, settings: Settings) -> bool:  # noqa: ARG002
        if not isinstance(value, bool):
            message = f"{name} must be true or false."
            raise problems.invalid("parameter_invalid_boolean", name, message)
        return value


@dataclass(frozen=True, slots=True)
class Timestamp(Kind):
    """A moment in UTC with second precision."""

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        try:
            return clock.text(clock.parse(_string(value, name)))
        except ValueError:
            message = f"{name} must be a UTC timestamp such as 2026-10-01T09:00:00Z."
            raise problems.invalid("parameter_invalid_timestamp", name, message) from None


@dataclass(frozen=True, slots=True)
class Currency(Kind):
    """An ISO 4217 code in upper case that the sandbox has a rate for."""

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        code = _string(value, name)
        if not _CURRENCY.fullmatch(code) or code not in CURRENCIES:
            message = f"{name} must be an ISO 4217 code in upper case, such as EUR."
            raise problems.invalid("currency_invalid", name, message)
        if not fx.is_supported(code):
            raise problems.invalid("currency_unsupported", name, f"{code} is not supported.")
        return code


@dataclass(frozen=True, slots=True)
class Country(Kind):
    """An ISO 3166-1 alpha-2 code in upper case; `also` holds further codes that are taken."""

    also: tuple[str, ...] = ()

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        code = _string(value, name)
        if code not in COUNTRIES and code not in self.also:
            message = f"{name} must be an ISO 3166-1 code of two upper-case letters, such as DE."
            raise problems.invalid("country_code_invalid", name, message)
        return code


@dataclass(frozen=True, slots=True)
class HsCode(Kind):
    """A tariff code; it may be incomplete."""

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        code = _string(value, name)
        digits = sum(character.isdigit() for character in code)
        too_long = digits > _HS_DIGITS_MAX or len(code) > _HS_TEXT_MAX
        if too_long or not _HS_CODE.fullmatch(code):
            message = f"{name} may hold at most 12 digits, with dots, spaces and hyphens between."
            raise problems.invalid("hs_code_invalid", name, message)
        return code


@dataclass(frozen=True, slots=True)
class EventType(Kind):
    """The name of an event type; `*` is none (assumptions: Webhook endpoint)."""

    def check(self, value: Any, name: str, settings: Settings) -> str:  # noqa: ARG002
        if _string(value, name) not in EVENT_TYPES:
            message = f"{name}: there is no event type {value}."
            raise problems.invalid("event_type_unknown", name, message)
        return str(value)


@dataclass(frozen=True, slots=True)
class Url(Kind):
    """The address of a webhook receiver: https, or http to this machine where that is allowed."""

    def check(self, value: Any, name: str, settings: Settings) -> str:
        url = _string(value, name)
        if not _is_receiver(url, allow_http=bool(settings["allow_http_webhooks"])):
            message = f"{name} must be an absolute https address of at most {_URL_MAX} characters."
            raise problems.invalid("url_invalid", name, message)
        return url


@dataclass(frozen=True, slots=True)
class Metadata(Kind):
    """The caller's own keys and strings; an empty string stands for a key to delete."""

    def check(self, value: Any, name: str, settings: Settings) -> dict[str, str]:  # noqa: ARG002
        if not isinstance(value, dict):
            raise problems.wrong_type(name, "an object")
        clean = {key: self._entry(key, text, f"{name}[{key}]") for key, text in value.items()}
        refuse_many_keys(clean, name)
        return clean

    def _entry(self, key: str, value: Any, name: str) -> str:
        if not _string(key, name):
            raise problems.empty(name)
        if len(key) > _METADATA_KEY_MAX:
            raise problems.too_long(name, f"{_METADATA_KEY_MAX} characters in its key")
        text = "" if value is None else _string(value, name)
        if len(text) > _METADATA_VALUE_MAX:
            raise problems.too_long(name, f"{_METADATA_VALUE_MAX} characters")
        return text


def refuse_many_keys(metadata: dict[str, str], name: str = "metadata") -> None:
    """Raises Problem if more than 50 keys of `metadata` have a value."""
    if sum(1 for text in metadata.values() if text) > METADATA_KEYS_MAX:
        raise problems.too_long(name, f"{METADATA_KEYS_MAX} keys")


def amount_too_large(param: str, limit: int) -> problems.Problem:
    return problems.invalid("amount_too_large", param, f"{param} must be at most {limit}.")


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise problems.wrong_type(name, "a string")
    if "\0" in value:
        raise problems.invalid("parameter_invalid_value", name, f"{name} must not hold a NUL.")
    return value


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _coerced_integer(value: Any) -> Any:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    return value


def _is_receiver(url: str, *, allow_http: bool) -> bool:
    if len(url) > _URL_MAX or not url.isascii() or not url.isprintable():
        return False
    if not _NEVER_IN_URLS.isdisjoint(url):
        return False
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and allow_http and is_loopback(host))
