"""What a person sees on a narrow terminal: ids and amounts stay whole."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.on_terminal import OnTerminal, OpenTerminal
from support.running import Sandbox, Svc

Seen = Callable[..., list[str]]


@pytest.fixture
def seen(on_terminal: OnTerminal) -> Seen:
    """The lines that a command writes: `seen(ARG ..., columns=80)`."""

    def lines(*argv: str, columns: int = 80) -> list[str]:
        text = on_terminal(*argv, columns=columns, NO_COLOR="1")
        # On a busy machine a line says what is waited for, and is gone again.
        return [line.rpartition("\r")[2] for line in text.removesuffix("\n").split("\n")]

    return lines


def test_what_was_triggered_fits_forty_columns(seen: Seen, sandbox: Sandbox) -> None:
    """R63: the event's id stands on a line of its own where it has no room beside its type."""
    assert sandbox.port
    lines = seen("sandbox", "trigger", "dispute.opened", columns=40)
    assert lines[0] == "dispute.opened"
    assert re.fullmatch(r"  evt_\w{24}", lines[1])
    wide = seen("sandbox", "trigger", "order.paid")
    assert re.fullmatch(r"order\.paid  evt_\w{24}", wide[0])


def test_what_was_asked_is_told_whole_at_forty_columns(seen: Seen, sandbox: Sandbox) -> None:
    """A method stands before its path; of a checksum there is its beginning."""
    assert sandbox.port
    seen("webhook-endpoints", "create", "--url", "https://x.test/", "--events", "order.paid")
    seen("orders", "retrieve", "ord_3kPq0aVb7cXd9eYf1gZh2iWj")
    lines = seen("sandbox", "requests", columns=40)
    assert lines[0] == "GET /v1/orders/ord_3kPq0aVb7cXd9eYf1gZh2iWj"
    assert lines[1].startswith("  404  resource_missing")
    last = seen("requests", "list", "--query", "[0].id", "--raw")[0]
    shown = seen("requests", "show", last, columns=40)
    assert any(re.fullmatch(r"  Body SHA-256     [0-9a-f]{16}\.\.\.", line) for line in shown)
    assert any(
        re.search(r" [0-9a-f]{64}$", line) for line in seen("requests", "show", last, columns=90)
    )


def test_requests_say_how_much_and_when_at_eighty_columns(seen: Seen, sandbox: Sandbox) -> None:
    """An amount whose currency is not known is told in fewer words, never as a bare number."""
    sandbox.control("POST", "/events/trigger", {"type": "payment.captured"})
    identity = seen("payments", "list", "--query", "data[0].id", "--raw")[0]
    seen("refunds", "create", "--payment", identity, "--amount", "99900000")
    head, row, *_ = seen("requests", "list")
    assert head.split() == ["ID", "STATUS", "OPERATION", "AMOUNT", "WHEN"]
    assert re.search(r"refused  refunds\.create  99,900,000 minor  \d\d \w{3} \d\d:\d\d$", row)


def test_a_question_keeps_addresses_whole_at_forty_columns(
    open_terminal: OpenTerminal, sandbox: Sandbox
) -> None:
    """It is broken between its words, as what is said elsewhere."""
    with open_terminal("sandbox", "reset", columns=40, NO_COLOR="1") as asked:
        assert asked.answer("Go ahead? [y/N] ", "n\n") == 2
    first, second, *_ = (line.rpartition("\r")[2] for line in asked.seen.splitlines())
    assert first == "This empties the sandbox at"
    assert second == f"    {sandbox.url}, in both"


def test_an_unknown_event_type_is_refused_in_two_lines(svc: Svc, sandbox: Sandbox) -> None:
    """An error is at most four lines: all 18 types would be five."""
    assert sandbox.port
    refused = svc("sandbox", "trigger", "order.payed", "-o", "human")
    assert refused.code == 2
    assert "Did you mean 'order.paid'?" in refused.err
    assert refused.err.splitlines()[1:] == ["  Next: svc help webhooks lists all 18"]
    few = svc("config", "set", "color", "frozn", "-o", "human")
    assert few.err == "Error: color is 'frozn'. Use one of: auto, always, never.\n"


def test_a_started_sandbox_and_what_to_do_next_fit_forty_columns(
    seen: Seen, isolated: Path
) -> None:
    """An address and a command stay whole; the words beside them go on below."""
    assert isolated.exists()
    ready, *rest = seen("sandbox", "start", "--detach", "--port", "0", columns=40)
    try:
        port = ready.rpartition(":")[2]
        assert ready == f"Sandbox ready at http://127.0.0.1:{port}"
        assert rest[0].startswith("    (pid ")
        assert rest[-1] == "Next: svc orders list"
        said = seen("sandbox", "start", "--detach", "--port", "0", "--db", ":memory:", columns=40)
        assert [line for line in said if len(line) > 40 and "eval" not in line] == []
        assert said[-1] == "Then: svc orders list"
    finally:
        seen("sandbox", "stop", "--all")


@pytest.mark.parametrize("typed", ["events list", "orders lst", "orders create"])
def test_words_about_commands_are_broken_where_no_command_is(
    seen: Seen, typed: str, sandbox: Sandbox
) -> None:
    """A sentence that has a command in it is no command: only what is copied stays on its line."""
    assert sandbox.port
    lines = seen(*typed.split(), columns=40)
    assert lines[0] != "Error:"
    assert [line for line in lines if len(line) > 40 and "--item name=" not in line] == []


@pytest.mark.slow
def test_quickstart_fits_eighty_columns(seen: Seen) -> None:
    """The first screen that anybody sees; its commands go on after a backslash."""
    lines = seen("quickstart")
    assert lines[-3].startswith("Done in")
    assert [line for line in lines if len(line) > 80] == []
    assert any(line.endswith(" \\") for line in lines)


def test_whoami_names_no_age_where_there_is_none(svc: Svc, sandbox: Sandbox) -> None:
    """A sandbox's key was never added: people read no empty lines, programs get every name."""
    assert sandbox.port
    shown = svc("whoami", "-o", "human").out
    assert "added" not in shown
    assert "Service time" in shown
    assert svc.ok("whoami")["key_added"] is None
