"""Sends calls to the controls of a sandbox (`/_sandbox/...`), and to no other service.

The commands `svc sandbox ...`, a listener's endpoint and `svc keys roll` use it by
`cli.framework.control`; `delivery` reads a sandbox's clock and the age of its idempotency keys.
"""

from collections.abc import Callable
from typing import BinaryIO

from svc import __version__, api_keys
from svc.base_url import BaseUrl
from svc.client.call import Body, Call, Method, QueryParams, check_id, query_of
from svc.client.exchange import (
    Deadline,
    Failure,
    RawReply,
    ShowProgress,
    Trouble,
    Wire,
    WireOwner,
    WireRequest,
    show_no_progress,
)
from svc.client.refusal import api_error as refused
from svc.client.reply import Reply, classify, interpret_success, reply_of
from svc.client.request import prepare, uuid4
from svc.client.retry import AttemptResult, Meaning
from svc.clock import Clock, SystemClock
from svc.errors import NetworkError, OutcomeUnknown, SvcError, UsageError
from svc.service.facts import SANDBOX_EXPORT_MAX, SANDBOX_HEADER, SANDBOX_ROOT, is_success

HEALTH = Call("GET", f"{SANDBOX_ROOT}/health")
_CONNECT_SECONDS = 3.0
_CALL_SECONDS = 60.0
_HEALTH_MAX = 64 * 1024  # bytes: what answers there may be no sandbox (promise R99)
_START = "svc sandbox start --detach starts one; svc sandbox status shows which run"
_CHOOSE = "Choose one with --profile sandbox or --base-url http://127.0.0.1:4242"
_TRUST = "Its certificate comes with --profile sandbox, or with: svc sandbox env"
_FULL = "storage_full"  # of the sandbox's disk
_LOOK = "svc sandbox status shows whether it answers, svc sandbox logs what went wrong"


def control_call(
    method: Method, *steps: str, body: Body | None = None, params: QueryParams = ()
) -> Call:
    """Builds a call to a control by the segments of its path below `/_sandbox`."""
    path = "/".join((SANDBOX_ROOT, *(check_id(step, "id") for step in steps)))
    return Call(method, path, body=body, query=query_of(params))


def in_mode(call: Call, mode: str) -> Call:
    """Returns a control call for a mode; the default of a control is test mode.

    The checkout has the mode of its key, and the clock is the same in both modes.
    """
    return call._replace(query=(*call.query, ("mode", mode))) if mode != "test" else call


class SandboxClient(WireOwner):
    """Sends control calls to an address after its health check has shown that it is a sandbox.

    There are no further attempts: the controls move no money, and leave the `Idempotency-Key` that
    `prepare` gives each POST out of account.

    Args:
        base_url: an address on this machine, or with plain HTTP.
        deadline: for all calls together; without it each call has a minute, as advancing the clock
            may take long.
        show_progress: a context manager around each call, to show progress.
        on_version: called with the sandbox's version.

    Raises:
        UsageError: no sandbox can be at the address.
    """

    def __init__(
        self,
        base_url: BaseUrl,
        *,
        deadline: Deadline | None = None,
        clock: Clock | None = None,
        wire: Wire | None = None,
        ca_bundle: str | None = None,
        on_reply: Callable[[Reply], None] = lambda _: None,
        show_progress: ShowProgress = show_no_progress,
        on_version: Callable[[str], None] = lambda _: None,
    ) -> None:
        if not base_url.may_be_sandbox:
            raise _no_sandbox(f"{base_url} is not on this machine")
        self.base_url = base_url
        self._clock = clock or SystemClock()
        self._deadline = deadline
        if wire is None:
            from svc.client.wire.sockets import SocketWire

            wire = SocketWire(
                base_url, clock=self._clock, ca_bundle=ca_bundle, body_max=SANDBOX_EXPORT_MAX
            )
        self._wire = wire
        self._on_reply = on_reply
        self._show_progress = show_progress
        self._on_version = on_version
        self._health: Reply | None = None
        self._version = __version__

    def health(self) -> Reply:
        """Checks that a sandbox answers: `object` is `sandbox`. The reply has its clock as well.

        Raises:
            UsageError: another service answers.
            NetworkError: no service answers.
        """
        if self._health is None:
            stranger = _no_sandbox(f"The server at {self.base_url} is not a sandbox")
            try:
                reply = self._exchange(HEALTH, None, ())
            except SvcError as error:
                if error.status is None:
                    raise
                raise stranger from None
            if not isinstance(reply.data, dict) or reply.data.get("object") != "sandbox":
                raise stranger
            self._health = reply
            self._version = str(reply.data.get("version", "of another version"))
            self._on_version(self._version)
        return self._health

    def send(self, call: Call, *, key: str | None = None, accept: tuple[int, ...] = ()) -> Reply:
        """Sends a control call, after the health check.

        `key` is a publishable key, for the checkout only. `accept` lists error statuses that are
        returned as replies, such as 402 for a declined card, whose body has more than an error.

        Raises:
            UsageError: the service is no sandbox.
            ApiError: the sandbox refused the call.
            NetworkError, OutcomeUnknown: no answer came; the latter if a call that changes
                something was sent.
        """
        self.health()
        return self._exchange(call, key, accept)

    def download(self, call: Call, file: BinaryIO) -> None:
        """Sends a control call as `send` does, and writes the body of its answer to a file."""
        self.health()
        result = self._carry(call, self._request(call, None)._replace(file=file))
        if not (isinstance(result, RawReply) and is_success(result.status) and result.complete):
            raise self._build_error(call, classify(result, call, self._clock.now()))

    def _carry(self, call: Call, request: WireRequest) -> RawReply | Failure:
        with self._show_progress(call.method, call.path):
            return self._wire.exchange(
                request,
                deadline=self._deadline or Deadline(self._clock, _CALL_SECONDS),
                connect_seconds=_CONNECT_SECONDS,
            )

    def _exchange(self, call: Call, key: str | None, accept: tuple[int, ...]) -> Reply:
        result = self._carry(call, self._request(call, key))
        if isinstance(result, RawReply) and result.status in accept:
            finding = interpret_success(result, call)
        else:
            finding = classify(result, call, self._clock.now())
        if finding.meaning is Meaning.DONE:
            reply = reply_of(finding, call)
            self._on_reply(reply)
            return reply
        raise self._build_error(call, finding)

    def _request(self, call: Call, key: str | None) -> WireRequest:
        prepared = prepare(call, self.base_url, new_key=uuid4, root=SANDBOX_ROOT)
        own = [("Host", self.base_url.host_header), (SANDBOX_HEADER, "1")]
        if key is not None:
            given = api_keys.parse_to_send(key)
            api_keys.refuse_plain_http(self.base_url, given)
            api_keys.refuse_other_kinds(given, "This", given.mode)
            own.append(("Authorization", api_keys.authorization(key, "bearer")))
        headers = (*own, *prepared.headers)
        most = _HEALTH_MAX if call is HEALTH else None
        return WireRequest(
            prepared.method, prepared.target, headers, prepared.body, answer_max=most
        )

    def _build_error(self, call: Call, finding: AttemptResult) -> SvcError:
        if finding.trouble is not None and not finding.meaning.is_open:
            return self._build_unreached(finding)
        is_full = finding.refusal is not None and finding.refusal.code == _FULL
        is_refused = finding.refusal is not None and not finding.meaning.is_open
        if is_refused or is_full:
            error: SvcError = refused(call, finding)
            error.outcome = None if is_full else error.outcome  # its words say how far it came
        else:
            error = self._build_unusable(call, finding)
        if self._version != __version__:
            error.hint = other_version(self._version)
        return error

    def _build_unusable(self, call: Call, finding: AttemptResult) -> SvcError:
        said = f"The sandbox at {self.base_url} gave no usable answer to {call.path}"
        kind = OutcomeUnknown if call.changes else NetworkError
        return kind(
            f"{said}: {finding.detail}.{' It may have done it.' if call.changes else ''}",
            status=finding.status,
            request_id=finding.request_id,
            outcome="unknown" if call.changes else None,
            hint=_LOOK,
        )

    def _build_unreached(self, finding: AttemptResult) -> NetworkError:
        untrusted = finding.trouble is Trouble.CERTIFICATE
        return NetworkError(
            f"No sandbox answers at {self.base_url}: {finding.detail}.",
            outcome="not_sent",
            hint=_TRUST if untrusted else _START,
        )


def other_version(version: str) -> str:
    """Formats a remark that a sandbox runs another version of svc, which may explain an error."""
    return (
        f"The sandbox is svc {version} and this is svc {__version__}: svc sandbox stop, then start "
        "it again"
    )


def _no_sandbox(why: str) -> UsageError:
    return UsageError(
        f"{why}; svc sandbox commands work on a sandbox only.",
        code="not_a_sandbox",
        param="base_url",
        hint=_CHOOSE,
    )
