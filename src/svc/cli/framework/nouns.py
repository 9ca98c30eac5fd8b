"""Makes the commands of a described noun, such as `svc refunds create`: options, help, request.

`registry` calls `noun_app` when a noun that `svc.service` describes was typed, and `svc events`
adds the event's verbs by `add_verb`; each command then sends through `sending`.
"""

from collections.abc import Callable, Container
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import typer

from svc.cli.framework import options
from svc.cli.framework.app import ListingVerb, ReadingVerb, WritingVerb, make_word, verb
from svc.cli.framework.registry import SHORT_NAMES
from svc.cli.framework.sending import send_awaited, send_due, send_list, send_read, send_write
from svc.cli.framework.session import Session
from svc.client.call import Body, Call, Encoding, QueryParams
from svc.client.operations import build_list, post, retrieval
from svc.service.model import Action, Field, Resource

if TYPE_CHECKING:  # for what writes alone
    from svc.client.options import RequestOption

CommandBody = Callable[..., None]


def noun_app(noun: Resource, asked: Container[str] | None = None) -> typer.Typer:
    """Makes the app of a noun: a command for each of its verbs.

    With `asked` only the verbs named there have the options of their fields.
    """
    short = _short_name(noun)
    more = "" if short == noun.word else f"\n\nIts short name is {short}."
    app = make_word(noun.word, more)
    for action in noun.actions:
        add_verb(app, noun, action, has_fields=asked is None or action.verb in asked)
    return app


def add_verb(app: typer.Typer, noun: Resource, action: Action, *, has_fields: bool = True) -> None:
    """Registers the command of one verb, with an option for each field unless it is only listed."""
    if action.verb == "list":
        verb(app, "list", cls=ListingVerb)(_list(noun, action))
    elif action.verb == "retrieve":
        verb(app, "retrieve", cls=ReadingVerb)(_retrieve(noun, action))
    else:
        verb(app, action.verb, cls=WritingVerb)(_write(noun, action, has_fields=has_fields))


def _list(noun: Resource, action: Action) -> CommandBody:
    parameters = [_filter(field) for field in noun.list_given("list")]
    deadline = next((field for field in noun.fields if field.due_while), None)

    def command(session: Session, *, due: str | None = None, **given: str | None) -> None:
        def make(params: QueryParams) -> Call:
            return build_list(noun.name, params)

        if due is None or deadline is None:
            send_list(session, make, given)
        else:
            send_due(session, make, given, deadline, due)

    if deadline is not None:
        words = (
            f"Only those in {deadline.due_while} that are due within this time, such as 7d; all "
            "pages."
        )
        parameters.append(_parameter("due", str | None, options.option("DURATION", words)))
    return _declare(command, noun, action, parameters)


def _retrieve(noun: Resource, action: Action) -> CommandBody:
    def command(
        session: Session, *, wait: bool = False, until: str | None = None, **given: str
    ) -> None:
        (identifier,) = given.values()
        if wait or until is not None:
            send_awaited(session, noun.name, identifier, until)
        else:
            send_read(session, retrieval(noun.name, identifier))

    parameters = [_identifier(noun)]
    if noun.final:
        parameters.append(_parameter("wait", bool, options.WAIT))
        parameters.append(_parameter("until", str | None, options.until(noun.statuses)))
    return _declare(command, noun, action, parameters)


def _write(noun: Resource, action: Action, *, has_fields: bool) -> CommandBody:
    name = f"{noun.word}.{action.verb}"
    parameters = [_identifier(noun)] if action.is_on_one else []
    rows: tuple[RequestOption, ...] = ()

    def command(
        session: Session, *, wait: bool = False, over_limit: bool = False, **given: Any
    ) -> None:
        from svc.cli.framework.fields import body_of

        identifier = given[parameters[0].name] if action.is_on_one else ""
        session.given.fields = body_of(rows, given, session.read_file)

        def make(body: Body, *, encoding: Encoding | None = None) -> Call:
            return post(name, body, encoding, identifier)

        settles = noun.name if wait else None
        send_write(
            session,
            make,
            settles=settles,
            changes=action.verb == "update",
            over_limit=over_limit,
        )

    if has_fields:
        from svc.cli.framework.fields import parameter_of
        from svc.client.options import options_of

        rows = options_of(name)
        parameters += map(parameter_of, rows)
    if action.settles:
        parameters.append(_parameter("wait", bool, options.WAIT))
    if action.limit:
        parameters.append(_parameter("over_limit", bool, options.OVER_LIMIT))
    command.rows = rows  # type: ignore[attr-defined]  # for help and `svc commands`
    return _declare(command, noun, action, parameters)


def _declare(
    command: CommandBody, noun: Resource, action: Action, parameters: list[Parameter]
) -> CommandBody:
    """Returns a command its name, its help with an example, and the parameters that Typer reads."""
    example = f"$ svc {_short_name(noun)} {action.verb} {action.example}"
    parts = (action.summary, action.more, example)
    command.__name__ = action.verb
    command.__doc__ = "\n\n".join(filter(None, parts))
    session = _parameter("session", Session)
    command.__signature__ = Signature([session, *parameters])  # type: ignore[attr-defined]
    return command


def _short_name(noun: Resource) -> str:
    return next((name for name, word in SHORT_NAMES.items() if word == noun.word), noun.word)


def _identifier(noun: Resource) -> Parameter:
    word = noun.short.lower() or noun.name
    declared = options.argument("ID", f"The {word}, {noun.prefix}...")
    return _parameter(f"{word}_id", str, declared)


def _filter(field: Field) -> Parameter:
    """A field as the option that lists only objects with one value of it."""
    kind = field.kind
    given = options.id_of(kind.of) if kind.type == "identifier" else options.status(kind.words)
    return _parameter(field.name, str | None, given)


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)
