"""What a slip of the fingers is answered: the words that help, before anything is sent."""

import re
import shlex

import pytest

from support.calls import EXAMPLES, NEEDS
from support.running import Svc
from support.servers.misbehaving import ScriptedServer


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


@pytest.mark.effect_of("svc", "--body")
def test_a_body_may_bring_what_is_required(svc: Svc, service: ScriptedServer) -> None:
    """Options, -d and --body together make one request; `svc post` sends whatever it is given."""
    body = '{"currency": "EUR", "items": [{"name": "J", "quantity": 1, "unit_amount": 1}]}'
    fields = ("--amount", "1", "-d", "shipping[country]=DE", "--body", "-", "--dry-run")
    assert svc("orders", "create", *fields, stdin=body).code == 0
    assert svc("post", "/v1/orders", "-d", "amount:=1", "--dry-run").code == 0
    service.stop()
