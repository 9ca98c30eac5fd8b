"""A mistyped word is answered with the one that was meant."""

import pytest

from support.running import Sandbox, Svc
from svc.sandbox.store.settings import FIELDS

CASES = {
    "help order": "Next: svc help orders",
    "orders create --amout 3": "Next: svc orders create --amount 3",
    "orders list --statsu paid": "Next: svc orders list --status paid",
    "sandbox trigger order.payed": "'order.paid'",
    "help moeny": "'money'",
    "config set ouput json": "output",
    "get orders": "Next: svc get /v1/orders",
}


@pytest.mark.parametrize("line", CASES)
def test_a_mistyped_word_is_answered_with_the_nearest(
    svc: Svc, sandbox: Sandbox, line: str
) -> None:
    """Commands, options, event types, topics and settings alike; exit 2, nothing is done."""
    result = svc(*line.split())
    assert (result.code, result.out) == (2, "")
    assert CASES[line] in result.err


@pytest.mark.parametrize(
    ("line", "param"),
    [
        ("sandbox clock frozn", "MODE"),
        ("sandbox env --shell frozn", "--shell"),
        ("completion frozn", "SHELL"),
        ("sandbox decide dp_x frozn", "OUTCOME"),
        ("events listen --ack frozn", "--ack"),
        ("events listen --tunnel frozn", "--tunnel"),
        ("orders list --color frozn", "--color"),
        ("keys remind --format frozn", "--format"),
        ("batch frozn FILE", "OPERATION"),
        ("sandbox start --fixture frozn", "--fixture"),
        ("sandbox trigger frozn", "TYPE"),
        ("sandbox fault add --connection frozn", "--connection"),
        ("sandbox keys create --type frozn", "--type"),
        ("events listen --events frozn", "--events"),
        ("help frozn", "TOPIC"),
    ],
)
def test_every_wrong_choice_is_told_in_one_sentence(
    svc: Svc, sandbox: Sandbox, line: str, param: str
) -> None:
    """Which option it is, what stands there, and what can stand there; the same for a program."""
    result = svc(*line.split(), "-o", "json")
    assert result.code == 2
    assert result.error["param"] == param
    assert result.error["message"].startswith(f"{param} is 'frozn'.")
    assert " Use one of: " in result.error["message"]
    told = svc(*line.split(), "-o", "human").err.splitlines()
    assert told[0].startswith(f"Error: {param} is 'frozn'.")
    assert " Use one of: " in told[0] or told[1:] == ["  Next: svc help webhooks lists all 18"]


def test_a_wrong_setting_is_told_in_the_same_sentence(svc: Svc) -> None:
    """Of the file's values and of the environment's as of an option's."""
    said = svc("config", "set", "color", "frozn", "-o", "human")
    assert said.err == "Error: color is 'frozn'. Use one of: auto, always, never.\n"
    said = svc("whoami", env={"SVC_OUTPUT": "frozn"})
    assert said.error["message"].startswith("SVC_OUTPUT is 'frozn'. Use one of: human, json, ")


def test_settings_of_a_sandbox_have_the_names_that_are_typed(svc: Svc, sandbox: Sandbox) -> None:
    """As those of the configuration; a wrong value is answered with where all of them stand."""
    assert sandbox.port
    shown = svc("sandbox", "settings", "-o", "human").out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert {"settlement_currency USD", "allow_http_webhooks yes"} <= set(lines)
    assert set(svc.ok("sandbox", "settings")) == {"object", *(field.name for field in FIELDS)}
    for wrong in ("rate_limit=maybe", "rate_limits=on"):
        refused = svc("sandbox", "settings", wrong, "-o", "human")
        assert "  Next: All with their words: svc sandbox settings --help\n" in refused.err


def test_nonsense_is_not_guessed_at(svc: Svc) -> None:
    """A far-fetched guess would be worse than none."""
    result = svc("help", "qqqqq")
    assert result.code == 2
    assert "Did you mean" not in result.err


@pytest.mark.parametrize(
    "line",
    [
        *("orders create --limit 3", "orders create --order x", "orders create --since 7d"),
        *("orders retrieve ord_x --curency EUR", "orders list --payment ord_x"),
        *("orders list --port 3", "orders cancel ord_x --liv", "orders cancel ord_x --yess"),
        *("completion bash --install --forc", "orders create --new-reqest"),
    ],
)
def test_what_is_no_slip_is_not_guessed_at(svc: Svc, line: str) -> None:
    """Nor does any guess move to live mode, or skip a question that was not asked."""
    result = svc(*line.split(), "-o", "human")
    assert result.code == 2
    assert "No such option: --" in result.err
    assert "Did you mean" not in result.err


def test_all_that_is_near_is_named(svc: Svc) -> None:
    """Nobody can tell which of them was meant."""
    told = svc("orders", "create", "--curr", "EUR").error["message"]
    assert told.startswith("No such option: --curr. Did you mean '--currency' or '--curl'?")


@pytest.mark.parametrize("line", ["payments list --order", "payments list --live=x"])
def test_every_complaint_names_its_command(svc: Svc, line: str) -> None:
    """Also where the parser does not: the page to read is not the root's."""
    result = svc(*line.split())
    assert result.code == 2
    assert "svc payments list --help" in result.err


def test_key_as_an_argument_is_refused_with_the_way_to_give_it(svc: Svc) -> None:
    """R39: and it is not repeated."""
    result = svc("keys", "add", "sk_test_abcdefgh12345678")
    assert result.code == 2
    assert "svc keys add asks for it" in result.err
    assert "abcdefgh" not in result.err
