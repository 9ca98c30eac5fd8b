"""`svc help [TOPIC]`: prints pages about what no single command can explain.

A page is a text file of its name, with parts that `tables` makes of the program's own tables; begin
with `page`, which has their names and lays them out.
"""

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import typer

from svc.api_keys import HELD_BACK
from svc.cli.framework.app import make_app, works_with_invalid_config
from svc.cli.framework.help_page import write_rows
from svc.cli.framework.options import argument
from svc.cli.framework.registry import COMMANDS, SHORT_NAMES
from svc.cli.framework.session import Session
from svc.cli.help.page import ASSUMPTIONS, TOPICS, Page, page_of
from svc.errors import UsageError, build_wrong_choice

app = make_app()

_WIDTH_MAX: Final = 80
_ELSEWHERE: Final = ("ci",)  # whose commands are run where a path from here leads nowhere


@works_with_invalid_config(app)
def show(
    session: Session,
    words: list[str] | None = argument("[TOPIC]", "A topic, or a command.", default=None),
) -> None:
    """Show a page about a topic, or list the topics. With a command, show that command's help.

    Prints text unless -o asks for something else, in a pipe too.

    $ svc help exit-codes
    $ svc help assumptions payouts
    $ svc help assumptions -o json --query "[?mark=='chose'].[name, what]"
    """
    topic, part = " ".join(words or []), ""
    if words and words[0] == ASSUMPTIONS:
        topic, part = ASSUMPTIONS, " ".join(words[1:])
    if words and SHORT_NAMES.get(words[0], words[0]) in COMMANDS and topic not in TOPICS:
        _show_command(session, words)
    elif topic and topic not in TOPICS:
        raise _no_such_topic(topic)
    elif _wants_data(session):
        session.out.value(_data(topic, part))
    else:
        text = _text(topic, part, session)
        command = _pager(session, text)
        if command is None or not _page(session, command, text):
            session.stdout.write(text)


def _no_such_topic(topic: str) -> UsageError:
    """Refuses a word that is no topic, and names the command that it may have been meant for."""
    from svc.cli.framework.suggestions import CommandWords, find_lines
    from svc.nearest import find_near_words

    refused = build_wrong_choice("TOPIC", topic, TOPICS)
    near = find_near_words(topic, TOPICS)
    found = find_lines(CommandWords(topic.split(), [], []))
    if near or found:
        name = near[0] if near else found[0].name
        refused.hint = f"svc help {name}" if name else found[0].line
    return refused


def _wants_data(session: Session) -> bool:
    # A page is for reading, also through `less`: a pipe alone asks for no JSON.
    asked = session.given.everywhere
    named = asked.output or session.env.get("SVC_OUTPUT")
    return asked.query is not None or (named or "human") != "human"


def _text(topic: str, part: str, session: Session) -> str:
    width = min(session.help_width(), _WIDTH_MAX)
    if topic == ASSUMPTIONS:
        from svc.cli.help import assumptions

        return assumptions.text(width, part)
    rows = write_rows((name, summary) for name, (_, summary) in TOPICS.items())
    contents = Page("Help pages: svc help TOPIC", (rows, "For a command: svc COMMAND --help"))
    page = page_of(topic) if topic else contents
    return page.text(
        width,
        person=session.streams.person_reads,
        color=session.help_color(),
        program_name=None if topic in _ELSEWHERE else session.program,
    )


def _data(topic: str, part: str) -> Any:
    if topic == ASSUMPTIONS:
        from svc.cli.help import assumptions

        return assumptions.rows(part)
    if not topic:
        return [
            {"object": "help_page", "topic": name, "summary": summary}
            for name, (_, summary) in TOPICS.items()
        ]
    page = page_of(topic)
    shown = {
        "object": "help_page",
        "topic": topic,
        "summary": TOPICS[topic][1],
        "text": page.text(_WIDTH_MAX),
    }
    return {**shown, "rows": page.rows()}


def _show_command(session: Session, words: list[str]) -> None:
    from svc.cli.framework.app import app as root

    command = typer.main.get_command(root)
    arguments = [*words, "--help"]
    with command.make_context(
        "svc", arguments, obj=session, terminal_width=session.help_width()
    ) as context:
        command.invoke(context)


_USUAL: Final = "less"
# As git has it: colours shown, the page left on the screen, no stop where it fits after all.
_LESS: Final = "FRX"


def _pager(session: Session, text: str) -> list[str] | None:
    """The command of a pager with its whole path, for a terminal that a page is too long for.

    An empty `PAGER` and `cat` mean none, and so does a terminal that knows no movements.
    """
    streams, env = session.streams, session.env
    if not (streams.person_reads and streams.person_answers) or env.get("TERM") == "dumb":
        return None
    if text.count("\n") < _rows(session):
        return None
    try:
        words = shlex.split(env.get("PAGER", _USUAL))
    except ValueError:  # a quote that nothing closes
        return None
    program = shutil.which(words[0], path=env.get("PATH")) if words else None
    # Never one of the folder in which svc was called, where anybody may have put it.
    if program is None or words == ["cat"] or not Path(program).is_absolute():
        return None
    return [program, *words[1:]]


def _rows(session: Session) -> int:
    """How many lines a person sees at a time; more than any page has where that is unknown."""
    given = session.env.get("LINES", "")
    if given.isdigit() and int(given):
        return int(given)
    with suppress(OSError, ValueError):
        lines = os.get_terminal_size(session.streams.stdout.fileno()).lines
        if lines:
            return lines
    return 1_000_000


def _page(session: Session, command: list[str], text: str) -> bool:
    """Has a pager show a text; says whether it could be started."""
    env = {"LESS": _LESS, **session.env}
    for name in HELD_BACK:
        env.pop(name, None)
    session.stdout.flush()
    # Ctrl-C is the pager's: it must be the one that gives the terminal back.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        with (
            subprocess.Popen(command, stdin=subprocess.PIPE, env=env) as pager,  # noqa: S603  theirs
            suppress(BrokenPipeError),  # the reader has closed the pipe
        ):
            pager.communicate(text.encode(session.streams.stdout.encoding or "utf-8", "replace"))
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True
