"""A 404 on an id of the other mode says so when it can be known."""

from support.running import Sandbox, Svc

ITEM = "name=J,hs_code=6203.39,quantity=1,unit_amount=12900"
LIVE = {"SVC_API_KEY": "sk_live_sandbox"}
CREATE = (
    *("orders", "create", "--amount", "12900", "--currency", "EUR", "--country", "DE"),
    *("--postal-code", "10115", "--item", ITEM),
)


def test_an_id_seen_in_test_mode_is_known_in_live_mode(svc: Svc, sandbox: Sandbox) -> None:
    """From the ids shown lately, not by a call with another key."""
    order = svc.ok(*CREATE)["id"]
    result = svc("orders", "retrieve", order, "--live", "-o", "human", env=LIVE)
    assert result.code == 5
    assert f"{order} is an object of test mode: leave out --live" in result.err


def test_an_id_seen_in_live_mode_is_known_in_test_mode(svc: Svc, sandbox: Sandbox) -> None:
    order = svc.ok(*CREATE, "--live", "--yes", env=LIVE)["id"]
    result = svc("orders", "retrieve", order, "-o", "human")
    assert result.code == 5
    assert f"{order} is an object of live mode: add --live" in result.err


def test_an_id_that_nobody_has_seen_is_not_guessed_at(svc: Svc, sandbox: Sandbox) -> None:
    result = svc("orders", "retrieve", "ord_0123456789abcdefghijklmn", "-o", "human")
    assert result.code == 5
    assert "is an object of" not in result.err
    assert "--live or --test" in result.err


def test_without_the_cache_nothing_is_known(svc: Svc, sandbox: Sandbox) -> None:
    svc.ok("config", "set", "cache", "off")
    order = svc.ok(*CREATE)["id"]
    result = svc("orders", "retrieve", order, "--live", "-o", "human", env=LIVE)
    assert "is an object of" not in result.err
