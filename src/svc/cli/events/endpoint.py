"""The webhook endpoint of a listener: registered at the service once, found again from then on.

`run` makes a `Registrar` at the start of `svc events listen` or `receive`: a public address in, an
`Endpoint` with its signing secrets out. `link` calls it again when a tunnel's address changes, its
`renewal` asks whether a sandbox was reset. `from_log` takes svc's own secret for a team's log.
Endpoints are remembered in the state database, secrets of a real service in the keyring.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex
from threading import Lock
from typing import Any, Final, Literal

from svc.api_keys import fingerprint, parse_signing_secret
from svc.base_url import BaseUrl
from svc.cli.events.options import ListenOptions
from svc.cli.events.secrets import SECRETS_MAX, StoredSecrets, endpoint_of_log, place_of
from svc.cli.framework.control import sandbox_client
from svc.cli.framework.session import Session
from svc.client.call import Call
from svc.client.operations import post
from svc.client.sandbox import control_call, in_mode
from svc.errors import KeyStoreError, SvcError
from svc.listen.endpoints import EndpointTable
from svc.listen.inbox.listeners import ListenerId, archive_before_reset, remember
from svc.state import Database

_SECRET_BYTES: Final = 24
_THIS_RUN: Final = "for this run only"
Standing = Literal["enabled", "disabled", "forgotten"]


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """A webhook endpoint: its URL, and the secrets with which the service signs deliveries.

    `id` is None for an endpoint that the user named. `where` says where the secret is kept.
    """

    id: str | None
    url: str
    secrets: tuple[str, ...]
    where: str


class Endpoints:
    """Finds and registers endpoints for one origin, profile and mode.

    `sandbox` says that the origin is a sandbox of this machine: its endpoints and secrets are
    public test data and lie in the state database, those of a real service in the keyring.
    """

    def __init__(self, session: Session, state: Database, *, sandbox: bool) -> None:
        self._session = session
        self._sandbox = sandbox
        self._table = EndpointTable(state, *place_of(session)[:3])
        self._stored = StoredSecrets(session, state)
        self._where = "in the state database" if sandbox else "in your keyring"

    def of(self, url: str, path: str, events: tuple[str, ...]) -> Endpoint:
        """Returns the endpoint of a URL and event list; registers one if there is none.

        `path` is the listener's own part of the URL, by which its earlier endpoints are known.

        Raises:
            SvcError: the service refused, or was not reached.
        """
        known = self._find_known(url, events)
        if known is not None:
            return known
        earlier = self._find_earlier(path, events)
        made = self._register(url, events)
        # A sandbox that was reset to its seed gives the id of one that it had before.
        earlier.pop(str(made.id), None)
        self._report_registration(made, earlier)
        return made

    def of_log(self, url: str, name: str, *, lasting: bool) -> Endpoint:
        """Returns an endpoint with svc's own signing secret for a team's log; creates it at first.

        svc makes this secret itself and signs the events of the log with it for the handler.
        Without a keyring the secret lasts for this run only.

        Raises:
            KeyStoreError: there is no keyring, and the secret is to be `lasting`.
        """
        endpoint_id, where = endpoint_of_log(name), self._where
        known = self._stored.get(endpoint_id)
        if known is not None:
            return Endpoint(endpoint_id, url, (known,), where)
        secret = f"whsec_{token_hex(_SECRET_BYTES)}"
        try:
            if not self._sandbox:
                self._stored.keep(endpoint_id, secret)
        except KeyStoreError as error:
            if lasting:
                raise
            self._session.out.warn(f"{error.message} The signing secret is held for this run only.")
            return Endpoint(endpoint_id, url, (secret,), _THIS_RUN)
        stored = secret if self._sandbox else None
        self._table.keep(endpoint_id, url, (), stored, self._session.clock.now())
        return Endpoint(endpoint_id, url, (secret,), where)

    def find_standing(self, path: str, events: tuple[str, ...]) -> Standing:
        """Asks a sandbox for the status of a listener's endpoints; a real service is not asked.

        The answer for a real service, and for a listener without an endpoint, is `enabled`.

        Raises:
            SvcError: the sandbox was not reached.
        """
        earlier = self._find_earlier(path, events) if self._sandbox else {}
        if not earlier:
            return "enabled"
        there = [self._status(listed, earlier, events) for listed in self._list_endpoints()]
        return next((one for one in ("enabled", "disabled") if one in there), "forgotten")

    def take_rolled_secret(self, endpoint: Endpoint) -> Endpoint | None:
        """Returns an endpoint with its new secret where a sandbox rolled it, else None.

        The new secret is stored for the next run. A real service does not show its secrets.

        Raises:
            SvcError: the sandbox was not reached.
        """
        listed = self._list_endpoints() if self._sandbox else []
        found = next((one for one in listed if one.get("id") == endpoint.id), {})
        signing = tuple(map(str, found.get("signing_secrets", ())))
        if not signing or signing[0] in endpoint.secrets or endpoint.id is None:
            return None
        self.keep_rolled(endpoint.id, signing[0])
        secrets = tuple(dict.fromkeys((signing[0], *endpoint.secrets)))[:SECRETS_MAX]
        return replace(endpoint, secrets=secrets)

    def keep_rolled(self, endpoint_id: str, secret: str) -> None:
        """Stores the new secret of a registered endpoint; raises KeyStoreError."""
        if not self._sandbox:
            self._stored.keep(endpoint_id, secret)
            return
        now = self._session.clock.now()
        for one in self._table.list_called(endpoint_id):
            self._table.keep(endpoint_id, one.url, one.events, secret, now)

    def secret_in_use(self, endpoint_id: str | None, url: str | None = None) -> str | None:
        """Returns the stored secret of an endpoint; None where a sandbox has it no longer enabled.

        A real service is not asked. With `url` the endpoint must deliver to that URL.
        """
        if endpoint_id is None:
            return None
        if self._sandbox:
            listed = self._list_endpoints()
            if not any(
                self._status(one, {endpoint_id: known.url}, known.events) == "enabled"
                for known in self._table.list_called(endpoint_id)
                if url in (None, known.url)
                for one in listed
            ):
                return None
        return self._stored.get(endpoint_id)

    def _find_known(self, url: str, events: tuple[str, ...]) -> Endpoint | None:
        known = self._table.at(url, events)
        secret = None if known is None else self.secret_in_use(known.id, url)
        if known is None or secret is None:
            return None
        return Endpoint(known.id, url, (secret,), self._where)

    @staticmethod
    def _status(
        listed: dict[str, Any], ours: Mapping[str, str], events: Sequence[str]
    ) -> str | None:
        """Gives the status of an endpoint if it is one of ours: by its id, its URL and its events.

        After a reset to its seed a sandbox gives the same ids again, in the order of registration.
        """
        same = ours.get(listed.get("id", "")) == listed.get("url")
        wanted = set(listed.get("events", ())) == set(events)
        return str(listed.get("status")) if same and wanted else None

    def _list_endpoints(self) -> list[dict[str, Any]]:
        found = self._control(control_call("GET", "webhook_endpoints")).get("data", [])
        return found if isinstance(found, list) else []

    def _find_earlier(self, path: str, events: tuple[str, ...]) -> dict[str, str]:
        """Returns the URLs of a listener's endpoints by their ids."""
        return {one.id: one.url for one in self._table.at_path(path, events)}

    def _register(self, url: str, events: tuple[str, ...]) -> Endpoint:
        from svc.cli.framework.delivering import send_recorded

        session = self._session
        with session.client() as client:
            call = post("webhook-endpoints.create", {"url": url, "events": list(events)}, None)
            sent = send_recorded(session, client, call, requested_at=session.clock.now())
        session.done = None  # an endpoint is no result of this command
        endpoint_id = str(sent.reply.data["id"])
        secret = parse_signing_secret(_secret_in(sent.reply.data), "The service's answer")
        where = self._store(endpoint_id, secret)
        stored = secret if self._sandbox else None
        # Also without its secret: the service still has the endpoint.
        self._table.keep(endpoint_id, url, events, stored, session.clock.now())
        return Endpoint(endpoint_id, url, (secret,), where)

    def _store(self, endpoint_id: str, secret: str) -> str:
        if self._sandbox:
            return self._where
        try:
            self._stored.keep(endpoint_id, secret)
        except KeyStoreError as error:
            self._session.out.warn(
                f"{error.message} The signing secret of {endpoint_id} is held for this run "
                "only; the next run has to register another endpoint."
            )
            return _THIS_RUN
        return self._where

    def _report_registration(self, made: Endpoint, earlier: Mapping[str, str]) -> None:
        """Prints that an endpoint was registered, and what became of the earlier ones.

        A sandbox deletes them; the API has no call for it.
        """
        if self._sandbox:
            gone = [name for name, url in earlier.items() if self._forget(name, url)]
            instead = f" in place of {', '.join(gone)}" if gone else ""
            told = f"the webhook endpoint {made.id}{instead}; it is used again at this address"
        elif earlier:
            told = (
                f"another webhook endpoint, {made.id}. The API has no call to delete the earlier "
                f"{', '.join(earlier)}: disable it in the dashboard"
            )
        elif made.where == _THIS_RUN:
            told = (
                f"the webhook endpoint {made.id}. The API has no call to delete it: disable it in "
                "the dashboard afterwards"
            )
        else:
            told = f"the webhook endpoint {made.id}; it is used again at this address"
        self._session.out.note(f"Registered {told}.")

    def _forget(self, endpoint_id: str, url: str) -> bool:
        """Deletes an endpoint of ours in the sandbox; says whether it was still there."""
        try:
            there = {one.get("id"): one.get("url") for one in self._list_endpoints()}
            is_there = there.get(endpoint_id) == url  # else another listener has the id by now
            if is_there:
                self._control(control_call("DELETE", "webhook_endpoints", endpoint_id))
        except SvcError:
            return False  # it is asked for again at the next start
        self._table.forget(endpoint_id, url)
        return is_there

    def _control(self, call: Call) -> dict[str, Any]:
        session = self._session
        with sandbox_client(session) as control:
            data = control.send(in_mode(call, session.settings.mode)).data
        return data if isinstance(data, dict) else {}


def sandbox_answers(session: Session) -> bool:
    """Returns whether the origin is a sandbox of this machine: by the settings, else by asking."""
    if session.settings.sandbox or not session.base_url.is_loopback:
        return session.settings.sandbox
    try:
        with sandbox_client(session) as control:
            control.health()
    except SvcError:
        return False
    return True


def _secret_in(data: dict[str, Any]) -> str:
    """Finds the secret, whose field the specification does not name."""
    for name in ("secret", "signing_secret"):
        if isinstance(data.get(name), str):
            return str(data[name])
    return next((v for v in data.values() if isinstance(v, str) and v.startswith("whsec_")), "")


@dataclass(slots=True)
class Registrar:
    """Registers the endpoint of one listener; `sandbox` says that the service is a sandbox."""

    session: Session
    options: ListenOptions
    state: Database
    claim: ListenerId
    port: int
    sandbox: bool
    _one_at_a_time: Lock = field(default_factory=Lock, init=False)
    _before: Endpoint | None = field(default=None, init=False)

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
