"""The script for fish: words with what they mean, one a line, parted by a tab."""

from collections.abc import Iterable, Iterator

from svc.completion.tables import Row, Spec, Tables, Words


def lines(tables: Tables) -> Iterator[str]:
    """The tables that the engine asks."""
    yield "function __svc_long_name"
    yield "    switch $argv[1]"
    for short, name in tables.long_names.items():
        yield f"        case {short}"
        yield f"            echo {name}"
    yield from ("        case '*'", "            echo $argv[1]", "    end", "end", "")
    yield from ("function __svc_words", "    switch $argv[1]")
    for name, words in tables.words.items():
        yield f"        case {name}"
        yield f"            printf '%s\\t%s\\n' {_pairs(words)}"
    yield from ("    end", "end", "", "function __svc_command --no-scope-shadowing")
    yield "    switch $argv[1]"
    for row in tables.rows:
        yield from _row(row)
    yield from ("    end", "    switch $shared")
    for groups in dict.fromkeys(row.shared for row in tables.rows):
        yield f"        case {quoted(' '.join(groups))}"
        specs = [spec for group in groups for spec in tables.shared[group]]
        yield f"            set shared {_specs(specs)}"
    yield from ("    end", "end", "")


def _row(row: Row) -> Iterator[str]:
    yield f"        case {quoted(row.path)}"
    yield f"            set commands {_pairs(row.commands)}"
    yield f"            set options {_specs(row.options)}"
    yield f"            set arguments {' '.join(map(quoted, row.arguments))}"
    yield f"            set shared {quoted(' '.join(row.shared))}"


def _pairs(words: Words) -> str:
    return " ".join(f"{quoted(word)} {quoted(meaning)}" for word, meaning in words)


def _specs(specs: Iterable[Spec]) -> str:
    return " ".join(f"{spec.name} {quoted(spec.kind)} {quoted(spec.help)}" for spec in specs)


def quoted(text: str) -> str:
    """Single quotes; in fish a backslash escapes inside of them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
