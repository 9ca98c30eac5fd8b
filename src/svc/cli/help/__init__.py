"""`svc help`: pages about what no single command can explain."""

from typing import Annotated, Any, Final

import typer

from svc.cli.framework.app import new_app, repairing
from svc.cli.framework.registry import COMMANDS, SHORT_NAMES
from svc.cli.framework.session import Session
from svc.cli.help.page import ASSUMPTIONS, TOPICS, Page, Rows, page_of
from svc.errors import wrong_choice

app = new_app()

_WIDTH_MAX: Final = 80


@repairing(app)
def show(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]", help="A topic, or a command.", show_default=False),
    ] = None,
) -> None:
    """Show a page about a topic, or list the topics. With a command, show that command's help.

    Prints text unless -o asks for something else, in a pipe too.

    $ svc help exit-codes
    $ svc help assumptions -o json --query "[?mark=='chose'].[name, what]"
    """
    session = Session.of(ctx)
    topic = " ".join(words or [])
    if words and SHORT_NAMES.get(words[0], words[0]) in COMMANDS and topic not in TOPICS:
        _show_command(session, words)
    elif topic and topic not in TOPICS:
        raise wrong_choice("TOPIC", topic, TOPICS)
    elif _wants_data(session):
        session.out.value(_data(topic))
    else:
        from svc.cli.help.pager import print_page

        print_page(session, _text(topic, session))


def _wants_data(session: Session) -> bool:
    # A page is for reading, also through `less`: a pipe alone asks for no JSON.
    asked = session.given.everywhere
    named = asked.output or session.env.get("SVC_OUTPUT")
    return asked.query is not None or (named or "human") != "human"


def _text(topic: str, session: Session) -> str:
    width = min(session.help_width(), _WIDTH_MAX)
    if topic == ASSUMPTIONS:
        from svc.cli.help import assumptions

        return assumptions.text(width)
    page = page_of(topic) if topic else _contents()
    return page.text(
        width,
        person=session.streams.person_reads,
        color=session.help_color(),
        called=session.program,
    )


def _data(topic: str) -> Any:
    if topic == ASSUMPTIONS:
        from svc.cli.help import assumptions

        return assumptions.rows()
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


def _contents() -> Page:
    rows = Rows(tuple((name, summary) for name, (_, summary) in TOPICS.items()))
    return Page("Help pages: svc help TOPIC", (rows, "For a command: svc COMMAND --help"))


def _show_command(session: Session, words: list[str]) -> None:
    from svc.cli.framework.app import app as root

    command = typer.main.get_command(root)
    arguments = [*words, "--help"]
    with command.make_context(
        "svc", arguments, obj=session, terminal_width=session.help_width()
    ) as context:
        command.invoke(context)
