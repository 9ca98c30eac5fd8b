"""What a new or reset sandbox holds."""

from typing import Final

from svc.money import exponent
from svc.sandbox import fx, keys
from svc.sandbox.demo import fill_demo
from svc.sandbox.problems import not_allowed_value
from svc.sandbox.world import World
from svc.spec import RESTRICTED_RESOURCES, SANDBOX_KEYS

FIXTURES: Final = ("demo",)
_BALANCE: Final = 1_000_000  # major units, in test mode


def fill(test: World, live: World, name: str | None) -> None:
    """Adds the fixed keys and the balances, and the objects of a fixture that was asked for.

    Raises:
        Problem: there is no such fixture.
    """
    if name is not None and name not in FIXTURES:
        raise not_allowed_value("fixture", FIXTURES)
    keys.register(test, SANDBOX_KEYS["secret_test"], "secret")
    keys.register(test, SANDBOX_KEYS["publishable_test"], "publishable")
    readable = dict.fromkeys(RESTRICTED_RESOURCES, "read")
    keys.register(test, SANDBOX_KEYS["restricted_test"], "restricted", readable)
    keys.register(live, SANDBOX_KEYS["secret_live"], "secret")
    keys.register(live, SANDBOX_KEYS["publishable_live"], "publishable")
    for currency in fx.USD_PER_UNIT:
        test.set_balance(currency, _BALANCE * 10 ** (exponent(currency) or 0))
        live.set_balance(currency, 0)
    if name == "demo":
        fill_demo(test)
