"""What a slip of the fingers is answered: the words that help, before anything is sent."""

import re
import shlex
from pathlib import Path

import pytest

from support.calls import EXAMPLES, NEEDS
from support.on_terminal import OpenTerminal
from support.running import Svc
from support.servers.misbehaving import ScriptedServer

ITEM = "--item 'name=J,quantity=1,unit_amount=100'"
ORDER = f"orders create --amount 12900 --currency EUR --country DE {ITEM}"
NEXT = {
    "orders list --query '[?amount > 100]'": "Write numbers in backticks: [?amount > `100`]",
    "events list": "svc events inbox",
    "payouts list --order ord_1": "No payout belongs to an order; its payments: svc payments list --order ord_1",
    "refund --payment pay_1": "Next: svc refunds create --payment pay_1",
    "events tail -o csv": "tail cannot print csv.",
    "webhook-endpoints list": "svc sandbox endpoints list",
    "refunds create pay_x1": "svc refunds create --payment pay_x1",
    "refunds create --payment ord_abc": "svc payments list --order ord_abc",
    "refunds create --order ord_abc --amount 1": "svc payments list --order ord_abc",
    "refunds list --created-since 7d": "Next: svc refunds list --created-gte 7d",
    "disputes update dp_1 --evidence a.txt": "--evidence KEY=@a.txt takes the text of a file",
    "disputes update dp_1 --file a.txt": "Did you mean '--evidence'?",
    "disputes update dp_1 --tracking-number @a.txt": "-d PATH=@FILE takes one; for the text itself",
    "payments list --payment ord_abc": "svc payments list --order ord_abc",
    "payments list --payment=ord_abc": "svc payments list --order ord_abc",
    "payments list --payment pay_abc": "svc payments retrieve pay_abc",
    "refunds list --payment ord_abc": "svc payments list --order ord_abc",
    f"{ORDER} -d shipping.country=DE": "Next: -d 'shipping[country]=DE'",
    f"{ORDER} -d shipping.contry=DE": "Next: -d 'shipping[country]=DE'",
    "post v1/refunds -d amount:=1": "Next: svc post /v1/refunds -d amount:=1",
    "orders list --limit abc": "--limit 'abc' is not a whole number.",
    "orders list --max-time abc": "--max-time 'abc' is not a number.",
    "sandbox advance -1d": "-1d is negative; a duration or a number here is positive.",
    "sandbox fault add --status 999": "--status is '999'. Use one of: 429, 500, 502, 503, 504.",
    "sandbox settings smart_retires=true": "KEY is 'smart_retires'. Did you mean 'smart_retries'?",
    "sandbox settings smart_retries=maybe": "smart_retries is 'maybe'. Use one of: true, false.",
    f"{ORDER} -d shiping[country]=DE": "Next: -d 'shipping[country]=DE'",
    "orders create --item qty=1": "Write quantity",
    "--profile shop ordrs lst --limit 3": "Next: svc orders list --profile shop --limit 3",
    "help orders lst": "Next: svc orders list --help",
    "batch refunds create r.csv": "Next: svc batch refunds.create r.csv",
    "batch orders o.csv": "Next: What they do: svc batch --help",
    "orders nonsense": "Use one of: create, retrieve, update, cancel, capture, list.",
    "orders list --limit 500": "--max 500",
    "requests resume": "svc requests resume needs ID. Next: svc requests list shows the ids",
    "post /v1/refunds -d payment=pay_1 -d amount=1.5": "amount '1.5' is not a whole number.",
    "orders list --metadata ref=A-1": "--query finds with --all: svc orders list --help",
    "logs tail": "Next: svc sandbox requests",
    "auth status": "Next: svc whoami",
    "api /v1/orders": "Next: svc get /v1/orders",
    "disputes list --due 7": "--due 7 has no unit. Next: Write 7d",
    "orders list --limit 0": "Next: --max N follows pages, --all gives every object",
    "config set profiles.shop.auth basic": "Next: Create it: svc profiles create shop --base-url",
    "orders create --amount 129.50 --currency JPY": "such as 12900 for 12,900 JPY, which has no decimals",
    "events inbox --created-gte 7d": "Did you mean '--since'?",
    "orders list --stat paid": "No such option: --stat. Did you mean '--status'?",
    "sandbox settings list": "Next: All are shown by: svc sandbox settings",
    "sandbox balances list": "Next: All are shown by: svc sandbox balances",
    "sandbox pay": "svc sandbox pay needs ORDER. Next: See its arguments and options: svc sandbox pay --help",
    "completion": "svc completion needs SHELL. Use one of: bash, zsh, fish, powershell. Next: ",
    "sandbox decide dp_1": "svc sandbox decide needs OUTCOME. Use one of: won, lost. Next: ",
    "events verify": "svc events verify needs --header.",
    "batch": "svc batch needs OPERATION and FILE.",
    "config set output": "svc config set needs VALUE.",
    "sandbox advance --until x": "--until is 'x'. Use one of: next, idle.",
    "profiles remove shop": "Next: Those that there are: svc profiles list",
    "get v1/orders": "svc get /v1/orders",
    "orders create --currency eur": "A currency is written in capitals: EUR Next: --currency EUR",
    "quotes create --country de": "A country is written in capitals: DE Next: --country DE",
    "orders create --amount 129.00 --currency JPY": "--amount 129 in minor units",
    "orders create --amount 129.00 --currency EUR": "--amount 12900 if 129.00 EUR is meant",
}


@pytest.mark.parametrize(("asked", "begins"), [((), "Error:"), (("-o", "json"), '{"error"')])
def test_an_error_beside_a_pipe_is_for_whoever_sees_it(
    open_terminal: OpenTerminal, tmp_path: Path, asked: tuple[str, ...], begins: str
) -> None:
    """A person at a terminal who pipes the result reads words; a program that asked reads JSON."""
    with (tmp_path / "out").open("wb") as out:
        terminal = open_terminal("orders", "crate", *asked, out=out.fileno())
        with terminal:
            assert terminal.end() == 2
    assert terminal.seen.startswith(begins)


@pytest.mark.parametrize("line", NEXT)
def test_a_slip_is_answered_with_what_helps(svc: Svc, service: ScriptedServer, line: str) -> None:
    """Exit 2, at most four lines, and the command or the word that was meant."""
    # Given by a variable, so that what is suggested is what was typed and no more.
    done = svc(*shlex.split(line), env={"SVC_OUTPUT": "human"})
    service.stop()
    assert done.code == 2, done
    assert NEXT[line] in " ".join(done.err.split()), done.err
    assert len(done.err.splitlines()) <= 4
    assert "Leave it out" not in done.err
    assert service.connections == 0


@pytest.mark.parametrize("command", NEEDS)
def test_all_that_is_missing_is_named_at_once(
    svc: Svc, service: ScriptedServer, command: str
) -> None:
    """One refusal before anything is sent; what it suggests invents nothing (R120)."""
    words = command.split()
    refused = svc(*words)
    options = NEEDS[command]
    assert (refused.code, refused.error["code"]) == (2, "parameter_missing")
    assert refused.error["param"] == options[0]
    assert all(option in refused.error["message"] for option in options)
    if len(options) > 1:
        example = EXAMPLES[command][options[0]]
        first = svc(*words, options[0], example, env={"SVC_OUTPUT": "human"})
        assert first.code == 2
        assert f"needs {options[0]}" not in first.err
        typed = shlex.split(first.err.partition("Next: svc ")[2])
        assert typed[: len(words) + 2] == [*words, options[0], example]
        suggested = dict(zip(typed[len(words) + 2 :: 2], typed[len(words) + 3 :: 2], strict=True))
        for option, value in suggested.items():
            plain = option.removeprefix("--").replace("-", "_").upper()
            item = "name=NAME,quantity=QUANTITY,unit_amount=UNIT_AMOUNT"
            assert value == (item if option == "--item" else plain)
    service.stop()
    assert service.connections == 0


@pytest.mark.parametrize("command", NEEDS)
def test_help_marks_what_is_required(svc: Svc, command: str) -> None:
    """At its option, in the text as in the document."""
    page = svc(*command.split(), "--help").out
    entries = re.split(r"\n +(?=--[a-z])", page.partition("Options:\n")[2])
    marked = {entry.split()[0] for entry in entries if "(required)" in entry}
    assert marked == set(NEEDS[command])
    document = svc.ok("commands", "-o", "json")["commands"]
    options = next(each["options"] for each in document if each["name"] == command)
    assert {each["names"][0] for each in options if each["required"]} == marked


def test_what_is_to_be_typed_has_no_full_stop_behind_it(svc: Svc) -> None:
    """In the one message of a program, too: it would be copied with it."""
    told = svc("orders", "create", "--currency", "eur").error["message"]
    assert told == "A currency is written in capitals: EUR. Next: --currency EUR"


@pytest.mark.effect_of("svc", "--body")
def test_a_body_may_bring_what_is_required(svc: Svc, service: ScriptedServer) -> None:
    """Options, -d and --body together make one request; `svc post` sends whatever it is given."""
    body = '{"currency": "EUR", "items": [{"name": "J", "quantity": 1, "unit_amount": 1}]}'
    fields = ("--amount", "1", "-d", "shipping[country]=DE", "--body", "-", "--dry-run")
    assert svc("orders", "create", *fields, stdin=body).code == 0
    assert svc("post", "/v1/orders", "-d", "amount:=1", "--dry-run").code == 0
    service.stop()
