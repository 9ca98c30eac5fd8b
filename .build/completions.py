"""Completion scripts of what the parsers say: a shell's engine, with the command tree as its code.

An engine is the whole script in the shell's own language, but for lines that begin with `@`: they
are repeated for each long name, set of words, command, combination of shared options or group of
them, with what stands in `<...>` filled in.

The kind of a value is encoded in a few letters: `-` a flag without a value, `t` any text, `f` a
path, `p` a profile, `w.NAME` a word of the set of that name, `i.ord_|pay_` the id of an object that
was shown lately. Several kinds are joined by commas. A leading `+` means repeatable, a leading `%`
that the value is optional.

A developer writes them again after a change of commands or options; a test compares them:

    python .build/completions.py completions
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from svc.cli.commands.tree import tree
from svc.completion import SHELLS
from svc.completion.tree import Command, Option, Tree, Values

Words = tuple[tuple[str, str], ...]
Spec = tuple[str, str, str]  # a name that begins with a dash, its kind, its help in a line

# Not that of an ellipsis.
_FULL_STOP: Final = re.compile(r"(?<=[^.][.]) ")
_ENGINES: Final = Path(__file__).parent / "engines"
_REPEATED: Final = re.compile(r"(?m)^(?:@(\w+) .*\n)(?:^@\1 .*\n)*")


class Dialect(NamedTuple):
    """How a shell writes a text, a set of words, options, kinds of arguments, and groups."""

    quote: Callable[[str], str]
    words: Callable[[Words], str]
    specs: Callable[[Iterable[Spec]], str]
    kinds: Callable[[Iterable[str]], str]
    groups: Callable[[Iterable[str]], str]


def script(shell: str, known: Tree) -> str:
    """Returns the completion script of bash, zsh, fish or powershell.

    Raises:
        ValueError: two different sets of words have the same name.
    """
    name, dialect = _SHELLS[shell]
    engine = (_ENGINES / name).read_text(encoding="utf-8")
    values = _list_values(known, dialect)

    def repeat(found: re.Match[str]) -> str:
        lines = found[0].replace(f"@{found[1]} ", "")
        return "".join(
            re.sub(r"<(\w+)>", lambda place, each=each: each[place[1]], lines)  # type: ignore[misc]
            for each in values[found[1]]
        )

    return _REPEATED.sub(repeat, engine)


def _list_values(known: Tree, dialect: Dialect) -> Mapping[str, list[dict[str, str]]]:
    """What the lines of an engine are repeated for, and what is filled in each time."""
    commands = list(known.root.walk())
    shared = {group: _specs(options) for group, options in known.shared.items()}
    return {
        "long_names": [
            {"short": word, "name": command.name} for command in commands for word in command.short
        ],
        "words": [
            {"name": name, "words": dialect.words(words)}
            for name, words in _sets_of_words(known, commands).items()
        ],
        "commands": [
            {
                "path": dialect.quote(command.name),
                "commands": dialect.words(tuple(_children(command))),
                "options": dialect.specs(_specs(command.options)),
                "arguments": dialect.kinds(
                    ("+" if one.repeatable else "") + kind_of(one.values)
                    for one in command.arguments
                ),
                "groups": dialect.groups(command.shared),
            }
            for command in commands
        ],
        "combinations": [
            {
                "groups": dialect.groups(groups),
                "options": dialect.specs(spec for group in groups for spec in shared[group]),
            }
            for groups in dict.fromkeys(command.shared for command in commands)
        ],
        "groups": [
            {"group": group, "options": dialect.specs(specs)} for group, specs in shared.items()
        ],
    }


def _children(command: Command) -> Iterator[tuple[str, str]]:
    yield from ((child.path[-1], child.summary) for child in command.commands)
    for child in command.commands:
        yield from ((word, f"Short for {child.name}.") for word in child.short)


def _specs(options: tuple[Option, ...]) -> list[Spec]:
    return [
        (name, _kind(option), _FULL_STOP.split(option.help)[0])
        for option in options
        for name in (*option.names, *option.negatives)
    ]


def _kind(option: Option) -> str:
    if not option.takes_value:
        return "-"
    mark = "%" if option.value_optional else "+" if option.repeatable else ""
    return mark + kind_of(option.values)


def kind_of(values: Values) -> str:
    """Encodes what values are possible in the letters of a kind."""
    kinds = (
        f"w.{values.name}" if values.words else "",
        f"i.{'|'.join(values.ids)}" if values.ids else "",
        "f" if values.files else "",
        "p" if values.profiles else "",
    )
    return ",".join(kind for kind in kinds if kind) or "t"


def _sets_of_words(known: Tree, commands: list[Command]) -> dict[str, Words]:
    found: dict[str, Words] = {}
    every = [option.values for command in commands for option in known.options_of(command)]
    every += [argument.values for command in commands for argument in command.arguments]
    for values in every:
        if values.words and found.setdefault(values.name, values.words) != values.words:
            message = f"two sets of words are called {values.name}"
            raise ValueError(message)
    return found


def quote(text: str) -> str:
    """Quotes text in single quotes for a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _quote_joined(texts: Iterable[str]) -> str:
    return quote(" ".join(texts))


def _bash_specs(specs: Iterable[Spec]) -> str:
    # A blank behind the last as well: the engine looks for ` --name:`.
    return quote("".join(f"{name}:{kind} " for name, kind, _ in specs))


def _zsh_specs(specs: Iterable[Spec]) -> str:
    """Formats options as a zsh array of name, kind and help, one option a line."""
    lines = (f"\n        {name} {quote(kind)} {quote(told)}" for name, kind, told in specs)
    return f"({''.join(lines)})"


def _zsh_words(words: Words) -> str:
    """Formats words as an array of `word:meaning`, with colons escaped in both parts."""
    parts = ((part.replace(":", "\\:") for part in pair if part) for pair in words)
    return f"({' '.join(quote(':'.join(pair)) for pair in parts)})"


def quote_for_fish(text: str) -> str:
    """Quotes text in single quotes for fish, where a backslash escapes inside of them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_words(words: Iterable[str]) -> str:
    return " ".join(map(quote_for_fish, words))


def quote_for_powershell(text: str) -> str:
    """Quotes text in single quotes for PowerShell, which doubles a quote inside of them."""
    return "'" + text.replace("'", "''") + "'"


def _powershell_list(items: Iterable[str]) -> str:
    """Formats a list; the comma keeps PowerShell from unrolling a list of one item."""
    found = list(items)
    return f"@(,{found[0]})" if len(found) == 1 else f"@({', '.join(found)})"


def _powershell_quoted(texts: Iterable[str]) -> str:
    return _powershell_list(map(quote_for_powershell, texts))


def _powershell_rows(rows: Iterable[tuple[str, ...]]) -> str:
    return _powershell_list(f"@({', '.join(map(quote_for_powershell, row))})" for row in rows)


_SHELLS: Final = {
    "bash": (
        "engine.bash",
        Dialect(
            quote,
            lambda words: _quote_joined(word for word, _ in words),
            _bash_specs,
            _quote_joined,
            _quote_joined,
        ),
    ),
    "zsh": (
        "engine.zsh",
        Dialect(
            quote,
            _zsh_words,
            _zsh_specs,
            lambda kinds: f"({' '.join(map(quote, kinds))})",
            _quote_joined,
        ),
    ),
    "fish": (
        "engine.fish",
        Dialect(
            quote_for_fish,
            lambda words: _fish_words(part for pair in words for part in pair),
            lambda specs: " ".join(
                f"{name} {_fish_words((kind, told))}" for name, kind, told in specs
            ),
            _fish_words,
            lambda groups: quote_for_fish(" ".join(groups)),
        ),
    ),
    "powershell": (
        "engine.ps1",
        Dialect(
            quote_for_powershell,
            _powershell_rows,
            _powershell_rows,
            _powershell_quoted,
            _powershell_quoted,
        ),
    ),
}


def scripts() -> dict[str, str]:
    """Every completion script by the name of its file, as the parsers are now."""
    known = tree()
    return {name: script(shell, known) for shell, name in SHELLS.items()}


if __name__ == "__main__":
    for name, text in scripts().items():
        Path(sys.argv[1], name).write_text(text, encoding="utf-8", newline="\n")
