"""What is shown in place of sending, JSON for a person's eyes, and what a query finds for a shell."""

import json
import re

import pytest

from support.on_terminal import OnTerminal
from support.orders import CREATE_ORDER
from support.running import Sandbox, Svc
from support.servers.misbehaving import ScriptedServer

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


@pytest.mark.effect_of("svc", "--raw")
def test_raw_texts_have_no_quotes(svc: Svc, sandbox: Sandbox) -> None:
    """One a line of a list; what is no text stays JSON; nothing of it acts on a terminal."""
    assert svc("whoami", "--query", "mode", "--raw").out == "test\n"
    assert svc("whoami", "--query", "mode").out == '"test"\n'
    assert svc("whoami", "--query", "[profile, mode]", "--raw").out == "default\ntest\n"
    assert svc("whoami", "--query", "sandbox", "--raw").out == "false\n"
    item = {"name": "a\u001b[31mb", "quantity": 1, "unit_amount": 1}
    body = {"amount": 1, "currency": "EUR", "shipping": {"country": "DE"}, "items": [item]}
    made = svc("post", "/v1/orders", "--body", "-", "--query", "items[0].name", "--raw",
               stdin=json.dumps(body))  # fmt: skip
    assert made.code == 0, made.err
    assert "\x1b" not in made.out


def test_a_query_that_finds_nothing_says_so(svc: Svc, sandbox: Sandbox) -> None:
    """And where the objects of a list are."""
    for query, words in (("[0].id", "data[]"), ("data[0].nothing", "found nothing")):
        done = svc("orders", "list", "--query", query)
        assert (done.code, done.out) == (0, "null\n")
        assert words in done.err
    assert svc("orders", "list", "--query", "nothing", "-q").err == ""


def test_a_query_of_a_bare_array_is_told_that_it_is_one(svc: Svc, sandbox: Sandbox) -> None:
    """With --all, and of our own lists: nothing of them is in `data`."""
    for argv in (("orders", "list", "--all"), ("profiles", "list"), ("requests", "list")):
        done = svc(*argv, "--query", "data[0].id")
        assert (done.code, done.out) == (0, "null\n")
        if argv[0] != "profiles":
            assert done.err == "The query has found nothing in an empty list.\n"
    svc.ok("profiles", "create", "other", "--base-url", sandbox.url)
    svc.ok(*CREATE_ORDER)
    words = "The query has found nothing; the objects of this array are in [], the first is [0].\n"
    for argv in (("orders", "list", "--all"), ("profiles", "list"), ("requests", "list")):
        assert svc(*argv, "--query", "data[0].id").err == words, argv
        assert svc(*argv, "--query", "[0]").out != "null\n"


def test_people_are_told_once_that_a_query_finds_nothing(svc: Svc, sandbox: Sandbox) -> None:
    """The words are the result."""
    assert sandbox.port
    done = svc("orders", "list", "--query", "nothing", "-o", "human")
    words = "The query has found nothing; the objects of a list are in data[], with --all in [].\n"
    assert (done.code, done.out, done.err) == (0, words, "")
