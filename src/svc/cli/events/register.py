"""Registers a listener's webhook endpoint, and again after a sandbox has forgotten it.

`run` makes a `Registrar`: a public address in, an `Endpoint` out. `link` calls it again when the
tunnel's address changes, and calls its `renewal` to ask whether a sandbox was reset.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from svc.api_keys import fingerprint
from svc.base_url import BaseUrl
from svc.cli.events.endpoint import Endpoint, Endpoints
from svc.cli.events.options import ListenOptions
from svc.cli.events.secrets import SECRETS_MAX
from svc.cli.framework.session import Session
from svc.errors import SvcError
from svc.listen.inbox.listeners import ListenerId, archive_before_reset, remember
from svc.state import Database


@dataclass(slots=True)
class Registrar:
    """Registers the endpoint of one listener; `sandbox` says that the service is a sandbox."""

    session: Session
    options: ListenOptions
    state: Database
    claim: ListenerId
    port: int
    sandbox: bool
    _one_at_a_time: Lock = field(default_factory=Lock)
    _before: Endpoint | None = None

    def __call__(self, public: BaseUrl | None) -> Endpoint:
        """Finds or makes the endpoint at a public address, or at the local port.

        Raises:
            SvcError: the service refused, or was not reached.
        """
        with self._one_at_a_time:  # a tunnel that has moved, and a sandbox that was reset
            before, self._before = self._before, self._register(public)
            if before is not None and before.secrets != self._before.secrets:
                self._tell_secret(self._before)
            return self._before

    def _tell_secret(self, endpoint: Endpoint) -> None:
        """Prints that the target has to verify with a new signing secret.

        The command of --exec is not started again: it runs once, and one that resets the sandbox
        itself, as tests do, would be ended in their middle and begin anew for ever.
        """
        shown = fingerprint(endpoint.secrets[0])
        todo = f"Restart your handler with it: {self.options.again} --print-secret"
        if self.options.command is not None:
            todo = "The command of --exec has the old one: stop this listener and start it anew."
        self.session.out.warn(f"Deliveries have a new signing secret, {shown}. {todo}")

    def _register(self, public: BaseUrl | None) -> Endpoint:
        url, _ = self.address(public)
        endpoint = Endpoint(None, url, self.options.secrets, "given by you")
        if not self.options.secrets:
            found = Endpoints(self.session, self.state, sandbox=self.sandbox)
            if found.find_standing(self.claim.path, self.options.events) == "forgotten":
                archive_before_reset(self.state, self.claim)
            endpoint = found.of(url, self.claim.path, self.options.events)
            both = tuple(dict.fromkeys((*endpoint.secrets, *self.options.also)))
            endpoint = replace(endpoint, secrets=both[:SECRETS_MAX])
        targets = self.options.routes.format_routes()
        remember(self.state, self.claim, self.port, endpoint.id, targets)
        return endpoint

    def renewal(self, public: Callable[[], BaseUrl | None]) -> Callable[[], Endpoint | None] | None:
        """Returns a function that registers the endpoint again if a sandbox has forgotten it.

        None for a real service, and where the user gave the endpoint.
        """
        if not self.sandbox:
            return None
        if self.options.secrets:
            self.session.out.note(
                "The endpoint is your own: whether the sandbox is reset and forgets it is not seen "
                "here."
            )
            return None
        found = Endpoints(self.session, self.state, sandbox=True)

        def renew() -> Endpoint | None:
            standing = found.find_standing(self.claim.path, self.options.events)
            if standing == "disabled":
                self.session.out.warn("The sandbox has disabled the listener's webhook endpoint.")
            elif standing == "forgotten":
                self.session.out.warn(
                    "The sandbox was reset: the listener's webhook endpoint is gone."
                )
            return self._renew_secret(found) if standing == "enabled" else self(public())

        return renew

    def _renew_secret(self, found: Endpoints) -> Endpoint | None:
        """Takes a secret that was rolled meanwhile, and says so."""
        with self._one_at_a_time:
            rolled = None if self._before is None else found.take_rolled_secret(self._before)
            if rolled is not None:
                self._before = rolled
                self.session.out.warn(f"The signing secret of {rolled.id} was rolled.")
                self._tell_secret(rolled)
            return rolled

    def tell_absence(self, error: SvcError | None) -> None:
        """Prints that the sandbox does not answer, or with None that it answers again."""
        from svc.sandbox.process.records import list_running

        here = self.session.base_url
        if error is None:
            self.session.out.note(f"The sandbox at {here} answers again.")
            return
        others = [one.url for one in list_running(self.session.paths.sandbox_dir)]
        moved = ""
        if others:
            # Not by itself: endpoints, inbox and requests belong to an address, and nothing says
            # that what runs elsewhere is the same sandbox.
            moved = f" One runs at {' and '.join(others)}: start the listener anew."
        self.session.out.warn(
            f"The sandbox at {here} does not answer; nothing is delivered until it is back there."
            f"{moved} ({error.message})"
        )

    def address(self, public: BaseUrl | None) -> tuple[str, str]:
        """Returns the URL for the service and the one path that is answered (promise R56)."""
        if public is None:
            return f"http://127.0.0.1:{self.port}{self.claim.path}", self.claim.path
        if self.options.secrets and public.prefix:  # an endpoint that exists has its own path
            return str(public), public.prefix
        return public.url(self.claim.path), public.prefix + self.claim.path
