"""`svc commands` says what the real parsers say, and what they take is what it says."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer

from support.calls import EXAMPLES
from support.running import Sandbox, Svc, command_tree
from svc.cli.commands.tree import rows
from svc.cli.framework.app import app as root_app
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, load
from svc.completion.tree import Argument, Command, Option
from svc.errors import UsageError
from svc.sandbox.openapi.document import OPERATIONS


@cache
def parsers() -> dict[str, Any]:
    """Every command as Typer has it, by its whole name; read apart from the code under test."""
    root = typer.main.get_command(root_app)
    known: dict[str, Any] = {"": root.make_context("svc", [], resilient_parsing=True)}

    def walk(name: str, command: Any, parent: Any) -> None:
        word = name.rpartition(" ")[2]
        context = command.make_context(word, [], parent=parent, resilient_parsing=True)
        known[name] = context
        for verb, child in getattr(command, "commands", {}).items():
            lazy = name == "events" and verb in EVENT_VERBS
            walk(f"{name} {verb}", load("events", verb) if lazy else child, context)

    for noun in COMMANDS:
        walk(noun, load(noun), known[""])
    return known


def commands() -> Iterator[Command]:
    return command_tree().root.walk()


NOUNS = ["", *COMMANDS]


def below(noun: str) -> list[Command]:
    """A noun's commands; of the empty one the root alone."""
    return [command for command in commands() if (*command.path, "")[0] == noun]


def test_the_tree_has_every_command_and_no_other() -> None:
    assert [command.name for command in commands()] == list(parsers())


@pytest.mark.parametrize("noun", NOUNS)
def test_options_and_arguments_are_those_of_the_parser(noun: str) -> None:
    for command in below(noun):
        context = parsers()[command.name]
        params = context.command.get_params(context)
        options = [
            param
            for param in params
            if param.param_type_name == "option" and not getattr(param, "hidden", False)
        ]
        assert {frozenset((*param.opts, *param.secondary_opts)) for param in options} == {
            frozenset((*option.names, *option.negatives))
            for option in command_tree().options_of(command)
        }, command.name
        arguments = [param for param in params if param.param_type_name == "argument"]
        assert [(param.name, param.nargs != 1) for param in arguments] == [
            (each.name, each.repeatable) for each in command.arguments
        ]


@pytest.mark.parametrize("noun", NOUNS)
def test_the_parser_takes_every_option_as_it_is_described(noun: str) -> None:
    """With a value where one is taken, twice where it is repeatable, without where it is a flag.

    A value that is given twice where one is taken is refused.
    """
    for command in below(noun):
        context = parsers()[command.name]
        parser = context.command.make_parser(context)
        for option in command_tree().options_of(command):
            for name in (*option.names, *option.negatives):
                given = [name, "1"] if option.takes_value else [name]
                once = option.takes_value and not option.repeatable
                parsed, rest, _ = parser.parse_args(given * (1 if once else 2))
                assert not rest, (command.name, name)
                if once:
                    with pytest.raises(UsageError, match="is given twice"):
                        parser.parse_args(given * 2)
                values = next(iter(parsed.values()))
                if option.takes_value:
                    wanted = ["1", "1"] if option.repeatable else "1"
                    assert values == wanted, (command.name, name)


@pytest.mark.parametrize("noun", NOUNS)
def test_help_names_what_the_tree_names(noun: str) -> None:
    """Arguments by their metavar, options by a name, commands by theirs, and every example."""
    for command in below(noun):
        text = parsers()[command.name].get_help()
        for option in command_tree().options_of(command):
            assert any(name in text for name in option.names), (command.name, option.names)
        assert all(argument.metavar in text for argument in command.arguments)
        assert all(child.path[-1] in text for child in command.commands)
        assert all(example in text for example in command.examples)


def test_each_row_of_values_is_of_a_parameter_that_exists() -> None:
    """A row that a renamed option leaves behind would never be seen again."""
    known = set()
    for command in commands():
        for option in command_tree().options_of(command):
            known |= {(command.name, option.names[0]), ("", option.names[0])}
        known |= {(command.name, argument.name) for argument in command.arguments}
    assert set(rows()) <= known


TELLING = ("ID", "CODE", "STATUS", "REASON", "METHOD", "TYPE", "HOW", "WHEN", "WHAT", "OPERATION")
OPEN = {  # codes that nobody has a list of, ids of what this machine does not see
    ("payouts create", "--bank-code"),
    ("sandbox fail", "--reason"),
    ("sandbox requests", "--method"),  # HTTP's own
    ("sandbox requests", "--status"),
}


def valued() -> Iterator[tuple[Command, Option | Argument, str]]:
    for command in commands():
        for option in command.options:
            yield command, option, option.names[0]
        for argument in command.arguments:
            yield command, argument, argument.name


def test_what_looks_like_a_set_of_words_has_its_words() -> None:
    """A metavar such as STATUS or ID is a promise to say which."""
    missing = {
        (command.name, name)
        for command, each, name in valued()
        if (each.metavar or "").strip("[].") in TELLING and not each.values
    }
    assert missing <= OPEN


def test_what_stands_for_a_value_is_in_capitals() -> None:
    """`SECONDS` is to be replaced; `won|lost` is a choice of words to be typed as they stand."""
    shown = {each.metavar for *_, each, _ in valued() if each.metavar}
    assert {"SECONDS", "won|lost"} <= shown
    assert [one for one in shown if one not in (one.upper(), one.lower())] == []


def typed(command: Command, stand_in: str) -> list[str]:
    """A command line whose arguments are filled in."""
    words = list(command.path)
    for argument in command.arguments:
        prefix = argument.values.ids[0] if argument.values.ids else ""
        value = argument.values.words[0][0] if argument.values.closed else f"{prefix}{stand_in}"
        words.append(value if argument.required else "")
    for option in command.options:
        name = option.names[0]
        given = EXAMPLES.get(command.name, {}).get(name, stand_in)
        words += [name, given] if option.required or name == "--iban" else []
    return [word for word in words if word]


CLOSED = [
    pytest.param(command, each, name, id=f"{command.name} {name}")
    for command, each, name in valued()
    if each.values.closed
]


@pytest.mark.parametrize(("command", "each", "name"), CLOSED)
def test_a_closed_set_is_what_the_program_takes(
    svc: Svc, command: Command, each: Option | Argument, name: str
) -> None:
    """Another word is refused before anything is sent, and the refusal names the words."""
    if isinstance(each, Option):
        argv = [*typed(command, "abc1"), name, "wrong"]
    else:
        argv = [*command.path, *("dp_1" for other in command.arguments if other.name != name)]
        argv.insert(len(command.path) + command.arguments.index(each), "wrong")
    result = svc(
        *argv, env={"SVC_BASE_URL": "http://127.0.0.1:9", "SVC_API_KEY": "sk_test_sandbox"}
    )
    assert result.code == 2, result.err
    assert all(word in result.err for word, _ in each.values.words), result.err


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_each_path_that_is_offered_is_one_of_the_service(method: str) -> None:
    """A path that is wrong by a letter is answered by nobody."""
    served = {operation.path for operation in OPERATIONS if operation.method == method}
    name = {"GET": "get_path", "POST": "post_path"}[method]
    [offered] = {each.values.words for _, each, _ in valued() if each.values.name == name}
    assert offered
    assert {path for path, _ in offered} <= served


SMALL = 9
JUDGED_NOWHERE = {
    ("sandbox fault add", "--status"),
    ("events listen", "--from-start"),
    ("events log create", "--from"),
}
JUDGED = [
    pytest.param(command, each, name, id=f"{command.name} {name}")
    for command, each, name in valued()
    if each.values.words and not each.values.closed and not each.values.more
    if len(each.values.words) <= SMALL and isinstance(each, Option)
    if name not in ("--fixture", "--method") and (command.name, name) not in JUDGED_NOWHERE
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "each", "name"), JUDGED)
def test_an_open_set_is_what_the_service_takes(
    sandbox: Sandbox, svc: Svc, command: Command, each: Option, name: str
) -> None:
    """The sandbox refuses another word and names the same ones."""
    sale = ["--amount", "100", "--currency", "EUR", "--country", "DE"]
    sale += ["--item", "name=Tea,hs_code=0902.10,quantity=1,unit_amount=100"]
    needs = {"orders create": sale, "refunds create": ["--payment", "pay_1"]}
    argv = typed(command, "abc1")
    more = needs.get(command.name, [])
    pairs = [more[at : at + 2] for at in range(0, len(more), 2)]
    argv += [word for pair in pairs if pair[0] not in argv for word in pair]
    if "ord_abc1" in argv:
        argv[argv.index("ord_abc1")] = svc.ok("orders", "create", *sale)["id"]
    result = svc(*argv, name, "wrong", "-o", "json")
    assert result.code != 0
    missing = [word for word, _ in each.values.words if word not in result.err]
    assert not missing, result.err


# They work while settings are wrong; the reminder's own format decides what a query is for.
REPAIRING = ("config", "profiles", "doctor", "help", "completion", "keys remind", "sandbox env")
PRINTING = [
    command
    for command in commands()
    if not command.commands and command.path and not command.name.startswith(REPAIRING)
]


@pytest.mark.parametrize("command", PRINTING, ids=lambda command: command.name)
def test_a_wrong_query_is_refused_before_anything_else(svc: Svc, command: Command) -> None:
    """Whatever else is wrong; nothing is started, stopped or sent meanwhile."""
    result = svc(*typed(command, "abc1"), "--query", "[")
    assert (result.code, result.error["code"]) == (2, "query_invalid"), result


WRITING = [command for command in commands() if "request" in command.shared]


@pytest.mark.parametrize("command", WRITING, ids=lambda command: command.name)
def test_what_moves_money_is_what_asks_in_live_mode(
    sandbox: Sandbox, svc: Svc, command: Command
) -> None:
    """R19: without --yes and without a person, those and no others are stopped."""
    argv = typed(command, "abc1") if command.name != "post" else ["post", "/v1/refunds"]
    more = ["-d", "metadata[a]=b"] if command.name.endswith("update") else []
    result = svc(*argv, *more, "--live", env={"SVC_API_KEY": "sk_live_sandbox"})
    asked = result.code == 2 and result.error["code"] == "confirmation_required"
    assert asked == command.moves_money, result.err


def test_commands_prints_the_tree_as_json(svc: Svc) -> None:
    """One flat list in the order of help; shared options are told once."""
    shown = svc.ok("commands")
    assert [each["name"] for each in shown["commands"]] == list(parsers())[1:]
    assert shown["program"] == "svc"
    create = next(each for each in shown["commands"] if each["name"] == "refunds create")
    assert create["moves_money"]
    assert create["option_groups"] == ["request", "preview", "global"]
    payment = create["options"][0]
    assert (payment["names"], payment["type"], payment["required"]) == (["--payment"], "text", True)
    assert (payment["group"], payment["id_prefixes"], payment["values"]) == ("own", ["pay_"], None)
    output = next(each for each in shown["options"]["global"] if "-o" in each["names"])
    assert output["environment"] == "SVC_OUTPUT"
    assert output["values"] == ["human", "json", "ndjson", "csv", "id"]
    assert {"code": 7, "name": "unknown"}.items() <= shown["exit_codes"][7].items()


def test_commands_for_a_person_is_a_list_that_fits(svc: Svc) -> None:
    """Each command that does something, with its line; nothing wider than the terminal."""
    result = svc("commands", "-o", "human", env={"COLUMNS": "60"})
    assert max(map(len, result.out.splitlines())) <= 60
    assert "orders retrieve" in result.out
    assert "(Moves money.)" in " ".join(result.out.split())


@pytest.mark.parametrize("lines", ["ndjson", "csv"])
def test_commands_in_lines_is_a_line_a_command(svc: Svc, lines: str) -> None:
    printed = svc("commands", "-o", lines).out
    assert "landed-cost-quotes retrieve" in printed
    assert "exit_codes" not in printed
