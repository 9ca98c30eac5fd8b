"""Limits of money: how they are written, where they stand, and which one holds."""

from pathlib import Path
from types import MappingProxyType

import pytest

from svc.config import Config, Profile, load
from svc.config.limits import parse_limits
from svc.errors import ConfigError

DAY = 86400


@pytest.mark.parametrize(
    ("text", "shown", "seconds"),
    [
        ("500 EUR/day", "500.00 EUR/day", DAY),
        (" 90.50 USD/hour ", "90.50 USD/hour", 3600),
        ("7 JPY/week", "7 JPY/week", 7 * DAY),
        ("1.500 KWD/month", "1.500 KWD/month", 31 * DAY),
        ("1 EUR/day,2 EUR/week", "1.00 EUR/day 2.00 EUR/week", DAY),
    ],
)
def test_a_limit_is_an_amount_in_a_period(text: str, shown: str, seconds: int) -> None:
    """In the currency's own decimals or none; a month is its longest."""
    limits = parse_limits(text)
    assert limits is not None
    assert " ".join(map(str, limits)) == shown
    assert limits[0].seconds == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("", "500", "500 EUR", "EUR/day", "500 EUR/year", "500 XXX/day", "5.5 EUR/day"),
        *("5.00 JPY/day", "-5 EUR/day", "500 EUR/day,", "500 EUR/day; 1 USD/day", "500EUR/day"),
    ],
)
def test_what_is_no_limit_is_none(text: str) -> None:
    """A limit that was misread would let money go."""
    assert parse_limits(text) is None


def test_the_nearest_limit_holds() -> None:
    """Of the profile before that of all; of the mode before that of both; another group's never."""
    own = {"live.refunds": "1 EUR/day", "refunds": "2 EUR/day"}
    every = {"live.payouts": "3 EUR/day", "payouts": "4 EUR/day", "refunds": "5 EUR/day"}
    shop = Profile("shop", limits=MappingProxyType(own))
    config = Config(
        Path("c"),
        profiles=MappingProxyType({"shop": shop, "b": Profile("b")}),
        limits=MappingProxyType(every),
    )
    held = {
        (name, mode, group): "".join(map(str, config.limits_for(name, mode, group)))[:1]
        for name in ("shop", "b", "default")
        for mode in ("live", "test")
        for group in ("refunds", "payouts", "captures")
    }
    assert (
        " ".join(number or "-" for number in held.values()) == "1 3 - 2 4 - 5 3 - 5 4 - 5 3 - 5 4 -"
    )
    assert config.limit_names() == {"live.refunds", "refunds", "live.payouts", "payouts"}


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("limits = 5", "line 1: limits must be a table.", None),
        ("[limits]\nrefund = '5 EUR/day'", "line 2: limits.refund is not known.",
         "Did you mean refunds?"),
        ("[limits]\nrefunds = '5 EUR'", "line 2: limits.refunds must be amounts such as", None),
        ("[limits]\nrefunds = 5", "line 2: limits.refunds must be amounts such as", None),
        ("[limits.live]\npayouts = ''", "line 2: limits.live.payouts must be amounts such as", None),
        ("[limits.dev]\npayouts = ''", "line 2: limits.dev.payouts is not known.", None),
        ("[profiles.a]\nbase_url = 'https://a.example'\nlimits = 1",
         "line 3: profiles.a.limits must be a table.", None),
    ],
)  # fmt: skip
def test_a_wrong_limit_is_named_by_its_line(
    tmp_path: Path, text: str, said: str, hint: str | None
) -> None:
    """Nothing is read as no limit."""
    path = tmp_path / "config.toml"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError) as refused:
        load(path)
    assert refused.value.message.removeprefix(f"{path}, ").startswith(said)
    assert hint is None or refused.value.hint == hint


def test_limits_of_a_file_are_read_by_their_dotted_names(tmp_path: Path) -> None:
    """A table in a table is the same as a name with a point."""
    path = tmp_path / "config.toml"
    path.write_text(
        "[limits]\nrefunds = '1 EUR/day'\nlive.payouts = '2 EUR/day'\n"
        "[profiles.a]\nbase_url = 'https://a.example'\n[profiles.a.limits.test]\nrefunds='3 EUR/day'\n"
    )
    path.chmod(0o600)
    config = load(path)
    assert config.limits == {"refunds": "1 EUR/day", "live.payouts": "2 EUR/day"}
    assert config.profile("a").limits == {"test.refunds": "3 EUR/day"}
