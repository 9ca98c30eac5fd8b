"""The kinds of scalar values (text, amount, currency, url and others) that a parameter can have.

Each class has the check of a value, the error codes of the check and the JSON Schema side by side.
Tables of parameters are made of them; `svc sandbox settings` and completion read their words.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from svc.money import CURRENCIES
from svc.sandbox import clock
from svc.sandbox.parameters import problems
from svc.sandbox.parameters.schema import (
    BLANK,
    BOOLEAN,
    COUNTRY,
    CURRENCY,
    TIMESTAMP,
    Schema,
    either,
    integer,
    words,
)
from svc.sandbox.parameters.tables import WRONG_TYPE, Codes, ParameterKind, SandboxSettings
from svc.sandbox.reference import fx
from svc.service.facts import AMOUNT_MAX, COUNTRIES, EVENT_TYPES
from svc.system.hosts import is_loopback

_METADATA_KEYS_MAX: Final = 50
_METADATA_KEY_MAX: Final = 40
_METADATA_VALUE_MAX: Final = 500
_HS_DIGITS_MAX: Final = 12
_HS_TEXT_MAX: Final = 64

_NUMBER: Final[Codes] = frozenset({"parameter_invalid_integer"})

# Patterns of the schemas. Up to 12 digits with separators between them.
_HS_PATTERN: Final = "^[. -]*([0-9][. -]*){0,12}$"
# What every string can be refused for.
_STRING: Final[Codes] = WRONG_TYPE | {"parameter_invalid_value"}
_NO_NUL: Final = r"^[^\u0000]*$"

_INTEGER: Final = re.compile(r"-?[0-9]{1,4000}")  # Python refuses to read longer ones
_HS_CODE: Final = re.compile(r"[0-9. -]*")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(T[0-9]{2}:[0-9]{2}:[0-9]{2}(?P<part>\.[0-9]{1,9})?(Z|[+ ]00:00))?"
)
_SHARE: Final = re.compile(r"[01]|[01]?\.[0-9]{1,6}")
_UNIX: Final = re.compile(r"[0-9]{1,10}")
_NEVER_IN_URLS: Final = frozenset(' "<>\\^`{|}')
_URL: Final = "^[Hh][Tt][Tt][Pp][Ss]?://"


@dataclass(frozen=True, slots=True)
class Text(ParameterKind):
    """A string of at most `most` characters."""

    refused_with: ClassVar[Codes] = _STRING | {"parameter_too_long"}
    most: int = 500

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        text = check_string(value, name)
        if len(text) > self.most:
            raise problems.too_long(name, f"{self.most} characters")
        return text

    def schema(self, empty: Schema) -> Schema:
        return {"type": "string", "minLength": 1, "maxLength": self.most, "pattern": _NO_NUL}


@dataclass(frozen=True, slots=True)
class Shaped(ParameterKind):
    """A string of a fixed shape; `what` describes it to people."""

    refused_with: ClassVar[Codes] = _STRING
    shape: re.Pattern[str]
    what: str

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        text = check_string(value, name)
        if not self.shape.fullmatch(text):
            raise problems.build_invalid(
                "parameter_invalid_value", name, f"{name} must be {self.what}."
            )
        return text

    def schema(self, empty: Schema) -> Schema:
        return {"type": "string", "description": self.what, "pattern": f"^({self.shape.pattern})$"}


@dataclass(frozen=True, slots=True)
class Choice(ParameterKind):
    """One of a few words."""

    refused_with: ClassVar[Codes] = _STRING
    words: tuple[str, ...]

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        if check_string(value, name) not in self.words:
            raise problems.not_allowed_value(name, self.words)
        return str(value)

    def schema(self, empty: Schema) -> Schema:
        return words(self.words)


@dataclass(frozen=True, slots=True)
class Integer(ParameterKind):
    """A whole number in a plain range."""

    refused_with: ClassVar[Codes] = _NUMBER
    low: int
    high: int

    def coerce(self, value: Any) -> Any:
        return _coerce_integer(value)

    def check(self, value: Any, name: str, settings: SandboxSettings) -> int:
        if not _is_integer(value) or not self.low <= value <= self.high:
            raise problems.not_integer(name, self.low, self.high)
        return int(value)

    def schema(self, empty: Schema) -> Schema:
        return integer(self.low, self.high)


@dataclass(frozen=True, slots=True)
class Share(ParameterKind):
    """A part of the whole, from 0 to 1."""

    refused_with: ClassVar[Codes] = _STRING

    def coerce(self, value: Any) -> Any:
        return float(value) if isinstance(value, str) and _SHARE.fullmatch(value) else value

    def check(self, value: Any, name: str, settings: SandboxSettings) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= 1:
            message = f"{name} must be a number from 0 to 1, such as 0.1."
            raise problems.build_invalid("parameter_invalid_value", name, message)
        return float(value)

    def schema(self, empty: Schema) -> Schema:
        return {"type": "number", "minimum": 0, "maximum": 1}


@dataclass(frozen=True, slots=True)
class Amount(ParameterKind):
    """An amount in minor units."""

    refused_with: ClassVar[Codes] = _NUMBER | {"amount_too_small", "amount_too_large"}
    low: int

    def coerce(self, value: Any) -> Any:
        return _coerce_integer(value)

    def check(self, value: Any, name: str, settings: SandboxSettings) -> int:
        if not _is_integer(value):
            raise problems.not_integer(name, self.low, AMOUNT_MAX)
        if value < self.low:
            raise problems.build_invalid(
                "amount_too_small", name, f"{name} must be at least {self.low}."
            )
        if value > AMOUNT_MAX:
            raise amount_too_large(name, AMOUNT_MAX)
        return int(value)

    def schema(self, empty: Schema) -> Schema:
        return integer(self.low)


@dataclass(frozen=True, slots=True)
class Boolean(ParameterKind):
    """`true` or `false`, and nothing that looks like them."""

    refused_with: ClassVar[Codes] = frozenset({"parameter_invalid_boolean"})

    def coerce(self, value: Any) -> Any:
        return value == "true" if value in ("true", "false") else value

    def check(self, value: Any, name: str, settings: SandboxSettings) -> bool:
        if not isinstance(value, bool):
            message = f"{name} must be true or false."
            raise problems.build_invalid("parameter_invalid_boolean", name, message)
        return value

    def schema(self, empty: Schema) -> Schema:
        return BOOLEAN


@dataclass(frozen=True, slots=True)
class Timestamp(ParameterKind):
    """A moment in UTC, in any spelling of it that programs print, or a date: its first second.

    A part of a second is cut, or with `up` leads to the next second.
    """

    refused_with: ClassVar[Codes] = _STRING | {"parameter_invalid_timestamp"}
    up: bool = False

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        given = check_string(value, name)
        try:
            return clock.text(_moment(given, up=self.up))
        except (ValueError, OverflowError):
            message = (
                f"{name} must be a UTC timestamp such as 2026-10-01T09:00:00Z{_seconds(given)}."
            )
            raise problems.build_invalid("parameter_invalid_timestamp", name, message) from None

    def schema(self, empty: Schema) -> Schema:
        return either(TIMESTAMP, {"type": "string", "format": "date"})


@dataclass(frozen=True, slots=True)
class Currency(ParameterKind):
    """An ISO 4217 code in upper case that the sandbox has a rate for."""

    refused_with: ClassVar[Codes] = _STRING | {"currency_invalid", "currency_unsupported"}

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        code = check_string(value, name)
        if not _CURRENCY.fullmatch(code) or code not in CURRENCIES:
            message = f"{name} must be an ISO 4217 code in upper case, such as EUR."
            raise problems.build_invalid("currency_invalid", name, message)
        if not fx.is_supported(code):
            raise problems.build_invalid("currency_unsupported", name, f"{code} is not supported.")
        return code

    def schema(self, empty: Schema) -> Schema:
        return CURRENCY


@dataclass(frozen=True, slots=True)
class Country(ParameterKind):
    """An ISO 3166-1 alpha-2 code in upper case; `also` holds further codes that are taken."""

    refused_with: ClassVar[Codes] = _STRING | {"country_code_invalid"}
    also: tuple[str, ...] = ()

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        code = check_string(value, name)
        if code not in COUNTRIES and code not in self.also:
            message = f"{name} must be an ISO 3166-1 code of two upper-case letters, such as DE."
            raise problems.build_invalid("country_code_invalid", name, message)
        return code

    def schema(self, empty: Schema) -> Schema:
        return either(COUNTRY, words(self.also)) if self.also else COUNTRY


@dataclass(frozen=True, slots=True)
class HsCode(ParameterKind):
    """A tariff code; it may be incomplete."""

    refused_with: ClassVar[Codes] = _STRING | {"hs_code_invalid"}

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        code = check_string(value, name)
        digits = sum(map(str.isdigit, code))
        too_long = digits > _HS_DIGITS_MAX or len(code) > _HS_TEXT_MAX
        if too_long or not _HS_CODE.fullmatch(code):
            message = (
                f"{name} must have at most 12 digits; dots, spaces and hyphens may separate them."
            )
            raise problems.build_invalid("hs_code_invalid", name, message)
        return code

    def schema(self, empty: Schema) -> Schema:
        return {"type": "string", "minLength": 1, "maxLength": _HS_TEXT_MAX, "pattern": _HS_PATTERN}


@dataclass(frozen=True, slots=True)
class EventType(ParameterKind):
    """The name of an event type; `*` is none (assumptions: Webhook endpoint)."""

    refused_with: ClassVar[Codes] = _STRING | {"event_type_unknown"}

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        if check_string(value, name) not in EVENT_TYPES:
            message = f"{name}: there is no event type {value}."
            raise problems.build_invalid("event_type_unknown", name, message)
        return str(value)

    def schema(self, empty: Schema) -> Schema:
        return words(EVENT_TYPES)


def _moment(given: str, *, up: bool) -> datetime:
    """Reads a spelling; a space before the offset is a plus that a query was given as it is."""
    shown = _TIME.fullmatch(given)
    if shown is None:
        raise ValueError(given)
    part = up and (shown["part"] or "").strip(".0") != ""
    moment = datetime.fromisoformat(given.replace(" ", "+"))
    return moment.replace(tzinfo=UTC, microsecond=0) + timedelta(seconds=part)


def _seconds(given: str) -> str:
    """How what looks like seconds since 1970 is written, for the message."""
    if not _UNIX.fullmatch(given):
        return ""
    return f", not seconds since 1970: {given} is {clock.text_of(int(given) * clock.SECOND)}"


@dataclass(frozen=True, slots=True)
class Url(ParameterKind):
    """The address of a webhook receiver: https, or http to this machine where that is allowed."""

    refused_with: ClassVar[Codes] = _STRING | {"url_invalid"}
    most: int

    def check(self, value: Any, name: str, settings: SandboxSettings) -> str:
        url = check_string(value, name)
        allow_http = bool(settings["allow_http_webhooks"])
        if len(url) > self.most or not _is_receiver(url, allow_http=allow_http):
            http = " or http://localhost" if allow_http else ""
            wanted = f"an https:// address{http}, without a user name, up to {self.most} characters"
            raise problems.build_invalid("url_invalid", name, f"{name} must be {wanted}.")
        return url

    def schema(self, empty: Schema) -> Schema:
        return {"type": "string", "format": "uri", "maxLength": self.most, "pattern": _URL}


def _is_receiver(url: str, *, allow_http: bool) -> bool:
    if not url.isascii() or not url.isprintable():
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


@dataclass(frozen=True, slots=True)
class Metadata(ParameterKind):
    """The caller's own keys and strings; an empty string stands for a key to delete."""

    refused_with: ClassVar[Codes] = _STRING | {"parameter_too_long", "parameter_invalid_empty"}

    def check(self, value: Any, name: str, settings: SandboxSettings) -> dict[str, str]:
        if not isinstance(value, dict):
            raise problems.build_wrong_type(name, "an object")
        clean = {key: self._entry(key, text, f"{name}[{key}]") for key, text in value.items()}
        _refuse_many_keys(clean, name)
        return clean

    def _entry(self, key: str, value: Any, name: str) -> str:
        if not check_string(key, name):
            raise problems.build_empty(name)
        if len(key) > _METADATA_KEY_MAX:
            raise problems.too_long(name, f"{_METADATA_KEY_MAX} characters in its key")
        text = "" if value is None else check_string(value, name)
        if len(text) > _METADATA_VALUE_MAX:
            raise problems.too_long(name, f"{_METADATA_VALUE_MAX} characters")
        return text

    def schema(self, empty: Schema) -> Schema:
        in_form = empty == BLANK
        names = r"^[^\[\]\u0000]*$" if in_form else _NO_NUL
        return {
            "description": "metadata may have at most 50 keys; an empty value deletes its key.",
            "type": "object",
            "propertyNames": {"minLength": 1, "maxLength": _METADATA_KEY_MAX, "pattern": names},
            "additionalProperties": {
                "type": "string" if in_form else ["string", "null"],
                "maxLength": _METADATA_VALUE_MAX,
                "pattern": _NO_NUL,
            },
        }


def merge_metadata(present: dict[str, str], changes: dict[str, str] | None) -> dict[str, str]:
    """Merges key by key, an empty value deletes one, None all; raises Problem: over 50 are left."""
    if changes is None:
        return {}
    result = {key: text for key, text in {**present, **changes}.items() if text}
    _refuse_many_keys(result)
    return result


def _refuse_many_keys(metadata: dict[str, str], name: str = "metadata") -> None:
    if sum(1 for text in metadata.values() if text) > _METADATA_KEYS_MAX:
        raise problems.too_long(name, f"{_METADATA_KEYS_MAX} keys")


def amount_too_large(param: str, limit: int) -> problems.Problem:
    return problems.build_invalid("amount_too_large", param, f"{param} must be at most {limit}.")


def check_string(value: Any, name: str) -> str:
    """The value, if it is a string that can be stored; raises Problem naming `name` if not."""
    if not isinstance(value, str):
        raise problems.build_wrong_type(name, "a string")
    if "\0" in value:
        raise problems.build_invalid(
            "parameter_invalid_value", name, f"{name} must not contain a NUL character."
        )
    return value


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _coerce_integer(value: Any) -> Any:
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return int(value)
    return value
