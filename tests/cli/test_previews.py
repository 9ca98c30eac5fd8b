"""What is shown in place of sending, and JSON for a person's eyes."""

import json
import re

import pytest

from support.on_terminal import OnTerminal
from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer

KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
PIPE = """printf 'Authorization: Bearer %s\\n' "$SVC_API_KEY" | curl"""


@pytest.mark.parametrize("columns", [80, 40])
def test_curl_is_folded_at_its_options_for_a_person(
    on_terminal: OnTerminal, service: ScriptedServer, columns: int
) -> None:
    """Each on a line of its own, which every shell reads on; a pipe has one line."""
    item = "name=Linen jacket,quantity=1,unit_amount=1"
    shown = on_terminal(
        *("orders", "create", "--amount", "1", "--currency", "EUR", "--country", "DE"),
        *("--item", item, "--idempotency-key", "mine", "--curl"),
        columns=columns,
    )
    lines = shown.splitlines()
    assert lines[0] == f"{PIPE} \\"
    assert lines[1:4] == [
        "    --header @- \\",
        f"    --request POST {service.url}/v1/orders \\",
        "    --header 'Idempotency-Key: mine' \\",
    ]
    assert lines[-1].startswith("    --data-binary '{")
    service.stop()


def test_a_person_sees_json_in_colours(on_terminal: OnTerminal, sandbox: Sandbox) -> None:
    """What was asked for as JSON, and a request that is shown; taken without them it is JSON."""
    for words in (("whoami", "-o", "json"), ("orders", "retrieve", "ord_1", "--dry-run")):
        shown = on_terminal(*words)
        assert re.search(r'\x1b\[36m"(object|method)"\x1b\[0m: \x1b\[32m"', shown), shown
        assert json.loads(re.sub(r"\x1b\[[0-9;]*m", "", shown))


def test_json_has_no_colour_where_a_program_reads(
    on_terminal: OnTerminal, svc: Svc, sandbox: Sandbox
) -> None:
    """Neither in a pipe, whatever is asked for, nor with NO_COLOR, nor on a dumb terminal."""
    for words in (("whoami", "-o", "json"), ("whoami", "-o", "ndjson")):
        for env in ({}, {"FORCE_COLOR": "1"}, {"CLICOLOR_FORCE": "1"}):
            assert "\x1b" not in svc(*words, env=env).out
        assert "\x1b" not in svc(*words, "--color", "always").out
        assert "\x1b" not in on_terminal(*words, NO_COLOR="1")
        assert "\x1b" not in on_terminal(*words, TERM="dumb")
