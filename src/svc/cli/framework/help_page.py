"""Formats the `--help` page of a command: headings, two columns, colours, wrapped to the terminal.

The classes of `app` write their help through a `HelpPage` instead of Typer's own formatter; `svc
help` and `svc quickstart` lay out columns and shell lines with the same functions.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, get_args, get_origin

if TYPE_CHECKING:
    from svc.render.program_name import ProgramName

# A heading is bold and green, a name cyan: basic colours, for a dark ground and a light one.
HEADING: Final = "section"
NAME: Final = "name"
_GAP: Final = 2
_FIRST_MAX: Final = 30  # columns of the names; a longer one stands on a line of its own
_SECOND_MIN: Final = 24  # columns of a meaning; where there are fewer it stands below its name
_CONTINUED: Final = 2  # columns that the next lines of a long name are set in
_BELOW: Final = 6
_NARROWEST: Final = 10
_WORD: Final = r"""(?:[^\s'"]|'[^']*'|"[^"]*")+"""
_TOGETHER: Final = rf"-[^\s=]+ (?!-){_WORD}|{_WORD}"  # an option keeps its value


class HelpPage:
    """Collects a help page of `width` columns; the parser writes it through these methods.

    With `color` it holds SGR codes; with `fold` examples that are too long go on after a
    backslash, so that they can still be copied. Without it they are one line each, however long.
    They begin with `program_name`.
    """

    def __init__(
        self,
        width: int,
        *,
        color: bool = False,
        fold: bool = False,
        program_name: "ProgramName | None" = None,
    ) -> None:
        self.width = width
        self._called = program_name
        self.color = color
        self._fold = fold
        self._indent = 0
        self._parts: list[str] = []

    @classmethod
    def of(cls, ctx: Any) -> "HelpPage":
        """A page for the person or program that runs the command of a parser's context."""
        session = ctx.obj
        width = ctx.terminal_width or 80
        if session is None:
            return cls(width)
        fold = session.streams.person_reads
        return cls(width, color=session.help_color(), fold=fold, program_name=session.program)

    def write(self, text: str) -> None:
        self._parts.append(text)

    def write_usage(self, name: str, arguments: str = "") -> None:
        first = f"Usage: {name} "
        indent = " " * (len(first) if self.width - len(first) >= _SECOND_MIN else 4)
        # The parser puts what must be given into braces, which are not typed.
        plain = arguments.replace("{", "").replace("}", "")
        lines = wrap_words(first + plain, self.width, indent)
        self.write(self._style("Usage:", HEADING) + "\n".join(lines).removeprefix("Usage:"))
        self.write("\n")

    def write_paragraph(self) -> None:
        if self._parts:
            self.write("\n")

    def write_text(self, text: str) -> None:
        """Writes paragraphs, which an empty line parts, each broken anew."""
        margin, room = " " * self._indent, self.width - self._indent
        paragraphs = [
            [margin + line for line in wrap_words(self._callable(paragraph), room)]
            for paragraph in text.split("\n\n")
        ]
        self.write("\n\n".join("\n".join(lines) for lines in paragraphs) + "\n")

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None:
        """Writes names and what they mean, beside each other or, on a narrow page, below."""
        lines = columns(rows, self.width, indent=self._indent, most=_FIRST_MAX, color=self.color)
        self.write("".join(f"{line}\n" for line in lines))

    def write_examples(self, examples: Sequence[str], title: str = "") -> None:
        """Writes example lines to be copied."""
        if examples:
            self.write_paragraph()
            self.write_heading(title or ("Examples" if len(examples) > 1 else "Example"))
        for example in map(self._callable, examples):
            lines = fold(example, self.width - 2) if self._fold else [example]
            self.write("".join(f"  {line}\n" for line in lines))

    def write_heading(self, title: str) -> None:
        self.write(self._style(f"{title}:", HEADING) + "\n")

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        self.write_paragraph()
        self.write_heading(title)
        with self.indentation():
            yield

    @contextmanager
    def indentation(self) -> Iterator[None]:
        self._indent += 2
        try:
            yield
        finally:
            self._indent -= 2

    def getvalue(self) -> str:
        return "".join(self._parts)

    def _callable(self, text: str) -> str:
        return text if self._called is None else self._called.within(text)

    def _style(self, text: str, style: str) -> str:
        return apply_style(text, style, color=self.color)


def columns(
    rows: Sequence[tuple[str, str]], width: int, *, indent: int, most: int, color: bool
) -> Iterator[str]:
    """Lays names and meanings out beside each other, or each meaning below where it is narrow.

    A name of more than `most` columns stands on a line of its own in any case.
    """
    longest = min(max((len(name) for name, _ in rows), default=0), most)
    column = indent + longest + _GAP
    word = max((len(word) for _, meaning in rows for word in meaning.split()), default=0)
    beside = width - column >= max(_SECOND_MIN, word)
    start = column if beside else _BELOW
    for name, meaning in rows:
        lines = wrap_words(meaning, width - start)
        *above, last = wrap_words(name, width - indent, " " * _CONTINUED)
        yield from (" " * indent + apply_style(part, NAME, color=color) for part in above)
        first = lines.pop(0) if beside and len(name) <= longest and lines else ""
        gap = " " * (start - indent - len(last)) if first else ""
        yield " " * indent + apply_style(last, NAME, color=color) + gap + first
        yield from (f"{'':{start}}{line}" for line in lines)


def write_rows(meanings: Iterable[tuple[str, str]]) -> str:
    """Writes names and what they mean as a page of `svc help` has them in its file."""
    return "\n".join(map(" | ".join, meanings))


def wrap_words(text: str, width: int, indent: str = "") -> list[str]:
    """Breaks a text between its words, as `textwrap` does, which takes a while to load."""
    return _fill(text.split(), max(width, _NARROWEST), indent)


def _fill(words: Iterable[str], width: int, indent: str) -> list[str]:
    """Sets words one after another, and begins a line with `indent` where one is full."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(indent + word if lines else word)
    return lines


def apply_style(text: str, style: str, *, color: bool) -> str:
    """Text in a style, HEADING or NAME, where colour is wanted."""
    if not color:
        return text
    from svc.render.style import paint

    return paint(text, style)


def fold(command: str, width: int) -> list[str]:
    """Breaks a shell command between its words; each line but the last ends with a backslash."""
    if len(command) <= width:
        return [command]
    words = re.findall(_TOGETHER, command)
    if " ".join(words) != command:  # a quote that nothing closes
        return [command]
    *lines, last = _fill(words, width - 2, "    ")
    return [*(f"{line} \\" for line in lines), last]


def help_of(command: Any, ctx: Any) -> str:
    """Writes a command's help for its reader: in colour on a terminal, as wide as that is."""
    page = HelpPage.of(ctx)
    ctx.color = page.color  # else the parser takes out what is not for its idea of a terminal
    command.format_help(ctx, page)
    return page.getvalue().rstrip("\n")


def first_line(command: Any) -> str:
    """Returns the first line of a command's help, whole; Typer's own function shortens it."""
    return str(command.get_short_help_str(limit=1000))


def format_parameters(command: Any, ctx: Any, formatter: Any) -> None:
    """Writes arguments and options in their groups; global options by name only, below the root."""
    groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    required = {row.name for row in getattr(command.callback, "rows", ()) if row.is_required}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            is_required = param.required or not required.isdisjoint(param.opts)
            meaning = (param.help or "") + format_facts(param, is_required=is_required)
            group = getattr(param, "rich_help_panel", None) or f"{param.param_type_name.title()}s"
            groups.setdefault(group, []).append((record[0], meaning))
    shared = groups.pop("Global options", [])
    for title in filter(groups.get, groups):
        with formatter.section(title):
            formatter.write_dl(groups[title])
    if ctx.parent is None:
        with formatter.section("Global options"):
            formatter.write_dl(shared)
        return
    with formatter.section("Global options (see svc --help)"):
        formatter.write_text(
            " ".join(re.findall(r"--[a-z-]+", " ".join(name for name, _ in shared)))
        )


class TakenValue(NamedTuple):
    """What a parameter takes: `int`, `float` or another type, within limits; or a choice."""

    type: str
    minimum: float | None
    maximum: float | None
    choices: Sequence[str] = ()


def read_taken(param: Any) -> TakenValue:
    """Returns what a parameter of the parser takes.

    Typer 0.28 says it by an object, the parameter's type. Since 0.29, which people may have for
    other programs, the limits are the parameter's own, and the type is the annotation.
    """
    if hasattr(param, "type"):
        kind = param.type
        limits = getattr(kind, "min", None), getattr(kind, "max", None)
        return TakenValue(kind.name.partition(" ")[0], *limits, getattr(kind, "choices", ()))
    written = param.type_descriptor.annotation
    inner = (written, *get_args(written))
    name = next((one.__name__ for one in (int, float) if one in inner), "text")
    limits = getattr(param, "min", None), getattr(param, "max", None)
    choices = next((get_args(one) for one in inner if get_origin(one) is Literal), ())
    return TakenValue(name, *limits, choices)


def format_facts(param: Any, *, is_required: bool) -> str:
    """Formats default, limits and required behind a meaning, such as ` (default: 8; 1 to 64)`."""
    default, told = param.default, param.show_default
    if not isinstance(told, str):
        is_told = told and default is not None and default is not False
        told = str(default).removesuffix(".0") if is_told else ""
    found = [f"default: {told}"] if told else []
    _, low, high, _ = read_taken(param)
    if low is not None:
        found.append(f"at least {low}" if high is None or high >= 2**31 else f"{low} to {high}")
    found += ["required"] if is_required else []
    return f" ({'; '.join(found)})" if found else ""
