"""The webhook endpoint of a listener: registered once, found again from then on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any, Final, Literal

from svc.api_keys import parse_signing_secret
from svc.cli.events.secrets import EndpointSecrets
from svc.cli.framework.session import Session
from svc.client.call import Call
from svc.client.resources import controls
from svc.client.sandbox import SandboxClient
from svc.errors import KeyStoreError, SvcError, UsageError
from svc.keys.places import KeyPlace
from svc.state import Database

_FIND = (
    "SELECT endpoint_id FROM endpoints"
    " WHERE origin = ? AND profile = ? AND mode = ? AND url = ? AND events = ?"
)
_OTHERS = (
    "SELECT endpoint_id, url FROM endpoints"
    " WHERE origin = ? AND profile = ? AND mode = ? AND events = ? AND url LIKE ? ESCAPE '!'"
)
_REGISTERED: Final = (
    "SELECT url, events FROM endpoints"
    " WHERE origin = ? AND profile = ? AND mode = ? AND endpoint_id = ?"
)
_SECRET_BYTES: Final = 24
_THIS_RUN: Final = "for this run only"
_KEEP = (
    "INSERT OR REPLACE INTO endpoints"
    " (origin, profile, mode, url, events, endpoint_id, secret, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)

Standing = Literal["enabled", "disabled", "forgotten"]


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """Where the service sends events, and with which secrets it signs them.

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
        settings = session.settings
        self._session = session
        self._state = state
        self._sandbox = sandbox
        self._place = KeyPlace(settings.base_url.origin, settings.profile, settings.mode)
        self._secrets = EndpointSecrets(session, state, self._place)

    def of(self, url: str, path: str, events: tuple[str, ...]) -> Endpoint:
        """Gives the endpoint of a URL and event list; registers one if there is none.

        `path` is the listener's own part of the URL, by which its earlier endpoints are known.

        Raises:
            SvcError: the service refused, or was not reached.
        """
        known = self._known(url, events)
        if known is not None:
            return known
        earlier = self._earlier(path, events)
        made = self._register(url, events)
        # A sandbox that was reset to its seed gives the id of one that it had before.
        self._tell(made, {name: at for name, at in earlier.items() if name != made.id})
        return made

    def of_log(self, url: str, name: str) -> Endpoint:
        """Gives our own secret for what comes from a team's log; makes one at first.

        The service knows nothing of it.
        """
        endpoint_id = f"log_{name}"
        secrets = self.secrets_of(endpoint_id)
        if secrets:
            where = "in the state database" if self._sandbox else "in your keyring"
            return Endpoint(endpoint_id, url, secrets, where)
        secret = f"whsec_{token_hex(_SECRET_BYTES)}"
        where = "in the state database" if self._sandbox else "in your keyring"
        try:
            if not self._sandbox:
                self._secrets.keep(endpoint_id, secret)
        except KeyStoreError as error:
            self._session.out.warn(f"{error.message} The signing secret is held for this run only.")
            return Endpoint(endpoint_id, url, (secret,), _THIS_RUN)
        self._remember(endpoint_id, url, (), secret)
        return Endpoint(endpoint_id, url, (secret,), where)

    def standing(self, path: str, events: tuple[str, ...]) -> Standing:
        """Says what a sandbox knows of a listener's endpoints; all others are taken to be enabled.

        Raises:
            SvcError: the sandbox was not reached.
        """
        earlier = self._earlier(path, events) if self._sandbox else {}
        if not earlier:
            return "enabled"
        there = [self._status(listed, earlier, events) for listed in self._listed()]
        if "enabled" in there:
            return "enabled"
        return "disabled" if "disabled" in there else "forgotten"

    def secrets_in_use(self, endpoint_id: str | None, url: str | None = None) -> tuple[str, ...]:
        """Gives the secrets of an endpoint that the service still knows, as far as one can tell.

        With `url` only of one that delivers there.
        """
        if endpoint_id is None:
            return ()
        if self._sandbox:
            rows = self._state.rows(_REGISTERED, (*self._who, endpoint_id))
            listed = self._listed()
            if not any(
                self._status(one, {endpoint_id: row["url"]}, row["events"].split(",")) == "enabled"
                for row in rows
                if url in (None, row["url"])
                for one in listed
            ):
                return ()
        return self.secrets_of(endpoint_id)

    def secrets_of(self, endpoint_id: str) -> tuple[str, ...]:
        """Gives the secret of an endpoint that was registered here, and the one before if valid."""
        return self._secrets.of(endpoint_id)

    def secret_of(self, endpoint_id: str) -> str | None:
        """Gives the newest secret of an endpoint that was registered here."""
        return next(iter(self.secrets_of(endpoint_id)), None)

    def renewed(self, endpoint: Endpoint, secret: str) -> Endpoint:
        """Takes the new signing secret of an endpoint; the old one is valid for a day more.

        Raises:
            UsageError: the endpoint was not registered here.
            KeyStoreError: the keyring did not take it.
        """
        if endpoint.id is None:
            raise UsageError(
                "--new-secret-stdin is for the endpoint that svc has registered.",
                param="--new-secret-stdin",
                hint="Give both secrets, the new one first: SVC_WEBHOOK_SECRET=NEW,OLD",
            )
        self._secrets.replace(endpoint.id, secret, sandbox=self._sandbox)
        return replace(endpoint, secrets=self.secrets_of(endpoint.id))

    def _known(self, url: str, events: tuple[str, ...]) -> Endpoint | None:
        rows = self._state.rows(_FIND, (*self._who, url, ",".join(events)))
        if not rows:
            return None
        endpoint_id = rows[0]["endpoint_id"]
        where = "in the state database" if self._sandbox else "in your keyring"
        secrets = self.secrets_in_use(endpoint_id, url)
        return Endpoint(endpoint_id, url, secrets, where) if secrets else None

    @property
    def _who(self) -> tuple[str, str, str]:
        return self._place.origin, self._place.profile, self._place.mode

    @staticmethod
    def _status(
        listed: dict[str, Any], ours: Mapping[str, str], events: Sequence[str]
    ) -> str | None:
        """Gives the status of an endpoint if it is one of ours: by its id, its URL and its events.

        After a reset to its seed a sandbox gives the ids of before to whoever registers first.
        """
        same = ours.get(listed.get("id", "")) == listed.get("url")
        wanted = set(listed.get("events", ())) == set(events)
        return str(listed.get("status")) if same and wanted else None

    def _listed(self) -> list[dict[str, Any]]:
        found = self._control(controls.endpoints()).get("data", [])
        return found if isinstance(found, list) else []

    def _earlier(self, path: str, events: tuple[str, ...]) -> dict[str, str]:
        """Gives the URLs of a listener's endpoints by their ids."""
        rows = self._state.rows(_OTHERS, (*self._who, ",".join(events), f"%{path}"))
        return {row["endpoint_id"]: row["url"] for row in rows}

    def _register(self, url: str, events: tuple[str, ...]) -> Endpoint:
        from svc.cli.framework.recorded import send_recorded
        from svc.client.resources import webhook_endpoints

        session = self._session
        with session.client() as client:
            call = webhook_endpoints.create({"url": url, "events": list(events)})
            sent = send_recorded(session, client, call)
        session.done = None  # an endpoint is no result of this command
        endpoint_id = str(sent.reply.data["id"])
        secret = parse_signing_secret(_secret_in(sent.reply.data), "The service's answer")
        where = self._keep(endpoint_id, url, events, secret)
        return Endpoint(endpoint_id, url, (secret,), where)

    def _keep(self, endpoint_id: str, url: str, events: tuple[str, ...], secret: str) -> str:
        """Keeps it, without a secret where there is no keyring, for it stays with the service."""
        where = self._store(endpoint_id, secret)
        self._remember(endpoint_id, url, events, secret)
        return where

    def _remember(self, endpoint_id: str, url: str, events: tuple[str, ...], secret: str) -> None:
        values = (*self._who, url, ",".join(events), endpoint_id)
        shown = secret if self._sandbox else None
        with self._state.write() as tx:
            tx.execute(_KEEP, (*values, shown, self._session.clock.now()))

    def _store(self, endpoint_id: str, secret: str) -> str:
        if self._sandbox:
            return "in the state database"
        try:
            self._secrets.keep(endpoint_id, secret)
        except KeyStoreError as error:
            self._session.out.warn(
                f"{error.message} The signing secret of {endpoint_id} is held for this run "
                "only; the next run has to register another endpoint."
            )
            return _THIS_RUN
        return "in your keyring"

    def _tell(self, made: Endpoint, earlier: Mapping[str, str]) -> None:
        """Says that an endpoint was registered: the API has no call to delete one."""
        note = self._session.out.note
        if self._sandbox and earlier:
            for endpoint_id, url in earlier.items():
                self._forget(endpoint_id, url)
            note(f"Registered the webhook endpoint {made.id} in place of others.")
        elif earlier:
            note(
                f"Registered another webhook endpoint, {made.id}. The API has no call to delete "
                f"the earlier {', '.join(earlier)}: disable it in the dashboard."
            )
        elif made.where == _THIS_RUN:
            note(
                f"Registered the webhook endpoint {made.id}. The API has no call to delete it: "
                "disable it in the dashboard afterwards."
            )
        else:
            note(f"Registered the webhook endpoint {made.id}; it is used again at this address.")

    def _forget(self, endpoint_id: str, url: str) -> None:
        try:
            there = {one.get("id"): one.get("url") for one in self._listed()}
            if there.get(endpoint_id) == url:  # else somebody else has the id by now
                self._control(controls.delete_endpoint(endpoint_id))
        except SvcError:
            return  # it is asked for again at the next start
        with self._state.write() as tx:
            tx.execute(
                "DELETE FROM endpoints WHERE endpoint_id = ? AND url = ?", (endpoint_id, url)
            )

    def _control(self, call: Call) -> dict[str, Any]:
        session = self._session
        ca_bundle = session.settings.ca_bundle
        with SandboxClient(session.base_url, clock=session.clock, ca_bundle=ca_bundle) as control:
            data = control.send(controls.in_mode(call, session.settings.mode)).data
        return data if isinstance(data, dict) else {}


def is_sandbox(session: Session) -> bool:
    """Says whether the origin is a sandbox of this machine: by the settings, else by asking."""
    if session.settings.sandbox or not session.base_url.is_loopback:
        return session.settings.sandbox
    ca_bundle = session.settings.ca_bundle
    try:
        with SandboxClient(session.base_url, clock=session.clock, ca_bundle=ca_bundle) as control:
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
