"""The command line that is suggested for one that is none."""

from collections.abc import Iterator
from pathlib import Path

from support.suite.golden import hold_golden
from svc.cli.commands.tree import tree
from svc.cli.framework.registry import COMMANDS
from svc.cli.framework.suggestions import (
    NOUNS_ELSEWHERE,
    OTHER_TOOLS_WORDS,
    OTHERWISE,
    SAME_VERB,
    find_lines,
    split_line,
)
from svc.completion.tree import Command

TOLD = Path(__file__).with_name("suggestions.txt")


def test_a_line_that_is_no_command_leads_to_one() -> None:
    """Whole, with what else was typed; what is far from everything is not guessed at (?)."""
    typed = [line.partition(" -> ")[0] for line in TOLD.read_text(encoding="utf-8").splitlines()]
    assert len(typed) > 100
    found = [(line, [one.line for one in find_lines(split_line(line.split()))]) for line in typed]
    hold_golden(TOLD, "".join(f"{line} -> {'; '.join(lines) or '?'}\n" for line, lines in found))


def _paths(command: Command) -> Iterator[tuple[str, ...]]:
    yield command.path
    for each in command.commands:
        yield from _paths(each)


def test_a_slip_in_any_word_of_any_command_leads_back_to_it() -> None:
    """Two letters that are swapped, in each word that has five."""
    paths = [path for path in _paths(tree().root) if path]
    assert len(paths) > 90
    lost = []
    for path in paths:
        for place, word in enumerate(path):
            slip = f"{word[:2]}{word[3]}{word[2]}{word[4:]}" if len(word) > 4 else word
            typed = [*path[:place], slip, *path[place + 1 :]]
            names = [each.name for each in find_lines(split_line(typed))]
            if slip != word and " ".join(path) not in names:
                lost.append((typed, names))
    assert lost == []


def test_every_word_of_the_tables_leads_to_a_command() -> None:
    """None of them is one, and each line begins with one."""
    paths = {" ".join(path) for path in _paths(tree().root)}
    assert not paths & {*OTHER_TOOLS_WORDS, *OTHERWISE}
    assert not {*NOUNS_ELSEWHERE, *(f"{word}s" for word in NOUNS_ELSEWHERE)} & {*COMMANDS}
    assert {there.partition(" --")[0] for there in OTHER_TOOLS_WORDS.values()} <= paths
    assert {noun for nouns in NOUNS_ELSEWHERE.values() for noun in nouns} <= {*COMMANDS, "quotes"}
    verbs = [verb for line in SAME_VERB for verb in line]
    assert len(verbs) == len({*verbs})
    assert {path.rpartition(" ")[2] for path in paths} >= {line[0] for line in SAME_VERB}
