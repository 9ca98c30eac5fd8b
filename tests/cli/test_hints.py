"""What a slip of the fingers is answered: the words that help, before anything is sent."""

import re
import shlex
from pathlib import Path

import pytest

from support.calls import EXAMPLES, NEEDS
from support.on_terminal import OpenTerminal
from support.running import Svc
from support.servers.misbehaving import ScriptedServer


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
