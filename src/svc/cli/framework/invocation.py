"""One command line: what was typed, its streams and environment, and the settings that follow.

The base class of `session.Session`: typed words, environment, streams and a clock in; the merged
settings out, with the format, colour and width of the output. It also writes the command lines
that hints name.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

from svc.cli.framework.options import GlobalOptions, SharedOptions
from svc.cli.framework.streams import Streams
from svc.clock import Clock, SystemClock
from svc.errors import SvcError, UsageError, build_wrong_choice, use_one_of
from svc.inputs import FORMATS, Format
from svc.paths import CONFIG_FILE, NoFolder, Paths
from svc.redaction import redact
from svc.service.facts import SANDBOX_KEYS

if TYPE_CHECKING:
    from svc.base_url import BaseUrl
    from svc.cli.framework.progress import LiveLine, WaitingLine
    from svc.client.exchange import ShowProgress
    from svc.config import Config, Settings
    from svc.delivery.journal.entry import Scope
    from svc.keys.resolve import ResolvedKey
    from svc.render.layout import LineLayout
    from svc.render.program_name import ProgramName
    from svc.render.writer import Writer


class Invocation:
    """What was typed, with streams, environment and clock, merged to settings when asked for.

    `typed_name` is the name of the program as it was started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        streams: Streams,
        clock: Clock | None = None,
    ) -> None:
        self.argv = list(argv)
        self.env = env
        self.streams = streams
        self.clock: Clock = clock or SystemClock()
        self.began_at = self.clock.now()
        self.given = SharedOptions()
        self.typed_name = "svc"
        self.shown: list[object] = []  # for the completion of ids
        self._open = ExitStack()

    @cached_property
    def paths(self) -> Paths:
        return Paths(self.env)

    @cached_property
    def config(self) -> "Config":
        from svc.config import Config, load

        try:
            return load(self.paths.config_file)
        except NoFolder:  # no place for a file is no file
            return Config(Path(CONFIG_FILE))

    @cached_property
    def settings(self) -> "Settings":
        """Options, environment, profile and defaults, merged in this order."""
        from svc.config.settings import resolve

        if "--live" in self.argv and "--test" in self.argv:
            raise UsageError("--live and --test exclude each other.", param="--live")
        settings = resolve(self.given.everywhere, self.env, self.config)
        if settings.ca_bundle is not None and not os.access(settings.ca_bundle, os.R_OK):
            # Also where no TLS will need it: a wrong file is a mistake (promise R27).
            raise UsageError(
                f"The CA bundle {settings.ca_bundle} cannot be read.", param="--ca-bundle"
            )
        return self._apply_record(settings)

    def _apply_record(self, settings: "Settings") -> "Settings":
        """An address that was typed may be a sandbox of this user: its record has what it takes."""
        address = settings.address
        if settings.from_profile or address is None or not address.is_loopback:
            return settings
        with suppress(NoFolder):  # no folder, no record
            folder = self.paths.sandbox_dir
            if not folder.is_dir():
                return settings
            from svc.cli.framework.local_sandbox import at

            record = at(folder, address)
            if record is not None:
                trusted = settings.ca_bundle or record.certificate
                return settings._replace(sandbox=True, ca_bundle=trusted)
        return settings

    @property
    def base_url(self) -> "BaseUrl":
        return self.settings.base_url

    def read_settings_anew(self) -> None:
        """Forgets the settings, so that they are read again with other options."""
        vars(self).pop("settings", None)

    @cached_property
    def format(self) -> Format:
        """The output format: `-o` or the setting, else human on a terminal and json in a pipe."""
        return self.settings.output or ("human" if self.streams.person_reads else "json")

    def error_format(self) -> Format:
        """The format of an error; known also where the settings are invalid.

        It is human where stderr is a terminal and no format was asked for, whatever stdout is.
        """
        asked = self.given.everywhere.output or _word_after(self.argv, "-o", "--output")
        asked = asked or self.env.get("SVC_OUTPUT")
        fallback = "human" if self.streams.person_watches else "json"
        return cast("Format", asked if asked in FORMATS else fallback)

    def help_width(self) -> int:
        """How wide help is: the terminal, but not wider than the eye follows."""
        return min(self.streams.width(self.env), 100)

    def help_color(self) -> bool:
        """Whether help is coloured; settings are read only where colour can be seen."""
        asked = self._color_asked()
        choice = self.color() if self.streams.person_reads else asked or "auto"
        return self.streams.wants_color(self.env, choice, self.streams.stdout)

    @cached_property
    def waiting(self) -> "WaitingLine":
        """The live line that shows a person at a terminal why the command waits."""
        from svc.cli.framework.progress import WaitingLine

        return WaitingLine(self.make_live_line)

    @cached_property
    def stdout(self) -> "Writer":
        """The writer of results that are plain text, such as help."""
        return self._writer(self.streams.stdout)

    @cached_property
    def stderr(self) -> "Writer":
        """The writer of questions and live lines; messages go through an `Output`."""
        return self._writer(self.streams.stderr)

    @property
    def records(self) -> "Writer":
        """The writer of JSON that is printed a record at a time."""
        return self._writer(self.streams.stdout, json=True)

    def print_to(self, streams: Streams) -> None:
        """Prints to other streams from now on."""
        self.streams = streams
        for name in ("stdout", "stderr", "out", "waiting"):
            vars(self).pop(name, None)

    def _writer(self, stream: TextIO, *, json: bool = False) -> "Writer":
        from svc.render.writer import Writer

        return Writer(stream, json=json, secret=self._secret, workflow=self.is_workflow)

    @property
    def is_workflow(self) -> bool:
        """Whether GitHub's runner reads the output."""
        return self.env.get("GITHUB_ACTIONS") == "true"

    def _secret(self) -> str | None:
        """The key in use, once it is known; the sandbox's constants are no secrets (R39)."""
        key: ResolvedKey | None = vars(self).get("key")
        return None if key is None or key.secret in SANDBOX_KEYS.values() else key.secret

    def leave_line(self) -> None:
        """Begins a new line for a person: a Ctrl-C stands behind whatever was written last."""
        if self.streams.person_watches:
            with suppress(OSError):
                self.stderr.write("\n")
                self.stderr.flush()

    def layout(self, stream: TextIO) -> "LineLayout":
        """How lines are laid out; a file that is no terminal keeps each message on its line."""
        from svc.render.layout import LineLayout

        streams, asked = self.streams, self.given.everywhere
        known = self.env.get("COLUMNS", "").isdigit() or stream.isatty()
        width = streams.width(self.env) if known else None
        color = streams.wants_color(self.env, asked.color or "auto", stream)
        return LineLayout.of(
            stream, width=width, color=color, utc=bool(asked.utc), program_name=self.program
        )

    @cached_property
    def program(self) -> "ProgramName":
        """The name by which hints tell people to call the program again."""
        from svc.cli.framework.registry import COMMANDS, SHORT_NAMES
        from svc.render.program_name import ProgramName

        return ProgramName(self.typed_name, self.env.get("PATH"), (*COMMANDS, *SHORT_NAMES))

    def make_live_line(self) -> "LiveLine":
        """A line on stderr: only on a terminal, and neither with TERM=dumb nor --quiet."""
        from svc.cli.framework.progress import LiveLine

        streams = self.streams
        quiet = self.given.everywhere.quiet or self.env.get("TERM") == "dumb"
        watched = streams.person_watches and not quiet
        return LiveLine(self.stderr if watched else None, self.clock, streams.width(self.env))

    def show_progress(self, *, sandbox: bool = False) -> "ShowProgress":
        """Returns the progress of a client's calls; loaded only where it can be seen."""
        if not self.streams.person_watches:
            from svc.client.exchange import show_no_progress

            return show_no_progress
        return self.waiting.sandbox if sandbox else self.waiting.request

    def command(self, words: str) -> str:
        """A command line for the profile, address and mode of this one, such as `svc get ID`."""
        return self.format_command(self.scope(), words)

    def scope(self, key_fingerprint: str = "") -> "Scope":
        """The profile, mode, address and key fingerprint under which the journal keeps requests."""
        from svc.delivery.journal.entry import Scope

        settings = self.settings
        return Scope(settings.profile, settings.mode, str(settings.base_url), key_fingerprint)

    def format_command(self, scope: "Scope", words: str) -> str:
        """Adds to `svc WORDS` the options that lead to a request's profile, address and mode.

        An option is left out where the environment or the configuration gives the same value.
        """
        from svc.delivery.journal.refusals import format_full_command

        try:
            bare = self._settings_of(None)
            profile = None if bare.profile == scope.profile else scope.profile
            there = bare if profile is None else self._settings_of(profile)
        except SvcError:  # a profile that is gone, or a setting that is wrong
            return format_full_command(scope, words)
        options = "" if profile is None else f" --profile {profile}"
        if str(there.address or "") != scope.base_url:
            options += f" --base-url {scope.base_url}"
        if scope.mode != there.mode or scope.mode == "live":
            options += f" --{scope.mode}"
        return f"svc {words}{options}"

    def _settings_of(self, profile: str | None) -> "Settings":
        """What a command line without options, or with a profile only, would have."""
        from svc.config.settings import resolve

        asked = GlobalOptions()
        asked.profile = profile
        return resolve(asked, self.env, self.config)

    def _color_asked(self) -> str | None:
        # A word behind --help, or behind a mistake, was not parsed.
        return self.given.everywhere.color or _word_after(self.argv, "--color")

    def color(self) -> str:
        """`auto`, `always` or `never`: as asked, else as configured (`svc config set color`)."""
        asked = self._color_asked()
        if asked:
            return asked
        try:
            return self.settings.color
        except SvcError:  # what is wrong with the settings is said elsewhere
            return "auto"


def _word_after(argv: Sequence[str], *names: str) -> str | None:
    """Finds the value of an option in a command line that the parser could not finish."""
    for word, following in zip(argv, [*argv[1:], ""], strict=False):
        if word in names:
            return following
        if word.startswith(f"{names[-1]}="):
            return word.removeprefix(f"{names[-1]}=")
    return None


_NO_COMMAND: Final = "No such command '"
_EXTRA: Final = "Got unexpected extra argument(s) ("
_NO_KIND: Final = " is not a valid "
_NO_ARGUMENT: Final = (
    "No key as an argument, which every process can read; svc keys add asks for it"
)


def usage_error_of(error: Any, argv: Sequence[str]) -> UsageError:
    """Converts the parser's error to a UsageError that names the command's help page."""
    from svc.cli.framework.suggestions import option_for, refuse_command, refuse_option

    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "svc"
    param = _param_of(getattr(error, "param", None))
    choices = getattr(getattr(getattr(error, "param", None), "type", None), "choices", ())
    if choices and error.message:
        word = error.message.partition(" is not one of ")[0]
        from ast import literal_eval

        return build_wrong_choice(param or "", literal_eval(word), choices)
    if str(error.message).startswith(_NO_COMMAND) and context is not None:
        return refuse_command(argv, context)
    message = _in_our_words(error, where, param)
    if message.startswith(_EXTRA):
        message = f"Nothing more is expected here: {message.removeprefix(_EXTRA).rstrip(')')}"
        if redact(message) != message:
            return UsageError(message, hint=_NO_ARGUMENT)
        meant = option_for(context, message.rpartition(" ")[2])
        if meant is not None:
            return UsageError(message, hint=meant)
    wrong = str(getattr(error, "option_name", None) or "")
    if not hasattr(error, "possibilities"):  # else it is an option that there is not
        hint = _say_where_ids_are(error) or f"See its arguments and options: {where} --help"
        return UsageError(message, param=param or wrong or None, hint=hint)
    return refuse_option(error, argv, _word_after(argv, wrong))


def _say_where_ids_are(error: Any) -> str | None:
    """The command that lists the ids of which one is missing; None for anything else."""
    above = error.ctx.parent if getattr(error, "ctx", None) is not None else None
    is_missing = str(error.message).startswith("Missing ") or not error.message
    if is_missing and _param_of(getattr(error, "param", None)) == "ID" and above is not None:
        listing = getattr(above.command, "commands", {}).get("list")
        return f"{above.command_path} list shows the ids" if listing is not None else None
    return None


def _in_our_words(error: Any, where: str, param: str | None) -> str:
    """What the parser complains of; of a missing argument or of a number in a sentence of ours."""
    message = str(error.format_message().strip().replace("\n", " "))
    typed, _, kind = str(error.message).partition(_NO_KIND)
    if message.startswith("Missing ") and param:
        return f"{where} needs {_with_what_follows(error.param, error.ctx)}"
    if kind and param:
        return f"{param} {typed} is not a {'whole ' if kind.startswith('int') else ''}number."
    return message


def _with_what_follows(param: Any, context: Any) -> str:
    """A missing argument with all that are behind it: where one is missing, they are, too.

    The last one's words follow, where they are a closed set.
    """
    needed = [each for each in context.command.params if each.required]
    behind = needed[needed.index(param) :] if param.param_type_name == "argument" else [param]
    choices = getattr(behind[-1].type, "choices", ())
    words = f" {use_one_of(choices)}." if choices else ""
    return f"{' and '.join(str(_param_of(each)) for each in behind)}.{words}"


def _param_of(param: Any) -> str | None:
    """An option by its long name, an argument by what help calls it."""
    if param is None:
        return None
    if param.param_type_name == "option":
        return str(max(param.opts, key=len))
    shown = str(param.metavar or "").strip("[].")
    return shown if shown.isupper() else str(param.name).upper()
