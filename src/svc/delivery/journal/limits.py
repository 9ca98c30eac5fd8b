"""What may still be moved: the limits of a configuration against the requests of the journal.

What counts of a group such as refunds, for a profile or its API key, in a mode and at an address:
whatever is unresolved, as long as it is; what was carried out, for the time of the limit from when
that was known, which is never before it was done; and what was forgotten. What was refused, not
sent or has failed does not. A request counts from the transaction that records it, so that any
number of processes see each other, and once, however often its key is sent.

Ages are of the machine's uptime where it has not started since, which no setting of its clock
moves; else of its clock, and what seems to lie ahead counts: a clock that was put back frees
nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, inf
from typing import Final, NamedTuple

from svc import service
from svc.client.operations import operation_at
from svc.clock import utc
from svc.config.limits import MoneyLimit
from svc.delivery.journal.entry import AMOUNT_MAX, OBJECT_FAILED, Charge, Intent
from svc.delivery.journal.stored import Scope, Stored
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
    """More than a limit leaves; nothing was sent."""


class LimitRules(NamedTuple):
    """Gives the limits of a scope and group, and how long the machine runs."""

    limits_for: Callable[[Scope, str], Sequence[MoneyLimit]] = lambda *_: ()
    uptime: Callable[[], Uptime | None] = lambda: None


NO_LIMITS: Final = LimitRules()


class Usage(NamedTuple):
    """How far a limit is used, in minor units; `unclear` names a request of unknown amount."""

    limit: MoneyLimit
    used: int
    unclear: str | None = None

    @property
    def left(self) -> int:
        """What may still be moved now."""
        return 0 if self.unclear is not None else max(0, self.limit.amount - self.used)


def group_of(path: str) -> str:
    """The group of `facts.LIMIT_GROUPS` that a POST to a path counts in; empty for none."""
    known = operation_at(path)
    found = service.operation(known[0]) if known is not None else None
    return found[1].limit if found is not None else ""


def charge_said(kept: Stored) -> Charge:
    """What a request moves by its own bytes; a currency alone where its operation takes one.

    An amount that is none, such as one below 0, is not known. Nor is one that a request names
    where its operation takes none, as if it had been said how much accepting a dispute loses.
    """
    try:
        fields = fields_of(kept.encoding, kept.body)
    except UnreadableBody:
        return Charge()
    amount = fields.get("amount") if takes_amount(kept.path) else None
    currency = fields.get("currency")
    if isinstance(amount, str) and amount.isascii() and amount.isdigit():
        amount = int(amount)  # a form says it as text
    known = operation_at(kept.path)
    found = service.operation(known[0]) if known is not None else None
    is_own = found is not None and not found[1].money_of
    return Charge(check_amount(amount), currency if is_own and isinstance(currency, str) else None)


def takes_amount(path: str) -> bool:
    """Whether a POST to a path may say how much it moves; else it moves the whole."""
    known = operation_at(path)
    found = service.operation(known[0]) if known is not None else None
    return found is not None and any(
        field.name == "amount" for field in found[0].list_given(found[1].verb)
    )


def check_amount(value: object) -> int | None:
    """A whole number of minor units that can be added up; None for anything else."""
    plain = isinstance(value, int) and not isinstance(value, bool)
    return value if plain and isinstance(value, int) and 0 <= value < AMOUNT_MAX else None


class LimitBook(NamedTuple):
    """The limits at one moment: `rows` reads the journal, inside a transaction or outside."""

    rows: ReadRows
    rules: LimitRules
    now: float

    def refuse_beyond(self, added: Iterable[Intent]) -> None:
        """Refuses requests that count from now on, and are on record already in this transaction.

        Raises:
            LimitReachedError: they are more than a limit leaves, or what they move is not known.
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
        """Refuses what is more than the limits of a group leave; raises as `refuse_beyond`."""
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
        """How far each limit of a group is used."""
        limits = self.rules.limits_for(scope, group)
        return [self._usage(scope, group, limit) for limit in limits]

    def wait_for(self, scope: Scope, group: str, usage: Usage, wanted: int) -> int | None:
        """Whole seconds until so much may be moved; None where time alone does not bring it."""
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
            said = charge_said(kept)
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
