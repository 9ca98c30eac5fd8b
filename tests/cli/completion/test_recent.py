"""Ids that were shown are kept for completion: few, private, per account, never a secret."""

import os
import stat
from pathlib import Path

import pytest

from support.running import Sandbox, Svc
from svc.cli.framework.recent import ENTRIES_MAX, FILES_MAX, RecentFile, entries, label

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
    lost = svc("orders", "create", *SALE, *ITEM, "--max-time", "0.5")
    assert lost.code == 7
    assert kept(isolated)[0] == [lost.error["request"], "recorded_request", "unknown"]


def test_cache_off_keeps_nothing_and_removes_what_was_kept(
    sandbox: Sandbox, svc: Svc, isolated: Path
) -> None:
    """`svc config set cache off`, and on again."""
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


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    """R65: neither read nor written through."""
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "recent").mkdir()
    (tmp_path / "recent" / "a.tsv").symlink_to(other)
    with pytest.raises(OSError, match="symbolic"):
        RecentFile(tmp_path / "recent" / "a.tsv", "https://a").add([("ord_1", "order", "")])
    assert other.read_text() == "precious"


def test_the_file_is_bounded_and_the_latest_come_first(tmp_path: Path) -> None:
    """What is seen again moves up; a label stays until there is a new one."""
    file = RecentFile(tmp_path / "recent" / "a.tsv", "https://a")
    file.add([(f"ord_{number}", "order", "1.00 EUR paid") for number in range(ENTRIES_MAX)])
    file.add([("ord_7", "order", ""), ("ord_new", "order", "")])
    lines = (tmp_path / "recent" / "a.tsv").read_text().splitlines()
    assert len(lines) == ENTRIES_MAX + 1
    assert lines[1:3] == ["ord_7\torder\t1.00 EUR paid", "ord_new\torder\t"]


def test_another_origin_starts_anew(tmp_path: Path) -> None:
    """A profile that points elsewhere knows none of the old ids."""
    path = tmp_path / "recent" / "a.tsv"
    RecentFile(path, "https://a").add([("ord_1", "order", "")])
    RecentFile(path, "https://b").add([("ord_2", "order", "")])
    assert path.read_text() == "# https://b\nord_2\torder\t\n"


def test_what_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    """The same object shown again costs a read."""
    path = tmp_path / "recent" / "a.tsv"
    RecentFile(path, "https://a").add([("ord_1", "order", "")])
    before = path.stat().st_ino
    RecentFile(path, "https://a").add([("ord_1", "order", "")])
    assert path.stat().st_ino == before


def test_the_folder_is_bounded(tmp_path: Path) -> None:
    """Sandboxes on ever other ports leave no more than the last files."""
    for number in range(FILES_MAX + 5):
        path = tmp_path / "recent" / f"{number}.tsv"
        RecentFile(path, "https://a").add([("ord_1", "order", "")])
        os.utime(path, (number, number))
    left = {path.name for path in (tmp_path / "recent").iterdir()}
    assert len(left) <= FILES_MAX + 1
    assert "0.tsv" not in left


@pytest.mark.parametrize(
    "hostile",
    [
        "ord_$(reboot)",
        "ord_a b",
        "ord_\x1b[31m",
        "ord_1\n",
        "ord_1_secret_2",
        "sk_test_1",
        "ord_" + "a" * 65,
        "xyz_1",
        7,
        None,
    ],
)
def test_only_plain_ids_of_known_kinds_are_kept(hostile: object) -> None:
    """They end up on a command line: nothing else may come there from a server (R61)."""
    assert list(entries({"id": hostile, "status": "paid"})) == []


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (
            {"amount": 12900, "amount_total": 15708, "currency": "EUR", "status": "paid"},
            "157.08 EUR paid",
        ),
        ({"amount": 500, "currency": "JPY", "status": "pending"}, "500 JPY pending"),
        ({"type": "order.paid", "data": {}}, "order.paid"),
        ({"total": 2808, "currency": "EUR"}, "28.08 EUR"),
        ({"status": "sk_live_4eC39HqLyjWDarjtT1zdp7dc"}, ""),
        ({"status": "\x1b[2J"}, ""),
        ({"status": "a\tb"}, ""),
        ({"amount": True, "currency": "EUR"}, ""),
        ({"amount": 1, "currency": "E\nR"}, ""),
    ],
)
def test_a_label_is_money_and_status_in_plain_words(shown: dict[str, object], words: str) -> None:
    """What a server could write there instead is left out."""
    assert label(shown) == words


def test_what_lies_too_deep_is_left() -> None:
    """A page of events leads to the objects in them; no depth of data ends the program."""
    event = {
        "id": "evt_1",
        "type": "order.paid",
        "data": {"object": {"id": "ord_1", "status": "paid"}},
    }
    assert list(entries({"object": "list", "data": [event]})) == [
        ("evt_1", "event", "order.paid"),
        ("ord_1", "order", "paid"),
    ]
    deep: object = {"id": "ord_2"}
    for _ in range(5000):
        deep = [deep]
    assert list(entries(deep)) == []
