"""The settings of the sandbox: names, defaults and checks, and the rows that keep them.

`svc sandbox settings` reads and changes them by `control`; `api` and the nouns read those in force.
"""

import json
from collections import ChainMap
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from svc.sandbox.parameters.kinds import Boolean, Choice, Country, Currency, Integer, Share
from svc.sandbox.parameters.problems import Problem
from svc.sandbox.parameters.tables import Fields, Object, Parameter, ParameterKind, refuse_unknown
from svc.sandbox.store.sqlite import Store
from svc.service.facts import VERSIONS

VOUCHER_DAYS_MAX: Final = 30
FEE_BPS_MAX: Final = 1000  # basis points

# Name, default, what it may be set to. `allow_remote_webhooks` is the way out of promise R89.
_TABLE: Final[tuple[tuple[str, Any, ParameterKind], ...]] = (
    ("smart_retries", False, Boolean()),
    ("settlement_currency", "USD", Currency()),
    ("country", "US", Country()),
    ("collect_landed_cost", True, Boolean()),
    ("pinned_version", None, Choice(VERSIONS)),
    ("unknown_parameters", "reject", Choice(("reject", "ignore"))),
    ("error_envelope", "flat", Choice(("flat", "nested"))),
    ("insecure_http", "allow", Choice(("allow", "reject"))),
    ("allow_http_webhooks", True, Boolean()),
    ("allow_remote_webhooks", False, Boolean()),
    ("allow_self_signed_webhooks", False, Boolean()),
    ("rate_limit", "off", Choice(("off", "on"))),
    ("signature_time", "wall", Choice(("wall", "virtual"))),
    ("webhook_delivery", "auto", Choice(("auto", "manual"))),
    ("encodings", "all", Choice(("all", "documented"))),
    ("require_idempotency_key", False, Boolean()),
    ("chaos", 0, Share()),
    ("voucher_days", 0, Integer(0, VOUCHER_DAYS_MAX)),
    ("payment_fee_bps", 0, Integer(0, FEE_BPS_MAX)),
    ("negative_balance", "allow", Choice(("allow", "refuse"))),
)
DEFAULTS: Final[Mapping[str, Any]] = MappingProxyType({name: value for name, value, _ in _TABLE})
FIELDS: Final[Fields] = tuple(Parameter(name, kind, clearable=False) for name, _, kind in _TABLE)
META: Final = "settings"
META_OF: Final = "settings_of"  # of one key or one order, by its id
# What one key or one order can have for itself; the others are asked for before either is known.
OF_ONE: Final = frozenset(
    "smart_retries settlement_currency country collect_landed_cost unknown_parameters "
    "error_envelope rate_limit encodings require_idempotency_key chaos voucher_days "
    "payment_fee_bps negative_balance".split()
)


def check_stored(name: str, value: Mapping[str, Any]) -> None:
    """Checks settings from a file; `name` is the name of their row, `META` or `META_OF`.

    Raises:
        ValueError: an unknown name, or an invalid value.
    """
    try:
        for changed in value.values() if name == META_OF else [value]:
            Object(FIELDS).check(changed, name, DEFAULTS)
            refuse_unknown(FIELDS, dict(changed))
    except Problem as problem:
        raise ValueError(problem.message) from problem


class StoredSettings:
    """The settings in force: the defaults, the stored ones, and those of single keys and orders."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._current: Mapping[str, Any] | None = None
        self._of_one: dict[str, dict[str, Any]] = {}

    @property
    def current(self) -> Mapping[str, Any]:
        if self._current is None:
            changed = json.loads(self._store.meta(META) or "{}")
            self._of_one = json.loads(self._store.meta(META_OF) or "{}")
            self._current = MappingProxyType({**DEFAULTS, **changed})
        return self._current

    def of(self, *whose: str) -> Mapping[str, Any]:
        """Returns the settings for keys and orders by id; a later id overrides an earlier one."""
        current = self.current
        own = [self._of_one[one] for one in whose if one in self._of_one] if self._of_one else ()
        return ChainMap(*reversed(own), dict(current)) if own else current

    @property
    def has_own(self) -> bool:
        """Whether any key or order has settings of its own."""
        return bool(self.current and self._of_one)

    def is_set(self, name: str) -> bool:
        """Whether a setting that is off by default is on for all, or for any key or order."""
        return bool(self.current[name]) or any(own.get(name) for own in self._of_one.values())

    def update(self, changes: Mapping[str, Any], whose: str | None = None) -> None:
        """Stores checked settings, inside the open transaction; KeyError for an unknown one."""
        merged = {**self.current, **changes}
        if whose is not None:
            self._of_one[whose] = {**self._of_one.get(whose, {}), **changes}
            self._store.set_meta(META_OF, json.dumps(self._of_one))
            return
        changed = {name: value for name, value in merged.items() if value != DEFAULTS[name]}
        self._store.set_meta(META, json.dumps(changed))
        self._current = MappingProxyType(merged)

    def forget(self) -> None:
        """Discards the cached settings after a rollback; the next use reads them again."""
        self._current = None
