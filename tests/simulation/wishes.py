"""What a person wants done, and the many ways to write it down."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from simulation.service import Identity, frozen
from svc import service
from svc.cli import post
from svc.cli.framework.nouns import noun_app
from svc.cli.framework.session import Session
from svc.client.options import options_of

Command = Callable[[Session], None]
_IBANS: Final = (
    "DE89370400440532013000",
    "FR7630006000011234567890189",
    "ES9121000418450200051332",
)
_ITEM: Final = {"name": "Jacket", "hs_code": "6203.39", "quantity": 1}


class Wish(NamedTuple):
    """One request as it is meant; `target` is a payment, an IBAN or an order.

    Attributes:
        amount: minor units; 0 for none.
    """

    kind: str
    target: str
    amount: int

    @property
    def operation(self) -> str:
        return {"cancel": "orders.cancel", "capture": "orders.capture"}.get(
            self.kind, f"{self.kind}.create"
        )

    @property
    def path(self) -> str:
        if self.kind in ("cancel", "capture"):
            return f"/v1/orders/{self.target}/{self.kind}"
        return f"/v1/{self.kind}"

    @property
    def body(self) -> dict[str, Any]:
        match self.kind:
            case "refunds":
                return {"payment": self.target, "amount": self.amount}
            case "payouts":
                destination = {"country": "DE", "account_holder_name": "M", "iban": self.target}
                return {"amount": self.amount, "currency": "EUR", "destination": destination}
            case "orders":
                item = {**_ITEM, "unit_amount": self.amount}
                order = {"amount": self.amount, "currency": "EUR", "capture_method": self.target}
                return {**order, "shipping": {"country": "DE"}, "items": [item]}
        return {"amount": self.amount} if self.amount else {}

    @property
    def what(self) -> Identity:
        return self.path, frozen(self.body)


KINDS: Final = ("refunds", "refunds", "payouts", "payouts", "orders", "cancel", "capture")
LIMITED: Final = ("refunds", "payouts", "capture")


def pool(random: Random, kinds: Sequence[str] = KINDS) -> list[Wish]:
    """The few requests that a history is about, so that they meet."""
    kind = random.choice(kinds)
    targets = {
        "refunds": ("pay_X1", "pay_X2", "pay_X10", "pay_refused"),
        "payouts": _IBANS,
        "orders": ("automatic", "manual"),
    }.get(kind, ("ord_X1", "ord_X2", "ord_X10"))
    amounts = {"cancel": (0,), "capture": (random.choice((0, 700)),)}.get(kind, (500, 1200))
    every = [Wish(kind, target, amount) for target in targets for amount in amounts]
    return random.sample(every, min(len(every), random.choice((1, 2, 3, 4))))


def single(wish: Wish, random: Random, folder: Path) -> tuple[str, Command]:
    """A single command that says it, in one of many spellings; also in words."""
    form = random.random() < 0.2
    pairs = _pairs(wish.body)
    random.shuffle(pairs)
    way = random.choice(("options", "data", "post", "body"))

    def command(session: Session) -> None:
        given = session.given.write
        given.form = form
        if way == "options":
            _typed(wish)(session)
            return
        if way == "body":
            file = folder / "body.json"
            given.body = str(file)
            file.write_text(_text(wish.body, random))
        else:
            given.data = [f"{name}{mark}{value}" for name, mark, value in pairs]
        if way == "post":
            post.post(session, wish.path, over_limit=False)
        else:
            _bare(wish)(session)

    return f"{wish.operation} {wish.target} {wish.amount} by {way}{' --form' * form}", command


def table(wishes: Sequence[Wish], random: Random, kind: str) -> bytes:
    """A list of them as a file: CSV with its columns in some order, or NDJSON."""
    rows = [
        {**({"id": one.target} if one.path.startswith("/v1/orders/") else {}), **one.body}
        for one in wishes
    ]
    if kind == "ndjson":
        return "".join(f"{_text(row, random)}\n" for row in rows).encode()
    flat = [{name: str(value) for name, _, value in _pairs(row)} for row in rows]
    names = list(flat[0])
    random.shuffle(names)
    return "\n".join((",".join(names), *(",".join(r[n] for n in names) for r in flat), "")).encode()


def _typed(wish: Wish) -> Callable[[Any], None]:
    amount = str(wish.amount) if wish.amount else None
    match wish.kind:
        case "refunds":
            return parsed("refunds.create", payment=wish.target, amount=amount)
        case "payouts":
            return parsed(
                "payouts.create",
                amount=amount,
                currency="EUR",
                country="DE",
                account_holder_name="M",
                iban=wish.target,
            )
        case "orders":
            item = ",".join(f"{name}={value}" for name, value in wish.body["items"][0].items())
            return parsed(
                "orders.create",
                amount=amount,
                currency="EUR",
                country="DE",
                item=[item],
                capture_method=wish.target,
            )
        case "cancel":
            return parsed("orders.cancel", order_id=wish.target)
    return parsed("orders.capture", order_id=wish.target, amount=amount)


def _bare(wish: Wish) -> Callable[[Any], None]:
    if wish.kind in ("cancel", "capture"):
        return parsed(wish.operation, order_id=wish.target)
    return parsed(wish.operation)


def parsed(operation: str, **given: Any) -> Callable[[Session], None]:
    """A command as the parser calls it: with every option, None where nothing was given."""
    every = {**{row.key: None for row in options_of(operation)}, **given}
    return lambda session: _taking(operation)(session=SimpleNamespace(obj=session), **every)


@cache
def _taking(operation: str) -> Callable[..., None]:
    word, _, verb = operation.partition(".")
    noun = service.noun(word.removesuffix("s"))
    assert noun is not None
    app = noun_app(noun)
    command = next(each.callback for each in app.registered_commands if each.name == verb)
    assert command is not None
    return command


def _pairs(body: dict[str, Any], inside: str = "") -> list[tuple[str, str, Any]]:
    found: list[tuple[str, str, Any]] = []
    for name, value in body.items():
        path = f"{inside}[{name}]" if inside else name
        if isinstance(value, list):
            found += _pairs({f"{path}[{at}]": one for at, one in enumerate(value)})
        elif isinstance(value, dict):
            found += _pairs(value, path)
        else:
            found.append((path, ":=" if isinstance(value, int) else "=", value))
    return found


def _text(body: dict[str, Any], random: Random) -> str:
    names = list(body)
    random.shuffle(names)
    space = random.choice((None, (", ", " : ")))
    return json.dumps({name: body[name] for name in names}, separators=space)
