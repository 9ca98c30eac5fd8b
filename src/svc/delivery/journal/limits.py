"""Compares the money limits of the configuration with the requests of the journal.

A limit applies to a group of requests, such as refunds, of a profile or its API key, in one mode
and at one address. Requests that count: unresolved ones; those that were carried out, from when
that is known until the period of the limit is over; and deleted ones. Refused, unsent and failed
requests do not count. A request counts once, from the transaction that records it: parallel
processes see each other's requests.

Ages are measured by the machine's uptime, which a change of the clock does not affect. After a
restart they are measured by the clock; a time in the future counts, so that setting the clock back
does not free a limit.

`transaction` checks each new POST with a `LimitBook` while it records it; `svc batch` checks all of
its rows before, and `svc whoami` shows what is left.
"""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, inf
from typing import Final, NamedTuple

from svc.client.operations import action_at
from svc.clock import utc
from svc.config.limits import MoneyLimit
from svc.delivery.journal.entry import AMOUNT_MAX, OBJECT_FAILED, Charge, Intent, Scope, Stored
from svc.delivery.likeness import UnreadableBody, fields_of, place_of
from svc.errors import UsageError
from svc.money import format_amount
from svc.state import Row
from svc.system.uptime import Uptime

ReadRows = Callable[[str, Sequence[object]], list[Row]]

_OPEN = "state IN ('open', 'unknown')"
_AGE = "WHEN boot = ? THEN ? - uptime ELSE ?"
_WHOSE = "kind = ? AND mode = ? AND (profile = ? OR key_hint = ?)"
# Unresolved ones have no age.
_COUNTED = f"""
SELECT id, amount, currency, base_url, path, encoding, body,
  CASE WHEN {_OPEN} THEN NULL {_AGE} - settled_at END AS age
FROM requests WHERE {_WHOSE} AND ({_OPEN} OR state = 'done'
  AND coalesce(error_code, '') != '{OBJECT_FAILED}' AND coalesce(object_status, '') != 'failed')
UNION ALL
SELECT idempotency_key, amount, currency, base_url, path, 'json', x'',
  CASE {_AGE} - forgotten_at END
FROM forgotten WHERE {_WHOSE}"""  # noqa: S608
_WITHIN = f"FROM ({_COUNTED}) WHERE (age IS NULL OR age < ?)"
_CLEAR = "amount IS NOT NULL AND currency = ?"
_SUMS = f"SELECT base_url, sum(amount) AS amount {_WITHIN} AND {_CLEAR} GROUP BY base_url"
_AGES = f"SELECT base_url, amount, age {_WITHIN} AND {_CLEAR} AND age IS NOT NULL ORDER BY age DESC"
_UNCLEAR = f"SELECT * {_WITHIN} AND (amount IS NULL OR currency IS NULL)"


class LimitReachedError(UsageError):
    """A request exceeds what a limit leaves; nothing was sent."""


class LimitRules(NamedTuple):
    """The functions that return the limits of a scope and group, and the machine's uptime."""

    limits_for: Callable[[Scope, str], Sequence[MoneyLimit]] = lambda *_: ()
    uptime: Callable[[], Uptime | None] = lambda: None


NO_LIMITS: Final = LimitRules()


class Usage(NamedTuple):
    """The use of a limit, in minor units; `unclear` is the id of a request of unknown amount."""

    limit: MoneyLimit
    used: int
    unclear: str | None = None

    @property
    def left(self) -> int:
        """The amount that may still be moved."""
        return 0 if self.unclear is not None else max(0, self.limit.amount - self.used)


def group_of(path: str) -> str:
    """The group of `facts.LIMIT_GROUPS` to which a POST to a path belongs; empty for none."""
    known = action_at(path)
    return known[1].limit if known is not None else ""


def read_stated_charge(kept: Stored) -> Charge:
    """Reads the amount and currency from the bytes of a request; each None if it is not known.

    An invalid amount, such as one below 0, counts as unknown. So does an amount in a request whose
    operation takes none, such as accepting a dispute.
    """
    try:
        fields = fields_of(kept.encoding, kept.body)
    except UnreadableBody:
        return Charge()
    amount = fields.get("amount") if takes_amount(kept.path) else None
    currency = fields.get("currency")
    if isinstance(amount, str) and amount.isascii() and amount.isdigit():
        amount = int(amount)  # a form says it as text
    known = action_at(kept.path)
    is_own = known is not None and not known[1].money_of
    return Charge(check_amount(amount), currency if is_own and isinstance(currency, str) else None)


def takes_amount(path: str) -> bool:
    """Whether a POST to a path takes an amount; else it moves the whole amount."""
    known = action_at(path)
    return known is not None and any(
        field.name == "amount" for field in known[0].list_given(known[1].verb)
    )


def check_amount(value: object) -> int | None:
    """Returns a value that is a valid number of minor units, or None."""
    plain = isinstance(value, int) and not isinstance(value, bool)
    return value if plain and isinstance(value, int) and 0 <= value < AMOUNT_MAX else None


class LimitBook(NamedTuple):
    """The limits and their use; `rows` reads the journal, within a transaction or without."""

    rows: ReadRows
    rules: LimitRules
    now: float

    def refuse_beyond(self, added: Iterable[Intent]) -> None:
        """Refuses new requests, which this transaction has recorded already.

        Raises:
            LimitReachedError: they exceed what a limit leaves, or their amount is not known.
        """
        found: dict[tuple[Scope, str], list[Charge]] = {}
        for one in added:
            if group := group_of(one.stored.path):
                charge = Charge(one.amount, one.currency)
                found.setdefault((one.scope, group), []).append(charge)
        for (scope, group), charges in found.items():
            self.check(scope, group, charges, are_recorded=True)

    def check(
        self, scope: Scope, group: str, charges: Sequence[Charge], *, are_recorded: bool = False
    ) -> None:
        """Refuses charges that exceed a limit of a group; raises as `refuse_beyond`."""
        limits = self.rules.limits_for(scope, group)
        if not limits:
            return
        named = {limit.currency for limit in limits}
        sums = dict.fromkeys(named, 0)
        for amount, currency in charges:
            if amount is None or currency is None:
                raise _make_refusal(scope, group, _NO_CHARGE, _NO_CHARGE_HINT)
            if currency not in sums:
                names, other = " and ".join(sorted(named)), format_amount(amount, currency)
                why = f"it names {names} alone, and this is {other}"
                raise _make_refusal(scope, group, why)
            sums[currency] += amount
        asked = {one.currency for one in charges}
        found = [
            self._refusal(scope, group, limit, sums[limit.currency], are_recorded=are_recorded)
            for limit in limits
            if limit.currency in asked
        ]
        errors = [error for error in found if error is not None]
        if errors:  # the one that lasts longest
            raise max(errors, key=lambda error: error.retry_after or inf)

    def usages(self, scope: Scope, group: str) -> list[Usage]:
        """The use of each limit of a group."""
        limits = self.rules.limits_for(scope, group)
        return [self._usage(scope, group, limit) for limit in limits]

    def wait_for(self, scope: Scope, group: str, usage: Usage, wanted: int) -> int | None:
        """Whole seconds until an amount may be moved; None if waiting does not free enough."""
        limit, beyond = usage.limit, usage.used + wanted - usage.limit.amount
        for row in self._read(_AGES, scope, group, limit, limit.currency):
            beyond -= row["amount"]
            if beyond <= 0:
                age: float = row["age"]
                return max(1, ceil(limit.seconds - age))
        return None

    def _refusal(
        self, scope: Scope, group: str, limit: MoneyLimit, wanted: int, *, are_recorded: bool
    ) -> LimitReachedError | None:
        usage = self._usage(scope, group, limit)
        if usage.unclear is not None:
            why = f"what the request {usage.unclear} has moved is not known"
            return _make_refusal(scope, group, why, f"svc requests show {usage.unclear}", limit)
        if are_recorded:
            usage = usage._replace(used=usage.used - wanted)
        if usage.used + wanted <= limit.amount:
            return None
        left, asked = (format_amount(one, limit.currency) for one in (usage.left, wanted))
        why, hint, seconds = f"{left} is left, and this is {asked}", "", None
        if wanted <= limit.amount:
            seconds = self.wait_for(scope, group, usage, wanted)
            hint = f"Send it again after {utc(self.now + seconds)}" if seconds else _SETTLE
        else:
            why += ", more than the limit itself"
        error = _make_refusal(scope, group, why, hint, limit)
        error.retry_after = seconds
        return error

    def _usage(self, scope: Scope, group: str, limit: MoneyLimit) -> Usage:
        used = sum(row["amount"] for row in self._read(_SUMS, scope, group, limit, limit.currency))
        for row in self._read(_UNCLEAR, scope, group, limit):
            # As the row has it, or as its bytes say, where an older version has recorded it.
            kept = Stored(row["path"], row["encoding"], row["body"], "", None)
            said = read_stated_charge(kept)
            amount = row["amount"] if row["amount"] is not None else said.amount
            if (row["currency"] or said.currency or limit.currency) != limit.currency:
                continue
            if amount is None:
                return Usage(limit, used, row["id"])
            used += amount
        return Usage(limit, used)

    def _read(
        self, sql: str, scope: Scope, group: str, limit: MoneyLimit, *more: object
    ) -> list[Row]:
        uptime = self.rules.uptime() or Uptime("", 0.0)
        whose = (group, scope.mode, scope.profile, scope.key_fingerprint)
        params = (*uptime, self.now, *whose) * 2
        here = place_of(scope.base_url)
        found = self.rows(sql, (*params, limit.seconds, *more))
        return [row for row in found if place_of(row["base_url"]) == here]


_NO_CHARGE: Final = "what this moves, and in which currency, cannot be told"
_NO_CHARGE_HINT: Final = "Give --amount, and use a key that may read what it is about"
_PERSON: Final = "a person at a terminal may add --over-limit"
_SETTLE: Final = "Settle what is unresolved: svc requests list --unresolved"


def _make_refusal(
    scope: Scope, group: str, why: str, hint: str = "", limit: MoneyLimit | None = None
) -> LimitReachedError:
    name = f"The limit of {group}{f', {limit},' if limit else ''}"
    return LimitReachedError(
        f"{name} is reached for profile {scope.profile}, {scope.mode} mode: {why}. Nothing was "
        "sent.",
        code="limit_reached",
        param=f"limits.{group}",
        hint=f"{hint}; {_PERSON}" if hint else f"{_PERSON[0].upper()}{_PERSON[1:]}",
    )
