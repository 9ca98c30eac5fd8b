"""What every page of help keeps to: sentences, closed sets with their words, ids that exist."""

import re
from collections.abc import Iterator

import pytest

from support.running import Sandbox, Svc, command_tree
from svc.completion.tree import Argument, Option
from svc.sandbox.openapi.document import document
from svc.sandbox.parameters.kinds import Boolean, Choice
from svc.sandbox.store.settings import FIELDS
from svc.service import disputes, orders, payments, payouts, refunds

TREE = command_tree()
COMMANDS = [command for command in TREE.root.walk() if command.path]
ID = re.compile(r"\b(?:ord|pay|rf|po|lcq|evt|dp)_[A-Za-z0-9]{24}\b")
MANY = 30  # words that nobody reads in a help text: currencies, countries


def entries() -> Iterator[tuple[str, str, Option | Argument]]:
    """Every option and argument: of which command, its name, itself."""
    for command in COMMANDS:
        for argument in command.arguments:
            yield command.name, argument.metavar, argument
        for option in command.options:
            yield command.name, option.names[0], option
    for options in TREE.shared.values():
        for option in options:
            yield "", option.names[0], option


def test_every_meaning_is_a_sentence() -> None:
    """With a beginning and an end; what is the default stands behind it, nowhere in it."""
    assert len(list(entries())) > 300
    words = {"auto,", "automatic,", "demo", "fast", "frozen", "next:", "realtime"}
    for command, name, entry in entries():
        text = entry.help
        assert text[:1].isupper() or text.split(" ")[0] in words, (command, name, text)
        assert text.endswith((".", "_...")), (command, name, text)
        assert " ." not in text, (command, name, text)
        assert not re.search(r"[Dd]efault:|the default|\(\d+\)", text), (command, name, text)


def test_a_default_is_told_in_one_way(svc: Svc) -> None:
    """Behind the meaning, whoever knows it: the parser, or the program."""
    for words, told in (
        ("orders list", "How many objects a page has. (default: 25)"),
        ("batch", "1 to 64. (default: 8)"),
        ("keys remind", "is to be replaced. (default: 90d)"),
        ("sandbox pay", "A test card. (default: 4242424242424242)"),
        ("events listen", "The local port. (default: the last one; 1 to 65535)"),
    ):
        shown = " ".join(svc(*words.split(), "--help").out.split())
        assert told in shown
        assert "[default" not in shown


def test_a_closed_set_lists_its_words() -> None:
    """Also where the service is the one that refuses all others."""
    closed = 0
    for command, name, entry in entries():
        known = [word.rstrip("=") for word, _ in entry.values.words]
        if entry.values.closed and len(known) < MANY:
            closed += len(known) > 1
            missing = [word for word in known if word not in entry.help]
            assert not missing, (command, name, missing)
    assert closed > 10


@pytest.mark.parametrize(
    ("noun", "words"),
    [
        ("orders", orders.RESOURCE.statuses),
        ("payments", payments.RESOURCE.statuses),
        ("refunds", refunds.RESOURCE.statuses),
        ("payouts", payouts.RESOURCE.statuses),
        ("disputes", disputes.RESOURCE.statuses),
    ],
)
def test_a_status_is_chosen_from_those_that_are_listed(
    svc: Svc, noun: str, words: tuple[str, ...]
) -> None:
    """At 40 columns as well."""
    for columns in ("80", "40"):
        shown = svc(noun, "list", "--help", env={"COLUMNS": columns}).out
        status = " ".join(shown.partition("--status STATUS")[2].split())
        assert status.startswith(f"Only those that are {', '.join(words[:-1])} or {words[-1]}.")


def test_the_settings_of_the_sandbox_are_listed_with_their_words() -> None:
    (changes,) = next(one for one in COMMANDS if one.name == "sandbox settings").arguments
    for field in FIELDS:
        assert field.name in changes.help
        if isinstance(field.kind, Choice) and field.name != "pinned_version":
            assert f"{field.name}: {field.kind.words[0]} or {field.kind.words[1]}" in changes.help
    flags = changes.help.partition("true or false: ")[2].partition(".")[0]
    assert set(flags.split(", ")) == {f.name for f in FIELDS if isinstance(f.kind, Boolean)}


def test_why_a_bank_refuses_is_listed() -> None:
    """Of refunds and of payouts, as the sandbox knows them."""
    fail = next(one for one in COMMANDS if one.name == "sandbox fail")
    reason = next(one for one in fail.options if one.names[0] == "--reason")
    schemas = document()["components"]["schemas"]
    for noun in ("Refund", "Payout"):
        reasons, _none = schemas[noun]["properties"]["failure_reason"]["anyOf"]
        assert len(reasons["enum"]) > 4
        assert not [word for word in reasons["enum"] if word not in reason.help]


@pytest.mark.parametrize("group", [one.name for one in COMMANDS if one.commands])
def test_the_help_of_a_group_has_an_example(svc: Svc, group: str) -> None:
    """A line to type, beside the names of its commands."""
    shown = svc(*group.split(), "--help").out.replace("svc quotes", "svc landed-cost-quotes")
    assert re.search(rf"Examples?:\n  svc {group} \S+", shown)


def test_the_ids_of_examples_are_in_the_demo(svc: Svc, sandbox: Sandbox) -> None:
    """What is typed as it stands finds something, in the state that the example is about.

    Of a request and a sandbox's key there is none: a demo has sent nothing, and its keys are
    constants. Its endpoint is disabled and in no answer of the API.
    """
    sandbox.control("POST", "/reset", {"fixture": "demo"})
    examples = [line for command in COMMANDS for line in command.examples]
    shown = {found for line in examples for found in ID.findall(line)}
    assert len(shown) > 8
    for identity in sorted(shown):
        assert svc.ok("get", identity)["id"] == identity
    states = {
        "orders update ord_": "requires_payment",
        "orders capture ord_": "authorized",
        "refunds create --payment pay_": "captured",
        "sandbox decide dp_": "under_review",
        "sandbox fail po_": "created",
        "disputes update dp_": "needs_response",
    }
    for beginning, state in states.items():
        line = next(one for one in examples if one.startswith(f"svc {beginning}"))
        (identity,) = ID.findall(line)
        assert svc.ok("get", identity)["status"] == state, line
