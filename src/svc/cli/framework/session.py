"""What one command line works with: every dependency, made when it is first asked for."""

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from svc.cli.framework.options import FORMATS, Format, SharedOptions
from svc.cli.framework.streams import FORCING, Streams
from svc.clock import Clock, SystemClock
from svc.errors import LocalError, SvcError, UsageError
from svc.paths import CONFIG_FILE, NoFolder, Paths
from svc.redaction import redact

if TYPE_CHECKING:
    from svc.base_url import BaseUrl
    from svc.cli.framework.progress import LiveLine, WaitingLine
    from svc.client.call import Call
    from svc.client.client import AttemptRecord, Client
    from svc.client.exchange import Waits
    from svc.client.journal.stored import Scope
    from svc.client.reply import Reply
    from svc.client.request import Prepared
    from svc.client.retry import RetryQuota
    from svc.config import Config, Settings
    from svc.keys.facts import KeyFacts
    from svc.keys.resolve import ResolvedKey
    from svc.keys.store import KeyStore
    from svc.render.output import Output
    from svc.spec import Mode
    from svc.state import Database


class Session:
    """The dependencies of one command: streams, clock, settings, key, client, output, state.

    Used as a context manager, so that what was opened is closed on every way out. `called` is the
    name of the program as it was started.
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
        self.called = "svc"
        self._answered: tuple[Reply, float] | None = None
        self.done: str | None = None
        self.shown: list[object] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @staticmethod
    def of(ctx: Any) -> "Session":
        """The session of a Typer context."""
        return cast("Session", ctx.obj)

    @staticmethod
    def is_long_running() -> None:
        """Turns the garbage collector on again, which short commands do without."""
        gc.enable()

    def note_done(self, data: Any) -> None:
        """Remembers what a POST has made, in case its result cannot be printed (promise R77)."""
        if isinstance(data, dict) and isinstance(data.get("id"), str):
            self.done = data["id"]

    def note_reply(self, reply: "Reply") -> None:
        """Remembers by whose clock what is shown from now on was written (promise R109)."""
        self._answered = (reply, self.clock.monotonic())

    def now(self) -> float:
        """Unix seconds on the clock of the service that answered last, else on this machine's."""
        if self._answered is None:
            return self.clock.now()
        from svc.client.reply import served_at

        reply, heard_at = self._answered
        served = served_at(reply.headers)
        if served is None:
            return self.clock.now()
        return served + self.clock.monotonic() - heard_at

    # --- settings ---------------------------------------------------------------------------

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
        return self._known_by_its_record(settings)

    def _known_by_its_record(self, settings: "Settings") -> "Settings":
        """An address that was typed may be a sandbox of this user: its record has what it takes."""
        address = settings.address
        if settings.from_profile or address is None or not address.is_loopback:
            return settings
        from svc.cli.framework.local_sandbox import at

        with suppress(NoFolder):  # no folder, no record
            record = at(self.paths.sandbox_dir, address)
            if record is not None:
                trusted = settings.ca_bundle or record.certificate
                return settings._replace(sandbox=True, ca_bundle=trusted)
        return settings

    @property
    def base_url(self) -> "BaseUrl":
        return self.settings.base_url

    @cached_property
    def format(self) -> Format:
        """The output format: as asked, else for people at a terminal and for programs in a pipe."""
        return self.settings.output or ("human" if self.streams.person_reads else "json")

    def help_width(self) -> int:
        """How wide help is: the terminal, but not wider than the eye follows."""
        return min(self.streams.width(self.env), 100)

    def help_color(self) -> bool:
        """Whether help is coloured; settings are read only where somebody could see colour."""
        asked = self._color_asked()
        choice = self._color() if self.streams.person_reads else asked or "auto"
        return self.streams.wants_color(self.env, choice, self.streams.stdout)

    def command(self, words: str) -> str:
        """A command line for the profile, address and mode of this one, such as `svc get ID`."""
        from svc.client.journal.stored import Scope

        settings = self.settings
        return self.say(Scope(settings.profile, settings.mode, str(settings.base_url)), words)

    def say(self, scope: "Scope", words: str) -> str:
        """A command line about a request: for whom and where it was sent, as far as must be said.

        What a command without options would take from the environment and the configuration is
        left out.
        """
        from svc.cli.framework.command_line import scoped

        return scoped(scope, words, self.env, self.config)

    # --- output -----------------------------------------------------------------------------

    @cached_property
    def out(self) -> "Output":
        asked = self.given.everywhere
        fields = tuple(name for name in (asked.fields or "").split(",") if name)
        if asked.raw and asked.query is None:
            raise UsageError("--raw is for what --query finds.", param="--raw")
        return self._output(self.format, query=asked.query, fields=fields)

    @property
    def repair_out(self) -> "Output":
        """The output of a command that repairs settings: it must work while those are wrong."""
        try:
            _ = self.format
        except (UsageError, LocalError):
            return self.error_output()
        return self.out

    def error_output(self) -> "Output":
        """An output for an error, which must work even where the settings are what is wrong."""
        asked = self.given.everywhere.output or _word_after(self.argv, "-o", "--output")
        asked = asked or self.env.get("SVC_OUTPUT")
        fallback = "human" if self.streams.person_reads else "json"
        return self._output(cast("Format", asked if asked in FORMATS else fallback))

    def _output(
        self, chosen: Format, *, query: str | None = None, fields: tuple[str, ...] = ()
    ) -> "Output":
        from svc.render.output import Output

        asked = self.given.everywhere
        choice = self._color()
        env = self.env
        if chosen != "human":  # what a CI forces on every program must not reach one that reads us
            env = {name: value for name, value in env.items() if name not in FORCING}
        return Output(
            format=chosen,
            stdout=self.streams.stdout,
            stderr=self.streams.stderr,
            color=self.streams.wants_color(env, choice, self.streams.stdout),
            color_errors=self.streams.wants_color(env, choice, self.streams.stderr),
            width=self.streams.width(self.env),
            quiet=bool(asked.quiet),
            query=query,
            fields=fields,
            utc=bool(asked.utc),
            now=self.now,
            raw_csv=self.given.listing.raw_csv,
            raw=bool(asked.raw),
            on_shown=self.shown.append,
            secret=self._secret,
            workflow=self.env.get("GITHUB_ACTIONS") == "true",
        )

    def _color_asked(self) -> str | None:
        # A word behind --help, or behind a mistake, is one that nobody has parsed.
        return self.given.everywhere.color or _word_after(self.argv, "--color")

    def _color(self) -> str:
        """`auto`, `always` or `never`: as asked, else as configured (`svc config set color`)."""
        asked = self._color_asked()
        if asked:
            return asked
        try:
            return self.settings.color
        except SvcError:  # what is wrong with the settings is said elsewhere
            return "auto"

    def _secret(self) -> str | None:
        """The key in use, once it is known; the sandbox's constants are no secrets (R39)."""
        from svc.spec import SANDBOX_KEYS

        key: ResolvedKey | None = vars(self).get("key")
        return None if key is None or key.secret in SANDBOX_KEYS.values() else key.secret

    # --- the service ------------------------------------------------------------------------

    @cached_property
    def key(self) -> "ResolvedKey":
        """The API key of this command and where it came from."""
        from svc.keys.resolve import resolve_key
        from svc.spec import SANDBOX_KEYS

        key = resolve_key(
            self.settings, self.env, store=self.key_store, facts=lambda: self.key_facts
        )
        if key.secret not in SANDBOX_KEYS.values():
            from svc.system.memory import keep_unread

            keep_unread()
        return key

    def refuse_stranger(self) -> None:
        """Lets a key go to a sandbox's profile only where that sandbox runs (promise R106).

        Raises:
            NetworkError: it does not, and whoever listens on its port may be anybody.
        """
        if self._sandbox_is_expected:
            from svc.cli.framework.local_sandbox import refuse_stranger

            refuse_stranger(self.paths.sandbox_dir, self.base_url)

    def expected(self) -> bool:
        """Says whether a new connection leads where a key may go: asked for each (promise R106)."""
        if not self._sandbox_is_expected:
            return True
        from svc.cli.framework.local_sandbox import runs_at

        return runs_at(self.paths.sandbox_dir, self.base_url)

    @property
    def _sandbox_is_expected(self) -> bool:
        return self.settings.sandbox and self.settings.from_profile

    def publishable_key(self) -> str:
        """The key with which a shopper's page is opened."""
        from svc.keys.resolve import publishable_key

        return publishable_key(
            self.settings, self.env, store=self.key_store, facts=lambda: self.key_facts
        )

    @cached_property
    def key_facts(self) -> "KeyFacts":
        """What is known of stored keys without reading any."""
        from svc.keys.facts import KeyFacts

        return KeyFacts(self.paths.state_file, self.clock)

    def key_store(self) -> "KeyStore":
        """The OS keyring."""
        from svc.keys.store import KeyStore

        return KeyStore.of_system(
            self.env,
            allowed=self.config.keyring_backends,
            platform=sys.platform,
            person=self.streams.person_answers,
        )

    def state(self) -> "Database":
        """The state database, open until the command ends."""
        from svc.state import Database

        return self._open.enter_context(Database.open(self.paths.state_file, clock=self.clock))

    def prepare(self, call: "Call", idempotency_key: str | None) -> "Prepared":
        """Builds a request without a key, for showing it.

        The keyring is not asked for what must not stand in it: of a key that lies there, its looks
        must do.
        """
        from svc.client.request import prepare, uuid4
        from svc.keys.resolve import VARIABLE

        return prepare(
            call,
            self.base_url,
            new_key=uuid4,
            idempotency_key=idempotency_key,
            api_version=self.settings.api_version,
            api_key=self.env.get(VARIABLE) or "",
        )

    def client(
        self,
        *,
        secret: str | None = None,
        mode: "Mode | None" = None,
        quota: "RetryQuota | None" = None,
        on_attempt: "Callable[[AttemptRecord], None] | None" = None,
        on_reply: "Callable[[Reply], None] | None" = None,
    ) -> "Client":
        """A client of the service; use it in a `with` block.

        With `secret` and `mode` it has another key than the command's. Each attempt is told to
        `on_attempt`, and with `--verbose` on stderr; each reply to `on_reply`, else to the clock.
        """
        from svc.client.client import Client
        from svc.client.wire.proxy import chosen

        self.refuse_stranger()
        settings = self.settings
        listeners = [on_attempt] if on_attempt is not None else []
        if self.given.everywhere.verbose:
            listeners.append(self._tell_attempt)

        def attempted(record: "AttemptRecord") -> None:
            for each in listeners:
                each(record)

        return Client(
            self.base_url,
            self.key.secret if secret is None else secret,
            mode=mode or settings.mode,
            api_version=settings.api_version,
            deadline_seconds=settings.max_time,
            clock=self.clock,
            auth=settings.auth,
            on_attempt=attempted if listeners else None,
            proxy=chosen(self.base_url, settings.proxy, self.env),
            ca_bundle=settings.ca_bundle,
            quota=quota,
            expected=self.expected,
            on_reply=on_reply or self.note_reply,
            waits=self.waits(),
        )

    @cached_property
    def waiting(self) -> "WaitingLine":
        """The line that tells a person at a terminal what is waited for."""
        from svc.cli.framework.progress import WaitingLine

        return WaitingLine(self.live_line)

    def live_line(self) -> "LiveLine":
        """A line on stderr: only on a terminal, and neither with TERM=dumb nor --quiet."""
        from svc.cli.framework.progress import LiveLine

        streams = self.streams
        quiet = self.given.everywhere.quiet or self.env.get("TERM") == "dumb"
        watched = streams.person_watches and not quiet
        return LiveLine(streams.stderr if watched else None, self.clock, streams.width(self.env))

    def waits(self, *, sandbox: bool = False) -> "Waits":
        """What is around each call of a client; loaded only where somebody may see it."""
        if not self.streams.person_watches:
            from svc.client.exchange import unwatched

            return unwatched
        return self.waiting.sandbox if sandbox else self.waiting.request

    def _tell_attempt(self, record: "AttemptRecord") -> None:
        what = str(record.status) if record.status is not None else record.error
        line = f"{record.method} {record.path}  attempt {record.attempt}  {what}"
        line += f"  {record.milliseconds:.0f} ms  {record.request_id or ''}"
        if "waiting" in vars(self):
            self.waiting.hide()
        with suppress(OSError):  # nobody reads any more, or the disk is full: the request goes on
            self.streams.stderr.write(redact(line.rstrip()) + "\n")
            self.streams.stderr.flush()


def _word_after(argv: Sequence[str], *names: str) -> str | None:
    """Finds the value of an option in a command line that the parser could not finish."""
    for word, following in zip(argv, [*argv[1:], ""], strict=False):
        if word in names:
            return following
        if word.startswith(f"{names[-1]}="):
            return word.removeprefix(f"{names[-1]}=")
    return None
