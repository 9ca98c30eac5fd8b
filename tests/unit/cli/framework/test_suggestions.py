"""The command line that is suggested for one that is none."""

from collections.abc import Iterator

import pytest

from svc.cli.commands.tree import tree
from svc.cli.framework.registry import COMMANDS
from svc.cli.framework.suggestions import (
    NOUNS_ELSEWHERE,
    OTHER_TOOLS_WORDS,
    OTHERWISE,
    SAME_VERB,
    find_lines,
    split_line,
)
from svc.completion.tree import Command

# What was typed, and the whole line that works.
MEANT = {
    "ordrs lst": "svc orders list",
    "ordrs lst --limit 5": "svc orders list --limit 5",
    "order list -o csv": "svc orders list -o csv",
    "--profile shop ordrs --live lst": "svc orders list --profile shop --live",
    "Orders List": "svc orders list",
    "orders.list": "svc orders list",
    "orders/list": "svc orders list",
    "list orders": "svc orders list",
    "orders ls": "svc orders list",
    "order ord_1": "svc orders retrieve ord_1",
    "orders ord_1": "svc orders retrieve ord_1",
    "orders get": "svc orders retrieve ID",
    "orders shwo ord_1": "svc orders retrieve ord_1",
    "show ord_1": "svc orders retrieve ord_1",
    "cancel ord_1": "svc orders cancel ord_1",
    "orders delete ord_1": "svc orders cancel ord_1",
    "ord_1 capture": "svc orders capture ord_1",
    "orders pay ord_1": "svc sandbox pay ord_1",
    "orders refund ord_1": "svc payments list --order ord_1",
    "create order --amuont 3": "svc orders create --amount 3",
    "oders crate --amoutn 12900 --curency=EUR": "svc orders create --amount 12900 --currency=EUR",
    "pay_1": "svc get pay_1",
    "payment pay_1": "svc payments retrieve pay_1",
    "payments ord_1": "svc payments list --order ord_1",
    "payments refund pay_1": "svc refunds create --payment pay_1",
    "payments refund --amount 5 pay_1": "svc refunds create --payment pay_1 --amount 5",
    "pay_1 refund": "svc refunds create --payment pay_1",
    "refund": "svc refunds create --payment ID",
    "refund pay_1": "svc refunds create --payment pay_1",
    "refund pay_1 4999": "svc refunds create --payment pay_1 --amount 4999",
    "refund --payment pay_1": "svc refunds create --payment pay_1",
    "refund create --payment pay_1": "svc refunds create --payment pay_1",
    "refunds crate --payment pay_1": "svc refunds create --payment pay_1",
    "batch refunds create r.csv": "svc batch refunds.create r.csv",
    "batch create refunds r.csv": "svc batch refunds.create r.csv",
    "batch refund.create r.csv": "svc batch refunds.create r.csv",
    "batch refunds r.csv": "svc batch refunds.create r.csv",
    "batch refunds": "svc batch refunds.create FILE",
    "payouts send --amount 3": "svc payouts create --amount 3",
    "payouts wait po_1": "svc payouts retrieve --wait po_1",
    "wait po_1": "svc payouts retrieve --wait po_1",
    "quotes view lcq_1": "svc quotes retrieve lcq_1",
    "landed-cost create": "svc landed-cost-quotes create",
    "disputes answer dp_1": "svc disputes update dp_1",
    "webhook_endpoints create": "svc webhook-endpoints create",
    "webhook listen": "svc events listen",
    "events lisen --foward-to 3000": "svc events listen --forward-to 3000",
    "events trigger order.paid": "svc sandbox trigger order.paid",
    "trigger order.paid": "svc sandbox trigger order.paid",
    "listen --forward-to 3000": "svc events listen --forward-to 3000",
    "replay evt_1": "svc events replay evt_1",
    "events log faild lst": "svc events log failed list",
    "sandbox keys lst": "svc sandbox keys list",
    "sandbox end": "svc sandbox stop",
    "sandbx up": "svc sandbox start",
    "start sandbox": "svc sandbox start",
    "open ord_1": "svc sandbox checkout ord_1",
    "key rotate --grace 1d": "svc keys roll --grace 1d",
    "add key": "svc keys add",
    "login": "svc keys add",
    "use shop": "svc profiles use shop",
    "delete profile shop": "svc profiles remove shop",
    "config list": "svc config get",
    "requests retrieve rq_1": "svc requests show rq_1",
    "requests retry rq_1": "svc requests resume rq_1",
    "rq_1": "svc requests show rq_1",
    "find ord_1": "svc timeline ord_1",
    "whoam": "svc whoami",
    "me": "svc whoami",
    "v1/orders": "svc get /v1/orders",
    "orders help": "svc orders --help",
    "auth": "svc keys",
    "disputes due": "svc disputes list --due 7d",
    "orders export": "svc orders list --all -o csv > orders.csv",
    "version": "svc --version",
    "accounts": "svc profiles",
    "api /v1/orders": "svc get /v1/orders",
    "charges list": "svc payments list",
    "chargeback dp_1": "svc disputes retrieve dp_1",
    "checks": "svc doctor",
    "endpoint create": "svc webhook-endpoints create",
    "mock start": "svc sandbox start",
    "server stop": "svc sandbox stop",
    "settings get": "svc config get",
    "status": "svc whoami",
    "transfers list": "svc payouts list",
    "tutorial": "svc quickstart",
    "disputes evidence dp_1": "svc disputes update dp_1",
    "disputes submit dp_1": "svc disputes update dp_1",
    "history ord_1": "svc timeline ord_1",
    "orders history ord_1": "svc timeline ord_1",
    "logout": "svc keys remove",
    "logs": "svc sandbox requests",
    "profiles show": "svc profiles list",
    "start": "svc sandbox start",
    "stop": "svc sandbox stop",
    "verify --payload f": "svc events verify --payload f",
    "migrate": "svc help moving",
    "inbox": "svc events inbox",
    "roll": "svc keys roll",
    "resume rq_1": "svc requests resume rq_1",
    "capture ord_1": "svc orders capture ord_1",
    "orders:ls": "svc orders list",
    "orders lst --since 3d": "svc orders list --created-gte 3d",
    "orders lst --created-since 3d": "svc orders list --created-gte 3d",
    "orders lst --until 3d": "svc orders list --created-lte 3d",
    "orders lst --yess": "svc orders list --yess",
    "events audt --created-gte 2d": "svc events audit --since 2d",
    "sandbox requests --lmit 3": "svc sandbox requests --limit 3",
    "disputes updte dp_1 --file a=b": "svc disputes update dp_1 --evidence a=b",
    "refund pay_1 5 x": "svc refunds create --payment pay_1 --amount 5",
    **dict.fromkeys(("bug", "report"), "What to attach to a report of a bug: svc doctor --report"),
    **dict.fromkeys(
        ("update", "upgrade"),
        "Install it anew as you did: pipx, uv tool or pip, each from its newer source",
    ),
    "events list": "Those that a listener has received: svc events inbox; those that a sandbox "
    "has made: svc sandbox events",
    "export": "A list as a file: svc orders list --all -o csv > orders.csv",
    "payments create": "A shopper pays an order; at a sandbox: svc sandbox pay ORDER",
    **dict.fromkeys(
        ("webhook-endpoints list", "webhook-endpoints retrieve we_1"),
        "The API has no call that shows them; of a sandbox: svc sandbox endpoints list",
    ),
    "payments capture pay_1": "It is of an order; of which: svc payments retrieve pay_1 "
    "--query order --raw",
}
FAR = ["qqqqq", "orders qqqqq", "customers list", "invoices", "sandbox qqqqq", "xx yy", ""]


@pytest.mark.parametrize("line", MEANT)
def test_a_line_that_is_no_command_leads_to_one(line: str) -> None:
    """Whole, with what else was typed: it can be typed as it stands."""
    assert [each.line for each in find_lines(split_line(line.split()))] == [MEANT[line]]


@pytest.mark.parametrize("line", FAR)
def test_what_is_far_from_everything_is_not_guessed_at(line: str) -> None:
    """A far-fetched guess would be worse than none."""
    assert find_lines(split_line(line.split())) == []


def _paths(command: Command) -> Iterator[tuple[str, ...]]:
    yield command.path
    for each in command.commands:
        yield from _paths(each)


def test_a_slip_in_any_word_of_any_command_leads_back_to_it() -> None:
    """Two letters that are swapped, in each word that has five."""
    paths = [path for path in _paths(tree().root) if path]
    assert len(paths) > 90
    lost = []
    for path in paths:
        for place, word in enumerate(path):
            slip = f"{word[:2]}{word[3]}{word[2]}{word[4:]}" if len(word) > 4 else word
            typed = [*path[:place], slip, *path[place + 1 :]]
            names = [each.name for each in find_lines(split_line(typed))]
            if slip != word and " ".join(path) not in names:
                lost.append((typed, names))
    assert lost == []


def test_every_word_of_the_tables_leads_to_a_command() -> None:
    """None of them is one, and each line begins with one."""
    paths = {" ".join(path) for path in _paths(tree().root)}
    assert not paths & {*OTHER_TOOLS_WORDS, *OTHERWISE}
    assert not {*NOUNS_ELSEWHERE, *(f"{word}s" for word in NOUNS_ELSEWHERE)} & {*COMMANDS}
    assert {there.partition(" --")[0] for there in OTHER_TOOLS_WORDS.values()} <= paths
    assert {noun for nouns in NOUNS_ELSEWHERE.values() for noun in nouns} <= {*COMMANDS, "quotes"}
    verbs = [verb for line in SAME_VERB for verb in line]
    assert len(verbs) == len({*verbs})
    assert {path.rpartition(" ")[2] for path in paths} >= {line[0] for line in SAME_VERB}
