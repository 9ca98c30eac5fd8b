"""The file of ids seen lately: what goes into it, and how much."""

import os
from pathlib import Path

import pytest

from svc.cli.framework.recent import RecentFile, entries, label


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
    file.add([(f"ord_{number}", "order", "1.00 EUR paid") for number in range(200)])
    file.add([("ord_7", "order", ""), ("ord_new", "order", "")])
    lines = (tmp_path / "recent" / "a.tsv").read_text().splitlines()
    assert len(lines) == 1 + 200
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
    for number in range(37):
        path = tmp_path / "recent" / f"{number}.tsv"
        RecentFile(path, "https://a").add([("ord_1", "order", "")])
        os.utime(path, (number, number))
    left = {path.name for path in (tmp_path / "recent").iterdir()}
    assert left == {f"{number}.tsv" for number in range(5, 37)}


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
    for depth in range(5000):
        assert depth > 10 or bool(list(entries(deep))) == (depth <= 6)
        deep = [deep]
    assert list(entries(deep)) == []


@pytest.mark.parametrize(
    ("identity", "kind"),
    [
        ("ord_1", "order"),
        ("we_1", "webhook_endpoint"),
        ("rq_1", "recorded_request"),
        ("key_1", "api_key"),
        ("flt_1", "fault"),
        ("dlv_1", "delivery"),
        ("eml_1", "email"),
        (f"evt_{'a' * 64}", "event"),
    ],
)
def test_an_id_has_its_kind_wherever_it_stands(identity: str, kind: str) -> None:
    """As the id of an object, and named by another."""
    assert list(entries([{"id": identity, "status": "x"}])) == [(identity, kind, "x")]
    assert list(entries({"of": identity, "in": {"id": "po_1"}})) == [
        (identity, kind, ""),
        ("po_1", "payout", ""),
    ]


def test_a_folder_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    """R65: whoever has put it there wants the file elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "recent").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotADirectoryError):
        RecentFile(tmp_path / "recent" / "a.tsv", "https://a").add([("ord_1", "order", "")])
    assert list((tmp_path / "elsewhere").iterdir()) == []
