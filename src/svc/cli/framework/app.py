"""The Typer classes and decorators that make commands of functions, and the root of the tree.

Each command module of `cli` registers its functions by `verb` or `works_with_invalid_config`; those
of a GET or POST, as of the described nouns in `nouns`, have a class here. `main` runs `app`, whose
class `Root` resolves the typed words and imports one command's module only.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from inspect import Signature, signature
from typing import Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from svc import __version__
from svc.cli.framework.options import OptionSet, Set, collect, options_of
from svc.cli.framework.registry import (
    COMMANDS,
    SHORT_NAMES,
    Entry,
    load,
    split_examples,
    warn_of_deprecated,
)

_EXAMPLES_MAX: Final = 2  # of a group


class Sharing:
    """Base of verbs and nouns: the shared options, taken before and after a verb, and the help."""

    shared: ClassVar[tuple[Set, ...]] = ("everywhere",)
    help: str | None
    params: list[Any]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.params.extend(option for name in self.shared for option in options_of(name))
        self.examples, self.help = split_examples(self.help or "")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with collect(ctx, self.shared):
            try:
                return super().parse_args(ctx, args)  # type: ignore[misc,no-any-return]
            except typer.TyperException as error:
                if getattr(error, "ctx", ctx) is None:  # some errors come without it
                    vars(error)["ctx"] = ctx
                raise

    def make_parser(self, ctx: Any) -> Any:
        parser = super().make_parser(ctx)  # type: ignore[misc]
        # It looks for a short option among the long ones, and with difflib for those like it: 4 ms.
        parser._long_opt.update(parser._short_opt)  # noqa: SLF001
        parse = parser.parse_args

        def parse_each_once(args: list[str]) -> Any:
            found = parse(args)
            refuse_repeated(found[2])
            refuse_blank(found[0], self.params)
            return found

        parser.parse_args = parse_each_once
        return parser

    def get_help(self, ctx: Any) -> str:
        from svc.cli.framework.help_page import help_of

        return help_of(self, ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        from svc.cli.framework.help_page import format_parameters

        format_parameters(self, ctx, formatter)


class Verb(Sharing, TyperCommand):
    """A command that takes the global options after its own and shows its examples in `--help`.

    The docstring's lines that begin with `$ ` are its examples. A wrong --query or an invalid
    configuration is refused before the command runs, unless the class sets `repairs`.
    """

    repairs: ClassVar[bool] = False

    def invoke(self, ctx: Any) -> Any:
        if not self.repairs:
            _ = ctx.obj.out
        warn_of_deprecated(ctx.obj, ctx.command_path)
        return super().invoke(ctx)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  the base's
        formatter.write_examples(self.examples)


class InvalidConfigVerb(Verb):
    """A command that works while the configuration is invalid, or chooses its output itself."""

    repairs = True


class WritingVerb(Verb):
    """A command that sends a POST: it has the writing options, such as -d, and the preview ones."""

    shared = ("write", "preview", "everywhere")


class ReadingVerb(Verb):
    """A command that sends a GET, or shows it instead."""

    shared = ("preview", "everywhere")


class ListingVerb(Verb):
    """A command that lists objects."""

    shared = ("listing", "preview", "everywhere")


class Noun(Sharing, TyperGroup):
    """A group of verbs, such as those of a resource; its help page ends with examples.

    `sections` maps a title to the names of the verbs below it; without it there is one list.
    """

    sections: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        order = [name for names in self.sections.values() for name in names]
        self.commands = {name: self.commands[name] for name in order if name in self.commands} or (
            self.commands
        )

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        from svc.cli.framework.help_page import first_line

        for title, names in (self.sections or {"Commands": tuple(self.list_commands(ctx))}).items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, first_line(verb)) for name, verb in found if verb and not verb.hidden]
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        formatter.write_examples(self.examples or self._examples_of_verbs(ctx))
        formatter.write_paragraph()
        formatter.write_text(f"For one of them: {ctx.command_path} COMMAND --help")

    def _examples_of_verbs(self, ctx: Any) -> list[str]:
        verbs = (self.get_command(ctx, name) for name in self.list_commands(ctx))
        found = (getattr(verb, "examples", ()) for verb in verbs)
        return [each[0] for each in found if each][:_EXAMPLES_MAX]


class LazyGroup(Noun):
    """A group that lists its commands from `entries` and imports only the command that runs.

    `words` are the words behind `svc` that name the group, none for the program itself.
    """

    entries: ClassVar[Mapping[str, Entry]]
    words: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.commands.update(
            {
                name: TyperCommand(name=name, help=each.summary)
                for name, each in self.entries.items()
            }
        )

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in self.entries:
            command = self.commands[name] = load(*self.words, name, asked=rest)
        return name, command, rest


def refuse_repeated(order: Sequence[Any]) -> None:
    """Refuses an option that takes one value and is given twice.

    `order` has a parameter for each time that it was typed.

    Raises:
        UsageError: an option is given twice; the parser would use the last value alone.
    """
    from svc.errors import UsageError  # help does without it

    once = [each for each in order if each.param_type_name == "option" and not each.is_flag]
    for each in once:
        if not each.multiple and once.count(each) > 1:
            name = max(each.opts, key=len)
            raise UsageError(f"{name} is given twice.", code="given_twice", param=name)


def refuse_blank(given: Mapping[str, Any], parameters: Sequence[Any]) -> None:
    """Refuses an option that is given without a value: a variable of the script may be empty.

    Left out in silence it would list all objects in place of some, or wait for nothing. A TEXT may
    be empty: it is a field's value, or the body of a fault.

    Raises:
        UsageError: the value of an option has no character but blanks, or is no number (nan, which
            is within any bounds).
    """
    for each in parameters:
        is_text = str(each.metavar or "").startswith("TEXT")
        typed = None if is_text or each.param_type_name != "option" else given.get(each.name)
        values = typed if isinstance(typed, list) else [typed]
        if any(isinstance(value, str) and not value.strip() for value in values):
            from svc.client.call import build_blank_error

            raise build_blank_error(max(each.opts, key=len))
        if isinstance(typed, str) and typed.strip("+- ").lower() == "nan":
            from svc.cli.framework.help_page import read_taken
            from svc.errors import UsageError

            if read_taken(each).type == "float":
                name = max(each.opts, key=len)
                raise UsageError(f"{name} is nan: it must be a number.", param=name)


def make_app(help_text: str | None = None, *, cls: type[TyperGroup] = Noun) -> typer.Typer:
    """Makes an app without rich and generated completion (performance: start-up)."""
    return typer.Typer(
        help=help_text,
        cls=cls,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )


def make_noun(help_text: str, cls: type[Noun] = Noun) -> typer.Typer:
    """Makes the app of a group; the callback keeps it a group even with a single verb."""
    app = make_app()

    @app.callback(cls=cls, help=help_text, invoke_without_command=True)
    def noun(ctx: typer.Context) -> None:
        if ctx.invoked_subcommand is None:
            ctx.obj.stdout.write(ctx.get_help() + "\n")

    return app


def make_word(name: str, more: str = "", cls: type[Noun] = Noun) -> typer.Typer:
    """Makes the app of a word after `svc`; its help begins with its line in `svc --help`."""
    return make_noun(COMMANDS[name].summary + more, cls)


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def verb(
    app: typer.Typer,
    name: str | None = None,
    *,
    cls: type[Verb] = Verb,
    options: type[OptionSet] | None = None,
) -> Decorator:
    """Registers a command: a function of the session, then of its arguments and options.

    With `options` it gets them in an object of that class. It takes the global options, and those
    of a GET or POST if its class says so.
    """

    def register(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(session: Any, **given: Any) -> None:
            if options is None:
                command(session.obj, **given)
                return
            values = options()
            vars(values).update(given)
            command(session.obj, values)

        # Typer gives its context to the parameter of this type, and reads the others as they are.
        run.__annotations__ = {**command.__annotations__, "session": typer.Context}
        if options is not None:
            context, *_ = signature(command).parameters.values()
            declared = signature(options).parameters.values()
            run.__signature__ = Signature([context, *declared])  # type: ignore[attr-defined]
        app.command(name, cls=cls)(run)
        return command

    return register


# Registers a command that works while the configuration is invalid.
works_with_invalid_config: Final = partial(verb, cls=InvalidConfigVerb)


class Root(LazyGroup):
    """The program itself: its commands in sections; it also takes short names such as `quotes`."""

    entries = COMMANDS
    sections = {  # noqa: RUF012  a ClassVar of the base
        title: tuple(name for name, entry in COMMANDS.items() if entry.section == title)
        for title in dict.fromkeys(entry.section for entry in COMMANDS.values())
    }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args[0] == "batch":
            from svc.cli.framework.suggestions import check_operation

            check_operation(args)
        return super().resolve_command(ctx, [SHORT_NAMES.get(args[0], args[0]), *args[1:]])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  the base's signature
        steps = ("svc quickstart", "svc sandbox start", "svc orders create --help")
        formatter.write_examples(steps, "First steps")


app = make_app("Operate a merchant's account on a cross-border order service.", cls=Root)


@app.callback(invoke_without_command=True)
def svc(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", "-V", help="Print the version."),
) -> None:
    """Operate a merchant's account on a cross-border order service."""
    if version:
        ctx.obj.stdout.write(f"svc {__version__}\n")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        ctx.obj.stdout.write(ctx.get_help() + "\n")
