"""`svc help`: pages that say what the code does, and the table of assumptions."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from support.running import Svc
from svc.cli.framework.options import options_of
from svc.cli.framework.registry import COMMANDS, EVENT_VERBS, load
from svc.cli.help import assumptions
from svc.cli.help.page import ASSUMPTIONS, TOPICS, Page, page_of, read_shell_lines
from svc.errors import ExitCode
from svc.inputs import FORMATS
from svc.sandbox.fidelity import ROWS
from svc.sandbox.reference.cards import BEHAVIOURS
from svc.service.facts import EVENT_TYPES, SANDBOX_KEYS

SOURCES = Path(__file__).parents[3] / "src" / "svc"
PAGES = [topic for topic in TOPICS if topic != ASSUMPTIONS]


def copied_lines(part: str) -> Sequence[str]:
    """What a part of a page has to be copied."""
    if part.startswith("~~~"):
        return part.splitlines()[1:-1]
    return read_shell_lines(part)


def names_in(topic: str) -> set[str]:
    return {row["name"] for row in page_of(topic).rows()}


def test_the_promised_topics_are_there(svc: Svc) -> None:
    assert list(TOPICS) == (
        "exit-codes environment output webhooks team team-operations money sandbox compare faults ci "
        "agents timeline limits audit examine reminders moving comparison changes "
        "assumptions".split()
    )
    shown = svc("help")
    assert shown.code == 0
    assert all(re.search(rf"^  {topic} +\w", shown.out, re.MULTILINE) for topic in TOPICS)


@pytest.mark.parametrize("topic", TOPICS)
def test_page_is_text_in_a_pipe(svc: Svc, topic: str) -> None:
    """A page is for reading, also through `less`: only -o or --query make data of it."""
    shown = svc("help", topic)
    assert shown.code == 0
    assert shown.err == ""
    assert not shown.out.startswith(("{", "["))
    assert shown.out.count("\n") > 15


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("topic", PAGES)
def test_page_fits_its_width(topic: str, width: int) -> None:
    """No line of prose or of a table is wider than the terminal; what is to be copied may be."""
    page = page_of(topic)
    copied = {f"  {line}" for part in page.parts for line in copied_lines(part)}
    lines = set(page.text(width).splitlines()) - copied
    assert [line for line in lines if len(line) > width and " " in line.strip()] == []


def test_page_goes_out_as_data(svc: Svc) -> None:
    """With -o json a page is one object: topic, summary, text and the rows of its tables."""
    shown = svc.ok("help", "exit-codes", "-o", "json")
    assert set(shown) == {"object", "topic", "summary", "text", "rows"}
    assert {"name": "7", "meaning": shown["rows"][7]["meaning"]} in shown["rows"]
    listed = svc.ok("help", "-o", "json")
    assert [entry["topic"] for entry in listed] == list(TOPICS)


def test_every_exit_code_is_explained() -> None:
    """The page has each code of the program and no other (R71)."""
    assert names_in("exit-codes") == {str(int(code)) for code in ExitCode}


def test_every_variable_is_explained() -> None:
    """The page has each SVC_ variable that the sources name, and no other."""
    named: set[str] = set()
    for path in SOURCES.rglob("*.py"):
        if "help" not in path.parts:
            named |= set(re.findall(r"\bSVC_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8")))
    assert {name for name in names_in("environment") if name.startswith("SVC_")} == named


def test_pages_state_the_facts_of_the_code() -> None:
    """Formats, event types, keys and test cards are those of the program."""
    assert names_in("output") == set(FORMATS)
    assert all(name in page_of("webhooks").text(80) for name in EVENT_TYPES)
    assert names_in("sandbox") == {*SANDBOX_KEYS.values(), *BEHAVIOURS}


def commands_in(page: Page) -> list[str]:
    lines = [line for part in page.parts for line in read_shell_lines(part)]
    # eval "$(svc sandbox env)" and order=$(svc …) hold a command, too.
    inner = [re.sub(r'.*\$\((.*)\)"?$', r"\1", line) for line in lines]
    return [line.partition(" > ")[0] for line in inner if line.startswith("svc ")]


def option_names(command: Any) -> set[str]:
    shared = [*options_of("everywhere"), *options_of("write"), *options_of("listing")]
    return {name for each in [*command.params, *shared] for name in each.opts}


@pytest.mark.parametrize("topic", PAGES)
def test_commands_on_a_page_exist(topic: str) -> None:
    """Each command that a page shows is one, with the options that it shows."""
    for line in commands_in(page_of(topic)):
        words = shlex.split(line)[1:]
        command = load(words[0])
        if words[0] == "events" and words[1] in EVENT_VERBS:
            command = load("events", words[1])
        for word in words[1:]:
            command = getattr(command, "commands", {}).get(word, command)
        wanted = {word for word in words if word.startswith("-") and len(word) > 1}
        assert wanted <= option_names(command), line


@pytest.mark.parametrize("columns", ["120", "40"])
def test_assumptions_show_every_row_and_its_test(svc: Svc, columns: str) -> None:
    """The table for people: 80 columns, grouped by subject, each row with mark, name and test.

    Where there are fewer columns the name of a field stays whole.
    """
    shown = svc("help", "assumptions", env={"COLUMNS": columns})
    assert shown.code == 0
    flat = " ".join(shown.out.split())
    for row in ROWS:
        mark = "says" if row.mark == "says" else "CHOSE"
        assert f"{mark} {row.name}: {row.what}" in flat
        assert row.test.partition("::")[2] in flat
    assert all(row.subject.upper() in shown.out.splitlines() for row in ROWS)
    broken = [line for line in shown.out.splitlines() if " " in line[9:]]  # behind its mark
    assert max(map(len, broken)) <= int(columns)
    assert max(map(len, shown.out.splitlines())) <= 80


def test_assumptions_of_one_part_alone(svc: Svc) -> None:
    """By the name of a subject, in the singular or plural; of none there is, the names are shown."""
    shown = svc("help", "assumptions", "payouts")
    assert "PAYOUT\n" in shown.out
    assert "DISPUTE\n" not in shown.out
    told = svc.ok("help", "assumptions", "landed-cost", "-o", "json")
    assert {row["subject"] for row in told} == {"Landed-cost quote"}


def test_assumptions_are_data_too(svc: Svc) -> None:
    assert svc.ok("help", "assumptions", "-o", "json") == [asdict(row) for row in ROWS]
    query = "[?mark=='chose' && subject=='Events'].name"
    chosen = svc.ok("help", "assumptions", "--query", query, "-o", "json")
    assert "payment.processing" in chosen
    assert "order.paid" not in chosen


def test_assumptions_group_rows_by_subject() -> None:
    lines = assumptions.text(80).splitlines()
    headings = [line for line in lines if line.isupper() and not line.startswith(" ")]
    assert len(headings) == len(set(headings)) == len({row.subject for row in ROWS})


def test_help_of_a_command(svc: Svc) -> None:
    assert svc("help", "orders", "create").out == svc("orders", "create", "--help").out
    assert svc("help", "quotes").out == svc("quotes", "--help").out
    assert svc("help", "sandbox").out.startswith("Sandbox\n")


@pytest.mark.effect_of("svc", "--help")
def test_every_command_is_known_to_help() -> None:
    """No topic hides a command but `sandbox`, whose page leads to the command's own help."""
    assert set(TOPICS) & set(COMMANDS) == {"sandbox", "timeline"}
    assert "svc sandbox --help" in page_of("sandbox").text(80)
