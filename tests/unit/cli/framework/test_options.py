"""The options that many commands share are told from a command's own by their names."""

import pytest

from svc.cli.commands.tree import tree
from svc.cli.framework.options import DECLARED, SharedOptions, options_of
from svc.completion.tree import Command

pytestmark = pytest.mark.smoke


def test_shared_options_are_those_that_a_session_has_places_for() -> None:
    """Each set's parameters and the values that commands read have the same names."""
    given = SharedOptions()
    for name in DECLARED:
        places = {word for word in vars(type(getattr(given, name))) if not word.startswith("_")}
        assert {option.name for option in options_of(name)} == places


def test_no_command_names_an_option_of_its_own_like_a_shared_one() -> None:
    """It would be taken for the shared one: they are told apart by name."""
    sets = {"request": "write", "list": "listing", "preview": "preview", "global": "everywhere"}

    def check(command: Command) -> None:
        shared = {o.name for s in command.shared for o in options_of(sets[s])}
        own = {o.names[0].removeprefix("--").replace("-", "_") for o in command.options}
        own |= {argument.name for argument in command.arguments}
        taken = own & shared
        assert not {name for name in taken if not _means_more(command, name)}, command.path
        for child in command.commands:
            check(child)

    check(tree().root)


def _means_more(command: Command, name: str) -> bool:
    """Shared options with values of their own here are listed with the command's own."""
    from svc.cli.commands.tree import is_named

    return is_named(" ".join(command.path), f"--{name.replace('_', '-')}")
