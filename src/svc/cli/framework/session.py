"""`Session`: what one command works with (output, key, client, state), each made when first used.

`cli.main` makes one for each command line; every command function gets it from Typer's context.
Its base, `Invocation`, has the words that were typed, the settings, the clock and the streams.
"""

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from svc.cli.framework.invocation import Invocation
from svc.cli.framework.streams import FORCING
from svc.errors import LocalError, UsageError
from svc.inputs import Format, split_list
from svc.service.facts import SANDBOX_KEYS, Mode

if TYPE_CHECKING:
    from svc.cli.framework.inputs import ReadFile
    from svc.client.call import Call
    from svc.client.client import Client, OnAttempted
    from svc.client.reply import Reply
    from svc.client.request import Prepared
    from svc.client.retry import AttemptResult, RetryQuota
    from svc.keys.facts import KeyFacts
    from svc.keys.places import KeyPlace, Slot
    from svc.keys.resolve import ResolvedKey
    from svc.keys.store import KeyStore
    from svc.render.output import Output
    from svc.state import Database


class Session(Invocation):
    """The dependencies of one command: output, key, client, state.

    Used as a context manager, so that what was opened is closed on every way out.
    """

    done: str | None = None  # the id of what was made
    is_over_limit: bool = False
    sandbox_version: str | None = None
    _served: "tuple[Reply | float, float] | None" = None

    @cached_property
    def read_file(self) -> "ReadFile":
        """Reads the file of an `@FILE`; standard input, `@-`, once in a command."""
        from svc.cli.framework.inputs import file_reader

        return file_reader(self.streams.stdin)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @staticmethod
    def prepare_long_run() -> None:
        """Turns the garbage collector on again, which short commands do without."""
        gc.enable()

    def note_done(self, data: Any) -> None:
        """Remembers the id of what a POST has made, in case printing fails (promise R77)."""
        if isinstance(data, dict) and isinstance(data.get("id"), str):
            self.done = data["id"]

    def note_sandbox(self, version: str) -> None:
        """Remembers the version of the sandbox whose controls were used."""
        self.sandbox_version = version

    def note_reply(self, reply: "Reply") -> None:
        """Remembers a reply, whose server's clock `now` follows from then on (promise R109)."""
        self._served = (reply, self.clock.monotonic())

    def note_time(self, served: float | None) -> None:
        """Remembers what the service's clock shows now; None where it does not say so."""
        self._served = None if served is None else (served, self.clock.monotonic())

    def now(self) -> float:
        """Unix seconds on the clock of the service that answered last, else on this machine's."""
        if self._served is None:
            return self.clock.now()
        answer, heard_at = self._served
        served = answer if isinstance(answer, float) else answer.server_time
        since = self.clock.monotonic() - heard_at
        return self.clock.now() if served is None else served + since

    # --- output -----------------------------------------------------------------------------

    @cached_property
    def out(self) -> "Output":
        asked = self.given.everywhere
        fields = split_list(asked.fields)
        if self.given.listing.decimals and (self.format != "csv" or asked.query is not None):
            raise UsageError("--decimals is for -o csv without --query.", param="--decimals")
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
        """The output for an error, which works also where the settings are invalid."""
        return self._output(self.error_format())

    def _output(
        self, chosen: Format, *, query: str | None = None, fields: tuple[str, ...] = ()
    ) -> "Output":
        from svc.render.output import Output

        asked = self.given.everywhere
        choice = self.color()
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
            here=self.clock.now,
            raw_csv=self.given.listing.raw_csv,
            decimals=self.given.listing.decimals,
            raw=bool(asked.raw),
            on_shown=self.shown.append,
            secret=self._secret,
            workflow=self.is_workflow,
            program_name=lambda: self.program,
        )

    # --- the service ------------------------------------------------------------------------

    @cached_property
    def key(self) -> "ResolvedKey":
        """The API key of this command and where it came from."""
        from svc.keys.resolve import resolve_key

        key = resolve_key(
            self.settings,
            self.env,
            store=self.key_store,
            facts=lambda: self.key_facts,
            tell=self.out.note if self.format == "human" else lambda _: None,
        )
        if key.secret not in SANDBOX_KEYS.values():
            from svc.system.memory import protect_memory

            protect_memory()
        return key

    def require_own_sandbox(self) -> None:
        """Checks, for the profile of a local sandbox, that this sandbox runs (promise R106).

        Raises:
            NetworkError: the sandbox does not run, and any process may listen on its port.
        """
        if self._sandbox_is_expected:
            from svc.cli.framework.local_sandbox import require_running

            require_running(self.paths.sandbox_dir, self.base_url)

    def expected(self) -> bool:
        """Whether a new connection leads to a place where a key may be sent (promise R106)."""
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

    def key_place(self, mode: Mode | None = None, slot: "Slot" = "secret") -> "KeyPlace":
        """Returns the origin, profile and mode under which a key is stored."""
        from svc.keys.places import KeyPlace

        settings = self.settings
        return KeyPlace(self.base_url.origin, settings.profile, mode or settings.mode, slot)

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

        No request may contain the API key. The keyring is not read for this check: a key from it
        is found by its form alone.
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
        mode: Mode | None = None,
        quota: "RetryQuota | None" = None,
        on_attempt: "OnAttempted | None" = None,
        on_reply: "Callable[[Reply], None] | None" = None,
    ) -> "Client":
        """A client of the service; use it in a `with` block.

        With `secret` and `mode` it has another key than the command's. Each attempt is told to
        `on_attempt`, and with `--verbose` on stderr; each reply to `on_reply`, else to the clock.
        """
        from svc.client.client import Client
        from svc.client.wire.proxy import choose_proxy

        self.require_own_sandbox()
        settings = self.settings
        listeners = [on_attempt] if on_attempt is not None else []
        if self.given.everywhere.verbose:
            listeners.append(self._tell_attempt)

        def attempted(call: "Call", attempt: int, result: "AttemptResult", took: float) -> None:
            for each in listeners:
                each(call, attempt, result, took)

        return Client(
            self.base_url,
            self.key.secret if secret is None else secret,
            mode=mode or settings.mode,
            api_version=settings.api_version,
            deadline_seconds=settings.max_time,
            clock=self.clock,
            auth=settings.auth,
            on_attempt=attempted if listeners else None,
            proxy=choose_proxy(self.base_url, settings.proxy, self.env),
            ca_bundle=settings.ca_bundle,
            quota=quota,
            expected=self.expected,
            on_reply=on_reply or self.note_reply,
            show_progress=self.show_progress(),
        )

    def _tell_attempt(
        self, call: "Call", attempt: int, result: "AttemptResult", took: float
    ) -> None:
        """Prints a line of `--verbose`; without headers and body, so that it holds no secret."""
        what = result.status if result.status is not None else result.detail or None
        line = f"{call.method} {call.path}  attempt {attempt}  {what}"
        line += f"  {took:.0f} ms  {result.request_id or ''}"
        if "waiting" in vars(self):
            self.waiting.hide()
        with suppress(OSError):  # stderr is closed, or the disk is full: the request goes on
            self.stderr.write_masked(line.rstrip() + "\n")
            self.stderr.flush()
