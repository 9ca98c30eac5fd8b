"""Account and server settings of the sandbox (contract F.5): defaults, checks, storage."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from svc.errors import ApiError
from svc.sandbox.fx import is_supported
from svc.sandbox.store import Store
from svc.spec import COUNTRIES, VERSIONS

DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "smart_retries": False,
        "settlement_currency": "USD",
        "country": "US",
        "collect_landed_cost": True,
        "pinned_version": None,
        "unknown_parameters": "reject",
        "error_envelope": "flat",
        "insecure_http": "allow",
        "allow_http_webhooks": True,
        "allow_remote_webhooks": False,
        "rate_limit": "off",
        "signature_time": "wall",
        "webhook_delivery": "auto",
    }
)
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "pinned_version": VERSIONS,
    "unknown_parameters": ("reject", "ignore"),
    "error_envelope": ("flat", "nested"),
    "insecure_http": ("allow", "reject"),
    "rate_limit": ("off", "on"),
    "signature_time": ("wall", "virtual"),
    "webhook_delivery": ("auto", "manual"),
}
_META = "settings"


class Settings:
    """The settings in force: the defaults, changed by what is stored."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._current: Mapping[str, Any] | None = None

    @property
    def current(self) -> Mapping[str, Any]:
        if self._current is None:
            row = self._store.one("SELECT value FROM meta WHERE name = ?", _META)
            changed = json.loads(row[0]) if row else {}
            self._current = MappingProxyType({**DEFAULTS, **changed})
        return self._current

    def update(self, changes: Mapping[str, Any]) -> None:
        """Stores changed settings, inside the open transaction.

        Raises:
            ApiError: an unknown setting or a value that it cannot take (type `sandbox_error`).
        """
        for name, value in changes.items():
            check(name, value)
        merged = {**self.current, **changes}
        changed = {name: value for name, value in merged.items() if value != DEFAULTS[name]}
        self._store.write(
            "INSERT OR REPLACE INTO meta(name, value) VALUES(?, ?)", _META, json.dumps(changed)
        )
        self._current = MappingProxyType(merged)

    def forget(self) -> None:
        """Reads anew at the next use: a transaction was taken back."""
        self._current = None


def check(name: str, value: object) -> None:
    """Refuses an unknown setting, or a value that it cannot take.

    Raises:
        ApiError: type `sandbox_error`.
    """
    if name not in DEFAULTS:
        raise _refused("parameter_unknown", name, f"Unknown setting: {name}.")
    if name in _CHOICES:
        words = ", ".join(_CHOICES[name])
        _need(value in _CHOICES[name], "parameter_invalid_value", name, f"one of: {words}")
    elif isinstance(DEFAULTS[name], bool):
        _need(isinstance(value, bool), "parameter_invalid_boolean", name, "true or false")
    elif name == "country":
        good = isinstance(value, str) and value in COUNTRIES
        _need(good, "country_code_invalid", name, "an ISO 3166-1 code in upper case")
    else:
        good = isinstance(value, str) and is_supported(value)
        _need(good, "currency_unsupported", name, "a currency that the sandbox has a rate for")


def _need(good: bool, code: str, name: str, what: str) -> None:  # noqa: FBT001  reads as a sentence
    if not good:
        raise _refused(code, name, f"{name} must be {what}.")


def _refused(code: str, param: str, message: str) -> ApiError:
    return ApiError(message, type="sandbox_error", code=code, param=param, status=400)
