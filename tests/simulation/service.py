"""The service, written anew from its documentation: accounts, keys, idempotency, effects.

It shares no code with the sandbox. What it has carried out is the truth that a history is judged
by; nothing of it is ever taken back.
"""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import parse_qsl

RETENTION_SECONDS: Final = 24 * 3600.0
_REFUSED: Final = "pay_refused"

Frozen: TypeAlias = Any
Identity: TypeAlias = tuple[str, Frozen]


class Effect(NamedTuple):
    """Something that was carried out; `what` is the path and the parsed body."""

    account: str
    key: str
    what: Identity
    id: str
    at: float


class ServiceAnswer(NamedTuple):
    """An answer of the service, before any wire has touched it."""

    status: int
    document: dict[str, Any]
    replayed: bool = False


@dataclass(slots=True)
class _KeptAnswer:
    what: Identity
    answer: ServiceAnswer
    at: float


@dataclass(slots=True)
class Service:
    """Carries requests out.

    Attributes:
        keys: the account of every API key, and until when the key is good.
        closed: orders that were cancelled or captured, by account.
        tells_money: whether payments and orders that were there before can be retrieved.
    """

    keys: dict[str, tuple[str, float]]
    effects: list[Effect] = field(default_factory=list)
    by_key: dict[str, list[Effect]] = field(default_factory=dict)
    objects: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    closed: set[tuple[str, str]] = field(default_factory=set)
    tells_money: bool = False
    _kept: dict[tuple[str, str], _KeptAnswer] = field(default_factory=dict)

    def handle(
        self, method: str, path: str, headers: dict[str, str], body: bytes, now: float
    ) -> ServiceAnswer:
        """Answers one request at a moment of true time."""
        account = self.account_of(headers.get("Authorization", ""), now)
        if account is None:
            return _error(401, "authentication_error", "api_key_invalid")
        if not path.startswith("/v1/"):
            return _error(404, "invalid_request_error", "endpoint_unknown")
        if method == "GET":
            return self._get(account, path)
        what = identity(path, body, headers.get("Content-Type", ""))
        key = headers["Idempotency-Key"]
        kept = self._kept.get((account, key))
        if kept is not None and now - kept.at < RETENTION_SECONDS:
            if kept.what != what:
                return _error(400, "idempotency_error", "idempotency_key_reused")
            return kept.answer._replace(replayed=True)
        return self._carry_out(account, key, what, now)

    def account_of(self, authorization: str, now: float) -> str | None:
        account, until = self.keys.get(authorization.removeprefix("Bearer "), ("", 0.0))
        return account if account and now < until else None

    def _get(self, account: str, path: str) -> ServiceAnswer:
        found = self.objects.get((account, path.rpartition("/")[2]))
        _, _, word, *rest = path.split("/")
        if found is None and self.tells_money and account == "A" and word in _OLD:
            found = {**_OLD[word], "id": rest[-1]}
        return (
            ServiceAnswer(200, found)
            if found
            else _error(404, "invalid_request_error", "resource_missing")
        )

    def _carry_out(self, account: str, key: str, what: Identity, now: float) -> ServiceAnswer:
        path, fields = what[0], dict(what[1])
        made = self._made(account, path, fields)
        if isinstance(made, ServiceAnswer):
            return made
        answer = ServiceAnswer(200, made)
        effect = Effect(account, key, what, made["id"], now)
        self.effects.append(effect)
        self.by_key.setdefault(key, []).append(effect)
        self.objects[account, made["id"]] = made
        self._kept[account, key] = _KeptAnswer(what, answer, now)
        return answer

    def _made(
        self, account: str, path: str, fields: dict[str, Any]
    ) -> "dict[str, Any] | ServiceAnswer":
        plain = {name: thawed(value) for name, value in fields.items()}
        parts = path.split("/")[2:]
        if account != "A" and ("payment" in plain or len(parts) > 1):
            # Orders and payments that were there before are the first account's.
            return _error(404, "invalid_request_error", "resource_missing")
        number = f"{len(self.effects):06d}{account}"
        match parts:
            case ["orders", order, verb]:
                return self._closed(account, order, verb, plain)
            case ["refunds"] if str(plain.get("payment")).startswith(_REFUSED):
                return _error(400, "invalid_request_error", "payment_not_refundable")
            case ["refunds"]:
                return {
                    "id": f"rf_{number}",
                    "object": "refund",
                    "currency": "EUR",
                    **plain,
                    **_LIFE,
                }
            case ["payouts"]:
                destination = dict(plain["destination"])
                destination["last4"] = destination.pop("iban")[-4:]
                shown = {**plain, "destination": destination}
                return {"id": f"po_{number}", "object": "payout", **shown, **_LIFE}
            case ["orders"]:
                return {"id": f"ord_{number}", "object": "order", **plain, **_LIFE}
        return _error(404, "invalid_request_error", "endpoint_unknown")

    def _closed(
        self, account: str, order: str, verb: str, plain: dict[str, Any]
    ) -> "dict[str, Any] | ServiceAnswer":
        if (account, order) in self.closed:
            return _error(400, "invalid_request_error", "order_unexpected_state")
        self.closed.add((account, order))
        if verb == "cancel":
            return {"id": order, "object": "order", "status": "cancelled", "livemode": False}
        return {
            "id": f"pay_{order[4:]}",
            "object": "payment",
            "order": order,
            "amount": 1000,
            "amount_captured": plain.get("amount", 1000),
            "currency": "EUR",
            **_LIFE,
        }


_LIFE: Final = {"status": "pending", "livemode": False}


# What was there before, by the word in its path.
_OLD: Final[dict[str, dict[str, Any]]] = {
    "payments": {"object": "payment", "amount_captured": 9000, "currency": "EUR"},
    "orders": {"object": "order", "amount_total": 1000, "currency": "EUR"},
}


@lru_cache(1000)
def identity(path: str, body: bytes, content_type: str) -> Identity:
    """What a request says, whatever its spelling: the path and the parsed fields."""
    if "form" in content_type:
        return path, frozen(_of_form(body.decode()))
    document = json.loads(body or b"{}", parse_float=Decimal, parse_int=Decimal)
    return path, frozen(document)


def frozen(value: Any) -> Frozen:
    """A value that can be compared and kept in a set; numbers by their value, forms alike."""
    if isinstance(value, dict) and value and all(map(str.isdigit, value)):
        value = list(value.values())  # a form has a list's places for names
    if isinstance(value, dict):
        return tuple(sorted((name, frozen(inner)) for name, inner in value.items()))
    if isinstance(value, list):
        return ("[]", *map(frozen, value))
    return str(value)


def thawed(value: Frozen) -> Any:
    """A frozen value as the answer has it: objects again, amounts as numbers."""
    if isinstance(value, tuple) and value[:1] == ("[]",):
        return [thawed(inner) for inner in value[1:]]
    if isinstance(value, tuple):
        return {name: thawed(inner) for name, inner in value}
    return int(value) if value.isdigit() and len(value) < 12 else value


def _of_form(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        head, *inner = name.replace("]", "").split("[")
        here = found
        for part in inner:
            here = here.setdefault(head, {})
            head = part
        here[head] = value
    return found


def _error(status: int, kind: str, code: str) -> ServiceAnswer:
    return ServiceAnswer(status, {"type": kind, "code": code, "message": f"{code}."})
