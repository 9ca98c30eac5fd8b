"""The pages of `svc help`: the index of topics, the parts of a page, and how they are laid out.

`svc help` prints the `Page` that `page_of` returns for a topic: it parses a `.txt` file of this
folder. `svc commands` lays its list out as a page, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Final, NamedTuple

from svc.cli.framework.figures import fill
from svc.cli.framework.help_page import HEADING, apply_style, columns, fold, wrap_words
from svc.render.program_name import ProgramName

_MARGIN: Final = "  "
# What is typed into a shell; not what goes to a file, where the path may lead nowhere.
_COMMANDS: Final = ("svc ", 'eval "$(svc ')
# Lines that share a variable are a script, which is kept and run elsewhere, by the plain name.
_VARIABLE: Final = re.compile(r"\$\{?[A-Za-z_]|^\w+=\$\(", re.MULTILINE)


class Page(NamedTuple):
    """One topic: a title in one line, and its parts as they are written in a page's file.

    `== TITLE` is a heading, `NAME | MEANING` in every line a table of two columns, `* ` begins a
    list of words. Lines that begin with blanks are for a shell to copy: a terminal breaks long ones
    so that they still run. A file stands between two `~~~`, and nothing breaks its lines.
    Everything else is a paragraph.
    """

    title: str
    parts: tuple[str, ...]

    def text(
        self,
        width: int,
        *,
        person: bool = False,
        color: bool = False,
        program_name: ProgramName | None = None,
    ) -> str:
        """Lays the page out in at most `width` columns; for a `person` shell lines are folded.

        Commands to copy begin with `program_name`.
        """
        form = _Form(width, person, color, program_name)
        blocks = [apply_style(self.title, HEADING, color=color)]
        blocks += ["\n".join(_lay_out(part, form)) for part in self.parts]
        return "\n\n".join(blocks) + "\n"

    def rows(self) -> list[dict[str, str]]:
        """Returns the rows of the page's tables as data."""
        tables = map(read_rows, self.parts)
        return [{"name": name, "meaning": meaning} for table in tables for name, meaning in table]


def read_rows(part: str) -> list[tuple[str, str]]:
    """Reads the names of a part and what they mean; nothing where it is no table."""
    lines = [line.partition(" | ") for line in part.split("\n")]
    is_table = all(mark for _, mark, _ in lines) and not part.startswith(("~~~", "  "))
    return [(name, meaning) for name, _, meaning in lines] if is_table else []


class _Form(NamedTuple):
    width: int
    person: bool
    color: bool
    program_name: ProgramName | None


def read_shell_lines(part: str) -> list[str]:
    """Reads the lines of a part that a shell is to run; nothing where it is of another kind."""
    lines = part.split("\n") if part.startswith(_MARGIN) else []
    return [line.removeprefix(_MARGIN) for line in lines]


def _lay_out(part: str, form: _Form) -> Iterable[str]:
    if part.startswith("~~~"):
        return [(_MARGIN + line).rstrip() for line in part.split("\n")[1:-1]]
    if part.startswith("== "):
        return [apply_style(part.removeprefix("== "), HEADING, color=form.color)]
    if part.startswith("* "):
        return _flow(part.split()[1:], form.width)
    if lines := read_shell_lines(part):
        if _VARIABLE.search("\n".join(lines)):
            form = form._replace(program_name=None)
        return [_MARGIN + line for shown in lines for line in _copy_line(shown, form)]
    if rows := read_rows(part):
        # Beside its meaning stands a name of at most a third of the page.
        return columns(rows, form.width, indent=2, most=form.width // 3, color=form.color)
    return wrap_words(part, form.width)


def _copy_line(line: str, form: _Form) -> list[str]:
    room = form.width - len(_MARGIN)
    if form.program_name is not None and line.startswith(_COMMANDS):
        line = form.program_name.within(line)
    if not form.person:
        return [line]
    # A comment does not go on after a backslash.
    return wrap(line, room, subsequent_indent="# ") if line[0] == "#" else fold(line, room)


def _flow(words: Sequence[str], width: int) -> Iterator[str]:
    column = max(map(len, words)) + len(_MARGIN)
    beside = max((width - len(_MARGIN)) // column, 1)
    for start in range(0, len(words), beside):
        row = words[start : start + beside]
        yield _MARGIN + "".join(f"{word:{column}}" for word in row).rstrip()


ASSUMPTIONS: Final = "assumptions"
TOPICS: Final = {
    "exit-codes": ("exit_codes", "What the exit status of a command means."),
    "environment": ("environment", "Every variable that svc reads."),
    "output": ("output", "Formats, queries, and where errors go."),
    "webhooks": ("webhooks", "Receiving events: verify, answer, skip, replay."),
    "team": ("team", "One log for a team: a receiver, laptops, jobs that share a queue."),
    "team-operations": ("operations", "Running the servers of a team's log."),
    "money": ("money", "Amounts in minor units; paying once."),
    "sandbox": ("sandbox", "The service on this machine: keys, test cards, time."),
    "compare": ("compare", "Whether a service does what the sandbox assumes."),
    "faults": ("faults", "What can be made to go wrong in a sandbox, on purpose."),
    "ci": ("ci", "Running svc without a person at the terminal."),
    "agents": ("agents", "Commands as tools for an agent: what it may do, and who is asked."),
    "timeline": ("timeline", "One story for any id, and what is missing in it."),
    "limits": ("limits", "How much a machine may refund, pay out or capture in an hour or a day."),
    "audit": ("audit", "Which events never came, told from the objects of the service."),
    "examine": ("examine", "Testing a webhook handler with good and bad deliveries."),
    "reminders": ("reminders", "When keys are to be replaced, and who says so."),
    "moving": ("moving", "Taking profiles, keys and the journal to another machine."),
    "comparison": ("comparison", "svc beside the Stripe CLI."),
    "changes": ("changes", "What is new, and what changed for scripts."),
    ASSUMPTIONS: ("assumptions", "What the specification says, and what we chose."),
}


def page_of(topic: str) -> Page:
    """Returns the page of a topic but `assumptions`; raises KeyError for an unknown topic."""
    name, _ = TOPICS[topic]
    text = fill(Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8"))
    if "\n@ " in text:
        from svc.cli.help.tables import text_of

        text = re.sub(r"(?m)^@ (\w+)$", lambda found: text_of(found[1]), text)
    # Parts have an empty line between them.
    title, *parts = re.findall(r"(?s)~~~\n.*?\n~~~(?=\n)|[^\n].*?(?=\n\n|\n\Z)", text)
    return Page(title, tuple(parts))
