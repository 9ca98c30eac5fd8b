"""Ids that were shown are kept for completion: few, private, per account, never a secret."""

import stat
from pathlib import Path

from support.running import Sandbox, Svc

SALE = ("--amount", "12900", "--currency", "EUR", "--country", "DE")
ITEM = ("--item", "name=Jacket,hs_code=6203.39,quantity=1,unit_amount=12900")


def kept(home: Path, name: str | None = None) -> list[list[str]]:
    """The lines of the one file there is, or of a named one."""
    folder = home / "cache" / "recent"
    paths = list(folder.iterdir()) if name is None else [folder / name]
    assert len(paths) == 1
    return [line.split("\t") for line in paths[0].read_text().splitlines()[1:]]


def test_a_command_keeps_what_it_has_shown(sandbox: Sandbox, svc: Svc, isolated: Path) -> None:
    """The order with its sum and status, the payment that it names, the latest first."""
    order = svc.ok("orders", "create", *SALE, *ITEM)
    assert kept(isolated)[0] == [order["id"], "order", "157.08 EUR requires_payment"]
    paid = svc.ok("sandbox", "pay", order["id"])
    assert [paid["payment"]["id"], "payment", "157.08 EUR captured"] in kept(isolated)
    svc.ok("orders", "retrieve", order["id"])
    lines = kept(isolated)
    assert lines[0] == [order["id"], "order", "157.08 EUR paid"]
    assert [paid["payment"]["id"], "payment", "157.08 EUR captured"] in lines
    assert len({line[0] for line in lines}) == len(lines)


def test_a_list_is_kept_and_a_stream_only_in_part(
    sandbox: Sandbox, svc: Svc, isolated: Path
) -> None:
    """Also with --query, which leaves the ids out of what is printed."""
    sandbox.control("POST", "/reset", {"fixture": "demo"})
    svc.ok("orders", "list", "--limit", "2", "--query", "data[].status")
    assert len([line for line in kept(isolated) if line[1] == "order"]) == 2
    assert svc("payments", "list", "--all", "-o", "ndjson").code == 0
    assert [line[2] for line in kept(isolated) if line[1] == "payment" and line[2]]


def test_the_file_is_for_one_profile_mode_and_address(
    sandbox: Sandbox, svc: Svc, isolated: Path
) -> None:
    """Its name is made of what was typed, so that a shell finds it; nobody else can read it."""
    svc.ok("orders", "create", *SALE, *ITEM)
    address = f"http___127.0.0.1_{sandbox.port}"
    path = isolated / "cache" / "recent" / f"default.test@{address}.tsv"
    assert path.read_text().startswith(f"# {sandbox.url}\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    live = {"SVC_API_KEY": "sk_live_sandbox"}
    svc.ok("orders", "create", *SALE, *ITEM, "--live", "--yes", env=live)
    assert next(line[1] for line in kept(isolated, f"default.live@{address}.tsv")) == "order"


def test_nothing_secret_is_kept(sandbox: Sandbox, svc: Svc, isolated: Path) -> None:
    """R40: neither keys nor signing secrets nor client secrets, though they were printed."""
    order = svc.ok("orders", "create", *SALE, *ITEM)
    endpoint = svc.ok(
        "webhook-endpoints", "create", "--url", "http://127.0.0.1:9/x", "--events", "order.paid"
    )
    key = svc.ok("sandbox", "keys", "create")
    text = next((isolated / "cache" / "recent").iterdir()).read_text()
    assert order["id"] in text
    assert endpoint["id"] in text
    assert key["id"] in text
    for secret in (order["client_secret"], endpoint["secret"], key["secret"], "sk_test"):
        assert secret not in text


def test_a_request_without_an_outcome_is_offered_to_be_resumed(
    sandbox: Sandbox, svc: Svc, isolated: Path
) -> None:
    """`svc requests resume` is what comes next (R10): its id need not be copied."""
    svc.ok(
        "sandbox", "fault", "add", "--path", "/v1/orders", "--connection", "close", "--times", "9"
    )
    lost = svc("orders", "create", *SALE, *ITEM, "--max-time", "2")
    assert lost.code == 7
    assert kept(isolated)[0] == [lost.error["request"], "recorded_request", "unknown"]


def test_cache_off_keeps_nothing_and_removes_what_was_kept(
    sandbox: Sandbox, svc: Svc, isolated: Path
) -> None:
    svc.ok("orders", "create", *SALE, *ITEM)
    assert kept(isolated)
    assert svc.ok("config", "set", "cache", "off")["cache"] is False
    svc.ok("orders", "list")
    assert not (isolated / "cache" / "recent").exists()
    svc.ok("config", "set", "cache", "on")
    svc.ok("orders", "list")
    assert kept(isolated)


def test_a_cache_that_cannot_be_written_is_no_error(
    sandbox: Sandbox, svc: Svc, isolated: Path
) -> None:
    """What was done is reported as done, and nothing is said of the cache."""
    (isolated / "cache").write_text("a file where a folder should be")
    result = svc("orders", "create", *SALE, *ITEM)
    assert (result.code, result.err) == (0, "")
