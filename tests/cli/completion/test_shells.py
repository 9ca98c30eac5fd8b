"""What a person sees after Tab, in real shells on real terminals."""

import re
from collections.abc import Iterator

import pytest

from cli.completion.shells import ORDER, PAYMENT, SHELLS, start
from cli.completion.terminal import ShellTerminal


@pytest.fixture(scope="module", params=SHELLS)
def shell(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ShellTerminal]:
    """One shell of each kind for all tests; each test types whole lines."""
    with start(request.param, tmp_path_factory.mktemp(request.param)) as terminal:
        yield terminal


TYPED = {
    "noun": ("svc ord\t", "orders"),
    "short name": ("svc quo\t ret\t", "quotes retrieve"),
    "verb": ("svc orders ret\t", "orders retrieve"),
    "verb of a verb": ("svc sandbox fault cl\t", "sandbox fault clear"),
    "own option": ("svc orders create --curre\t", "orders create --currency"),
    "option of every writing command": ("svc orders create --dry\t", "orders create --dry-run"),
    "global option before the noun": ("svc --prof\tshop orders", "--profile shop orders"),
    "verb behind a global option": ("svc -o json orders ret\t", "-o json orders retrieve"),
    "currency": ("svc orders create --currency EU\t", "orders create --currency EUR"),
    "country": ("svc payouts create --country JP\t", "payouts create --country JP"),
    "format behind an equals sign": (
        "svc orders list --output=nd\t",
        "orders list --output=ndjson",
    ),
    "status": ("svc orders list --status auth\t", "orders list --status authorized"),
    "event type": ("svc sandbox trigger payout.p\t", "sandbox trigger payout.paid"),
    "operation and file": ("svc batch refunds.\tref\t", "batch refunds.create refunds.csv"),
    "file of an option": ("svc orders create --body ref\t", "orders create --body refunds.csv"),
    "key of a value": (
        "svc disputes update dp_1 --evidence tracking\t1",
        "disputes update dp_1 --evidence tracking_number=1",
    ),
    "payment id": ("svc refunds create --payment \t", f"refunds create --payment {PAYMENT}"),
    "order id": ("svc orders retrieve ord_3\t", f"orders retrieve {ORDER}"),
    "order id of live mode": ("svc --live orders retrieve \t", "--live orders retrieve ord_Live1"),
    "order id of another profile": (
        "svc orders retrieve --profile other \t",
        "orders retrieve --profile other ord_Other1",
    ),
    "order id of another address": (
        "svc --base-url http://127.0.0.1:4242 orders cancel o\t",
        "--base-url http://127.0.0.1:4242 orders cancel ord_Here1",
    ),
    "profile": ("svc profiles use oth\t", "profiles use other"),
    "option behind one whose value may be left out": (
        "svc events listen --inspect --ord\t",
        "events listen --inspect --ordered",
    ),
    "word that something follows": (
        "svc events listen --tunnel ssh\thost",
        "events listen --tunnel ssh:host",
    ),
    "nothing behind --": ("svc orders -- ret\t", "orders -- ret"),
}


@pytest.mark.parametrize("typed", TYPED)
def test_tab_writes_what_can_only_be_meant(shell: ShellTerminal, typed: str) -> None:
    keys, wanted = TYPED[typed]
    assert shell.run(keys) == wanted.split()


SHOWN = {
    "nouns": ("svc \t\t", ["orders", "payments", "landed-cost-quotes", "webhook-endpoints"]),
    "verbs": ("svc orders \t\t", ["create", "retrieve", "update", "cancel", "capture", "list"]),
    "options": ("svc events listen --re\t\t", ["--retry", "--ready-file"]),
    "own options where nothing else fits": ("svc orders cancel ord_1 \t\t", ["--reason"]),
    "words": ("svc events listen --print \t\t", ["summary", "payload", "none"]),
    "ids of any kind": ("svc get \t\t", ["/v1/orders", ORDER, PAYMENT]),
}


@pytest.mark.parametrize("typed", SHOWN)
def test_tab_shows_what_fits(shell: ShellTerminal, typed: str) -> None:
    keys, wanted = SHOWN[typed]
    shell.type(keys)
    shell.wait_for(*wanted)
    shell.clear()


def test_ids_are_of_the_kind_that_fits(shell: ShellTerminal) -> None:
    """`orders retrieve` offers orders only, the latest with its label where a shell can show it."""
    shell.type("svc orders retrieve ord_\t\t")
    labelled = [] if shell.name == "bash" else ["157.08 EUR paid"]
    seen = shell.wait_for("ord_3kPq", "ord_Zh2i", *labelled)
    assert "pay_" not in seen
    shell.clear()


def test_an_option_that_was_given_is_not_offered_again(shell: ShellTerminal) -> None:
    """A repeatable one is."""
    shell.type("svc orders create --item a --amount 1 --\t\t")
    seen = shell.wait_for("--currency", "--item")
    assert not re.search(r"--amount(?! 1 --)", seen)
    shell.clear()


def test_a_tab_starts_no_process(shell: ShellTerminal) -> None:
    """Neither the program nor Python: only the Enter at the end starts something."""
    before = shell.calls.read_text()
    shell.run("svc ord\tret\tord_3\t --out\tjs\t")
    assert shell.calls.read_text() == before + f"{shell.calls.parent}/bin/svc\n"
