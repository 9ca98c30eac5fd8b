"""Writes the completion script of each shell: its engine, with the command tree as shell code.

An engine is the script's fixed part, which looks words up in the functions or variables that are
generated here from `Tables`.

`script` takes the name of a shell and the `Tables`, and returns the script's text. It runs when a
developer calls `python -m svc.cli.commands.tree completions` after a change of commands or options,
not when a user completes a word; the scripts are committed, and a test compares them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from svc.completion.tables import CommandRow, Spec, Tables, Words


@dataclass(frozen=True, slots=True)
class Dialect:
    """The differences between bash and zsh in the generated code.

    Attributes:
        path: the name of the variable that holds the words of the command.
        found: the name of the variable that takes a set of words.
        words: formats a set of words as a value.
        specs: formats a list of options as a value.
        kinds: formats the kinds of arguments as a value.
    """

    path: str
    found: str
    words: Callable[[Words], str]
    specs: Callable[[Iterable[Spec]], str]
    kinds: Callable[[Iterable[str]], str]


def posix_lines(tables: Tables, dialect: Dialect) -> Iterator[str]:
    """Yields the lines of the functions that the engines of bash and zsh call."""
    arms = [f"{short}) {dialect.path}={name} ;;" for short, name in tables.long_names.items()]
    yield from _function("_svc_long_name", f"${dialect.path}", arms)
    sets = {**tables.words, "*": ()}
    arms = [f"{name}) {dialect.found}={dialect.words(words)} ;;" for name, words in sets.items()]
    yield from _function("_svc_words", "$1", arms)
    arms = [line for row in tables.rows for line in _posix_row(row, dialect)]
    yield from _function("_svc_own", "$1", arms)
    arms = [
        f"{quote(' '.join(groups))}) "
        f"shared={dialect.specs(spec for group in groups for spec in tables.shared[group])} ;;"
        for groups in dict.fromkeys(row.shared for row in tables.rows)
    ]
    yield from _function("_svc_shared", "$shared", arms)
    yield from ("_svc_command() {", '  _svc_own "$1"', "  _svc_shared", "}", "")


def _posix_row(row: CommandRow, dialect: Dialect) -> Iterator[str]:
    yield f"{quote(row.path)})"
    yield f"  commands={dialect.words(row.commands)}"
    yield f"  options={dialect.specs(row.options)}"
    yield f"  arguments={dialect.kinds(row.arguments)}"
    yield f"  shared={quote(' '.join(row.shared))}"
    yield "  ;;"


def _function(name: str, asked: str, arms: Iterable[str]) -> Iterator[str]:
    yield from (f"{name}() {{", f"  case {asked} in")
    yield from (f"    {arm}" for arm in arms)
    yield from ("  esac", "}", "")


def quote(text: str) -> str:
    """Quotes text in single quotes for a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _bash_words(words: Words) -> str:
    return quote(" ".join(word for word, _ in words))


def _bash_specs(specs: Iterable[Spec]) -> str:
    # A blank behind the last as well: the engine looks for ` --name:`.
    return quote("".join(f"{spec.name}:{spec.kind} " for spec in specs))


def _zsh_specs(specs: Iterable[Spec]) -> str:
    """Formats options as a zsh array of name, kind and help, one option a line."""
    zsh_lines = (f"\n        {spec.name} {quote(spec.kind)} {quote(spec.help)}" for spec in specs)
    return f"({''.join(zsh_lines)})"


def _zsh_words(words: Words) -> str:
    """Formats words as an array of `word:meaning`, with colons escaped in both parts."""
    parts = ((part.replace(":", "\\:") for part in pair if part) for pair in words)
    return f"({' '.join(quote(':'.join(pair)) for pair in parts)})"


_BASH: Final = Dialect(
    "path", "words", _bash_words, _bash_specs, lambda kinds: quote(" ".join(kinds))
)
_ZSH: Final = Dialect(
    "path_", "fitting", _zsh_words, _zsh_specs, lambda kinds: f"({' '.join(map(quote, kinds))})"
)


def fish_lines(tables: Tables) -> Iterator[str]:
    """Yields the generated lines for fish."""
    yield "function __svc_long_name"
    yield "    switch $argv[1]"
    for short, name in tables.long_names.items():
        yield f"        case {short}"
        yield f"            echo {name}"
    yield from ("        case '*'", "            echo $argv[1]", "    end", "end", "")
    yield from ("function __svc_words", "    switch $argv[1]")
    for name, words in tables.words.items():
        yield f"        case {name}"
        yield f"            printf '%s\\t%s\\n' {_fish_pairs(words)}"
    yield from ("    end", "end", "", "function __svc_command --no-scope-shadowing")
    yield "    switch $argv[1]"
    for row in tables.rows:
        yield from _fish_row(row)
    yield from ("    end", "    switch $shared")
    for groups in dict.fromkeys(row.shared for row in tables.rows):
        yield f"        case {quote_for_fish(' '.join(groups))}"
        specs = [spec for group in groups for spec in tables.shared[group]]
        yield f"            set shared {_fish_specs(specs)}"
    yield from ("    end", "end", "")


def _fish_row(row: CommandRow) -> Iterator[str]:
    yield f"        case {quote_for_fish(row.path)}"
    yield f"            set commands {_fish_pairs(row.commands)}"
    yield f"            set options {_fish_specs(row.options)}"
    yield f"            set arguments {' '.join(map(quote_for_fish, row.arguments))}"
    yield f"            set shared {quote_for_fish(' '.join(row.shared))}"


def _fish_pairs(words: Words) -> str:
    return " ".join(f"{quote_for_fish(word)} {quote_for_fish(meaning)}" for word, meaning in words)


def _fish_specs(specs: Iterable[Spec]) -> str:
    return " ".join(
        f"{spec.name} {quote_for_fish(spec.kind)} {quote_for_fish(spec.help)}" for spec in specs
    )


def quote_for_fish(text: str) -> str:
    """Quotes text in single quotes for fish, where a backslash escapes inside of them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def powershell_lines(tables: Tables) -> Iterator[str]:
    """Yields the generated lines for PowerShell."""
    yield "$script:SvcLongNames = @{"
    for short, name in tables.long_names.items():
        yield f"    {quote_for_powershell(short)} = {quote_for_powershell(name)}"
    yield "}"
    yield "$script:SvcWords = @{"
    for name, words in tables.words.items():
        yield f"    {quote_for_powershell(name)} = {_powershell_pairs(words)}"
    yield "}"
    yield "$script:SvcShared = @{"
    for group, specs in tables.shared.items():
        yield f"    {quote_for_powershell(group)} = {_powershell_specs(specs)}"
    yield "}"
    yield "$script:SvcCommands = @{"
    for row in tables.rows:
        yield from _powershell_row(row)
    yield "}"


def _powershell_row(row: CommandRow) -> Iterator[str]:
    yield f"    {quote_for_powershell(row.path)} = @{{"
    yield f"        Commands = {_powershell_pairs(row.commands)}"
    yield f"        Options = {_powershell_specs(row.options)}"
    yield f"        Arguments = {_list(map(quote_for_powershell, row.arguments))}"
    yield f"        Shared = {_list(map(quote_for_powershell, row.shared))}"
    yield "    }"


def _powershell_pairs(words: Words) -> str:
    return _list(
        f"@({quote_for_powershell(word)}, {quote_for_powershell(meaning)})"
        for word, meaning in words
    )


def _powershell_specs(specs: Iterable[Spec]) -> str:
    facts = ((spec.name, spec.kind, spec.help) for spec in specs)
    return _list(f"@({', '.join(quote_for_powershell(fact) for fact in each)})" for each in facts)


def _list(items: Iterable[str]) -> str:
    """Formats a list of lists; the comma keeps PowerShell from unrolling a list of one item."""
    found = list(items)
    return f"@(,{found[0]})" if len(found) == 1 else f"@({', '.join(found)})"


def quote_for_powershell(text: str) -> str:
    """Quotes text in single quotes for PowerShell, which doubles a quote inside of them."""
    return "'" + text.replace("'", "''") + "'"


Lines = Callable[[Tables], Iterator[str]]

_PLACE: Final = "@tables@\n"
_SHELLS: Final[dict[str, tuple[str, Lines]]] = {
    "bash": ("engine.bash", lambda tables: posix_lines(tables, _BASH)),
    "zsh": ("engine.zsh", lambda tables: posix_lines(tables, _ZSH)),
    "fish": ("engine.fish", fish_lines),
    "powershell": ("engine.ps1", powershell_lines),
}


def script(shell: str, tables: Tables) -> str:
    """Returns the completion script of bash, zsh, fish or powershell."""
    name, lines = _SHELLS[shell]
    engine = files("svc.completion").joinpath(name).read_text(encoding="utf-8")
    before, _, after = engine.partition(_PLACE)
    return before + "".join(f"{line}\n" for line in lines(tables)) + after
