"""What will be gone is told a release before, to people alone."""

from types import SimpleNamespace

import pytest

from support.running import command_tree
from svc import RELEASE
from svc.cli.framework.registry import DEPRECATIONS, Deprecation, warn_of_deprecated
from svc.cli.help.page import page_of

PLANTED = Deprecation("batch", "--again", "0.2.0", "0.3.0", "--run LABEL")


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def complaints(row: Deprecation, release: str = RELEASE, changes: str | None = None) -> list[str]:
    """What is wrong with a row at a release; its command is in the tree, its words in the notes."""
    changes = page_of("changes").text(10_000) if changes is None else changes
    command = next((one for one in command_tree().root.walk() if one.name == row.command), None)
    options = (
        {} if command is None else {name: one.help for one in command.options for name in one.names}
    )
    text = "" if row.option is None else options.get(row.option, "")
    found = {
        "no such command or option": command is None or row.option not in {None, *options},
        "told too late": version(row.since) >= version(row.gone),
        "to be taken out": version(row.gone) <= version(release),
        "not in the notes": row.name not in changes,
        "its help is silent": row.option is not None and "deprecated" not in text.lower(),
    }
    return [words for words, is_so in found.items() if is_so]


def test_each_is_announced_and_taken_out_in_time() -> None:
    """A8: warned one version before."""
    assert {row.name: found for row in DEPRECATIONS if (found := complaints(row))} == {}


@pytest.mark.parametrize(
    ("row", "release", "wrong"),
    [
        (PLANTED, "0.2.0", []),
        (PLANTED, "0.3.0", ["to be taken out"]),
        (PLANTED._replace(since="0.3.0"), "0.2.0", ["told too late"]),
        (PLANTED._replace(option="--gone"), "0.2.0", ["no such command or option"]),
    ],
)
def test_wrong_rows_are_found(row: Deprecation, release: str, wrong: list[str]) -> None:
    """The help and the notes of what is not deprecated say nothing of it."""
    silent = "its help is silent"
    assert [one for one in complaints(row, release, row.name) if one != silent] == wrong
    assert silent in complaints(row, release, row.name)
    assert "not in the notes" in complaints(row, release, "")


@pytest.mark.parametrize(
    ("argv", "person", "quiet", "told"),
    [
        (["batch", "refunds.create", "f.csv", "--again"], True, False, 1),
        (["batch", "refunds.create", "f.csv", "--again=yes"], True, False, 1),
        (["batch", "refunds.create", "f.csv"], True, False, 0),
        (["batch", "refunds.create", "f.csv", "--again"], False, False, 0),
        (["batch", "refunds.create", "f.csv", "--again"], True, True, 0),
    ],
)
def test_people_are_told_once_and_programs_never(
    argv: list[str], person: bool, quiet: bool, told: int
) -> None:
    """On stderr, with what to type in its place."""
    said: list[str] = []
    out = SimpleNamespace(quiet=quiet, warn=said.append)
    streams = SimpleNamespace(person_watches=person)
    session = SimpleNamespace(argv=argv, repair_out=out, streams=streams)
    warn_of_deprecated(session, "svc batch", (PLANTED,))
    warn_of_deprecated(session, "svc orders list", (PLANTED,))
    assert said == ["svc batch --again is deprecated and gone in 0.3.0. Use --run LABEL"] * told
